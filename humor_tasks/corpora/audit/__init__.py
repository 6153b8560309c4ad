"""`humor-tasks audit`: what is wrong with a dataset, and what a rule without understanding gets right in it.

| module | holds |
|---|---|
| `items` | the plain rows that every check takes: `Item`, `Part`, `Items` |
| `opening`, `tables`, `columns` | a benchmark's rows; rows of files and hub datasets; their columns |
| `rules` | shortcut rules on plain texts, shared with the card of a MOCK folder |
| `shortcuts`, `balance`, `repeated`, `similar`, `pictures`, `elsewhere` | the checks |
| `findings` | what a check finds: kind, severity, count, rows |
| `auditing` | `audit`: all checks |
| `output` | Markdown, JSON, the page (audit.html), and their folder |
"""
