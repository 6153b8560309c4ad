"""Where scores stand among the contest's own captions, and whether they order them as the crowd does."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

from humor_tasks.errors import BadInput

from .estimate import Estimate, clustered_mean
from .regression import spearman
from .validation import check_same_length

_FEWEST = 3  # captions of a contest whose order says something: two are in order or not


def percentile(score: float, among: Sequence[float]) -> float:
    """The percentage of `among` with a lower score than `score`, ties counted half: from 0 to 100, nan among none."""
    return percentiles([score], among)[0]


def percentiles(scores: Sequence[float], among: Sequence[float]) -> list[float]:
    """`percentile` of each of `scores` among the same captions. Raises BadInput on nan."""
    import numpy as np

    x, others = np.asarray(scores, dtype=float), np.sort(np.asarray(among, dtype=float))
    for name, values in (("scores", x), ("among", others)):
        if np.isnan(values).any():
            raise BadInput(f"{name} has nan: leave captions without a score out, and count them.")
    if len(others) == 0:
        return [math.nan] * len(x)
    places = np.searchsorted(others, x, "left") + np.searchsorted(others, x, "right")
    percents: list[float] = (50 * places / len(others)).tolist()
    return percents


def rank_correlations(
    scores: Sequence[float], truths: Sequence[float], clusters: Sequence[Hashable]
) -> dict[Hashable, float]:
    """Spearman's rho of `scores` and `truths` in each cluster (contest), in order of appearance.

    It is nan in a cluster of fewer than three captions, or where either list is constant. Raises BadInput on lists of
    different length and on nan or infinity.
    """
    check_same_length(scores=scores, truths=truths, clusters=clusters)
    rows: dict[Hashable, list[int]] = {}
    for i, cluster in enumerate(clusters):
        rows.setdefault(cluster, []).append(i)
    return {
        cluster: spearman([scores[i] for i in members], [truths[i] for i in members], range(len(members))).value
        if len(members) >= _FEWEST
        else math.nan
        for cluster, members in rows.items()
    }


def rank_correlation_by_cluster(
    scores: Sequence[float], truths: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """The mean of `rank_correlations` over clusters, each counting the same, with a t interval of the mean.

    Clusters whose correlation is nan are left out: `clusters` counts the others and `n` their captions.
    """
    known = {c: rho for c, rho in rank_correlations(scores, truths, clusters).items() if not math.isnan(rho)}
    mean = clustered_mean(list(known.values()), list(known), level)
    return replace(mean, n=sum(cluster in known for cluster in clusters))
