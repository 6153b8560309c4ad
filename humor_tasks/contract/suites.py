"""Suites: named sets of benchmarks that are run together, and what each benchmark of a profile shows of a model.

A definition says which suites it belongs to and with which parameters (`Benchmark.suites`), and which ability it
measures (`Benchmark.ability`). A benchmark of another package joins a suite in the same way.
"""

from __future__ import annotations

ALL_SUITES = "all"
"""Every benchmark of every suite, with the parameters of each suite that it belongs to."""

SUITES = {
    "text": "texts alone, scored without a judge",
    "judged": "texts alone, scored by a grader model",
    "pictures": "cartoons, posts and clips, scored without a judge",
    "writing": "captions, stories and explanations that the model writes",
}
"""Suite of this package -> what its benchmarks have in common."""

ABILITIES = {
    "belonging": "Which caption belongs",
    "funnier": "Which is funnier to people",
    "edit": "What an edit does",
    "meant": "Whether it is meant as humour",
    "why": "Why it is funny",
    "writing": "Writing humour",
    "control": "Control: captions known by heart",
}
"""Ability -> its heading in a profile, in the order of a profile."""
