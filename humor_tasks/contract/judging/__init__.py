"""How judges are asked: what, in which orders, what a verdict may be, how missing ones count, and what they are worth.

`questions` has what a benchmark declares, `rubrics` the templates, `missing` the counting of missing verdicts. `points`
and `pairs` are the two kinds of verdicts that several benchmarks share.
"""
