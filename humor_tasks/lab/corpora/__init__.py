"""Building, describing and auditing datasets: `humor-tasks build`, `describe` and `audit`.

| module | contents |
|---|---|
| `mock` | MOCK's sub-tasks as a dataset folder, from public sources; distractors for its matching |
| `newyorker` | the caption contest's corpus from raw contests |
| `describe` | descriptions of pictures by OFA or a model that reads pictures |
| `audit` | what a dataset gives away without being read: shortcuts, repeats, damaged pictures |
"""
