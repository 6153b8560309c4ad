"""`humor-tasks audit`: what is wrong with a dataset, and what a rule without understanding gets right in it.

| module | holds |
|---|---|
| `items` | what every check takes and returns: `Item`, `Part`, `Items`; `Finding` |
| `opening`, `tables` | a benchmark's rows, or rows by their columns; rows of files and hub datasets |
| `shortcuts` | shortcut rules and the balance of labels; the rules are in `humor_tasks.models.choosers.shortcuts` |
| `repeated`, `similar` | exact repeats, also in other datasets; near-duplicate texts and pictures |
| `auditing` | `audit`: all checks, also for the canary of built datasets |
| `output` | Markdown, JSON, the page (audit.html), and their folder |
"""
