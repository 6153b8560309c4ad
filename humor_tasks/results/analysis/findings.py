"""What an analysis of items finds, and published results beside the same quantities of the systems at hand.

The published results are the figures of published.toml with `study = "analyse"`: of `matching`, those of section 3.3 of
Hessel et al. (ACL 2023). The systems at hand are others than the published ones, unless the user has the predictions of
those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from humor_tasks.data.published import published
from humor_tasks.scorers.association import Association, Conditional
from humor_tasks.scorers.estimate import Estimate

STUDY = "analyse"
FACTORS = {"cluster": "cluster_p", "fold": "fold_p", "distractor": "distractor_p"}
"""Grouping of the items -> the quantity with the p-value of its chi-square test."""


@dataclass(frozen=True)
class Factor:
    """The association of one grouping of the items with a system's values; `holm` corrects p over all factors."""

    system: str
    name: str
    found: Association
    holm: float


@dataclass(frozen=True)
class Pair:
    """Two systems on their common items.

    same_answer: the share of items with the same answer; right_if_same: the accuracy on those. kappa: of right and
    wrong. by_item, by_cluster: Spearman's correlation of the values of items and of the clusters' means; by_cluster_p:
    of the test that the latter is 0, nan where there is none. first, second: how often each is right where the other is
    wrong. None where the benchmark has no such quantity.
    """

    systems: tuple[str, str]
    n: int
    same_answer: Estimate | None
    right_if_same: Estimate | None
    kappa: Estimate | None
    by_item: Estimate
    by_cluster: Estimate | None
    by_cluster_p: float
    first: Conditional | None
    second: Conditional | None


@dataclass(frozen=True)
class Trend:
    """Spearman's correlation of the contests' dates with a system's mean on them, and the p-value of no correlation."""

    system: str
    found: Estimate
    p: float


@dataclass(frozen=True)
class Beside:
    """A published value, with the same quantity of each system or pair of systems here."""

    quantity: str
    system: str
    published: float
    bound: str
    source: str
    here: Mapping[str, float]


def beside(
    benchmark: str, factors: Sequence[Factor], pairs: Sequence[Pair], trends: Sequence[Trend]
) -> tuple[Beside, ...]:
    """The published results of a benchmark, beside those quantities that were computed here."""
    here: dict[str, dict[str, float]] = {}

    def add(quantity: str, label: str, value: float) -> None:
        if not math.isnan(value):
            here.setdefault(quantity, {})[label] = value

    for factor in factors:
        if factor.name in FACTORS:
            add(FACTORS[factor.name], factor.system, factor.found.p)
    for trend in trends:
        add("date_spearman", trend.system, trend.found.value)
        add("date_spearman_p", trend.system, trend.p)
    for pair in pairs:
        both = " and ".join(pair.systems)
        for name, estimate in (("cluster_spearman", pair.by_cluster), ("right_if_same", pair.right_if_same)):
            add(name, both, estimate.value if estimate else math.nan)
        add("cluster_spearman_p", both, pair.by_cluster_p)
        for found, (one, other) in ((pair.first, pair.systems), (pair.second, pair.systems[::-1])):
            if found:
                label = f"{one} where {other} is wrong"
                add("right_when_wrong", label, found.share)
                add("right_when_wrong_expected", label, found.expected)
                add("right_when_wrong_p", label, found.p if math.isnan(found.p_clusters) else found.p_clusters)
    return tuple(
        Beside(f.metric, f.system, f.value, f.bound or "", f.source, here.get(f.metric, {}))
        for f in published(benchmark)
        if f.study == STUDY
    )
