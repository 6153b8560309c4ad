"""Suites of benchmarks in one command: which tasks, a plan of what they ask and cost, and one `eval_set` of them."""
