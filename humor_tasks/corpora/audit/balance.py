"""How the labels of each part are distributed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from humor_tasks.corpora.audit.findings import Finding, found
from humor_tasks.corpora.audit.items import Item, Items
from humor_tasks.data.tables import interval
from humor_tasks.models.choosers.chooser import LETTERS, YES_NO
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

LEVEL = 0.01
MARGIN = 0.05
"""Shares that differ from equal ones at this level, and by more than this, are a finding."""
FEWEST = 5
"""Expected labels of each kind that the chi-square test needs."""


@dataclass(frozen=True)
class Balance:
    """The labels of one part.

    shares: label -> its share; for ratings, quantile -> rating, without interval. p: of the test that all labels are
    equally frequent, the binomial test for two labels and chi-square for more; nan for ratings and where there are too
    few rows. It takes rows as independent.
    """

    part: str
    n: int
    shares: dict[str, Estimate]
    p: float
    test: str

    @property
    def even(self) -> float:
        """The share of each label if all were equally frequent."""
        return 1 / len(self.shares)


def balances(data: Items) -> list[Balance]:
    """The balance of each part with labels."""
    parts = ((name, [item for item in data.of(name) if item.target is not None]) for name in data.parts)
    measure = _ratings if data.kind == "rating" else _labels
    return [measure(name, items) for name, items in parts if items]


def findings(measured: Sequence[Balance]) -> list[Finding]:
    """A finding for each part whose labels are not equally frequent."""
    return [
        each
        for b in measured
        if b.p < LEVEL and max(e.value for e in b.shares.values()) > b.even + MARGIN
        for each in found(
            "imbalance",
            "warning",
            f"{b.part}: {', '.join(f'{label} {interval(share)}' for label, share in b.shares.items())}; "
            f"p = {b.p:.2g} ({b.test}).",
            [],
            b.n,
        )
    ]


def _labels(part: str, items: Sequence[Item]) -> Balance:
    labels = [item.label for item in items]
    every = LETTERS[: max(len(item.choices) for item in items)] if items[0].choices else YES_NO
    groups = [item.group for item in items]
    shares = {each: clustered_proportion([float(label == each) for label in labels], groups) for each in every}
    counts = Counter(labels)
    p, test = _test([counts[each] for each in every])
    return Balance(part, len(items), shares, p, test)


def _test(counts: Sequence[int]) -> tuple[float, str]:
    from scipy.stats import binomtest, chisquare

    if len(counts) == 2:
        return float(binomtest(counts[0], sum(counts)).pvalue), "binomial test"
    if sum(counts) < FEWEST * len(counts):
        return math.nan, "too few rows for a test"
    return float(chisquare(counts).pvalue), "chi-square test"


def _ratings(part: str, items: Sequence[Item]) -> Balance:
    import numpy as np

    values = np.array([float(item.target or 0) for item in items])
    figures = dict(zip(("least", "1st quarter", "median", "3rd quarter", "greatest"),
                       np.quantile(values, (0, 0.25, 0.5, 0.75, 1)), strict=True))  # fmt: skip
    figures |= {"mean": values.mean(), "standard deviation": values.std()}
    shares = {name: Estimate(float(v), math.nan, math.nan, math.nan, len(items), 0) for name, v in figures.items()}
    return Balance(part, len(items), shares, math.nan, "ratings")
