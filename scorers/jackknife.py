"""The jackknife for statistics that are no mean over items, with whole clusters left out.

Quenouille (1956, Biometrika 43) and Tukey (1958, Annals of Mathematical Statistics 29); with groups of clusters, Kott
(2001, Journal of Official Statistics 17).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from humor_tasks.errors import BadInput

from .estimate import cluster_codes

GROUPS = 50


def pseudo_values(
    statistic: Callable[[Sequence[int]], float], clusters: Sequence[Hashable], groups: int = GROUPS, seed: int = 0
) -> list[float]:
    """One value per group of clusters, whose mean is the statistic and whose spread is its error.

    statistic: the value for the items of these indices, in ascending order. clusters: one per item. With the statistic
    T of all items, T(-g) without group g, and R groups:

        value_g = T + (R - 1) * (mean of T(-g) - T(-g))

    so that the clustered mean of the values, each its own cluster, has the jackknife's standard error and R - 1 degrees
    of freedom. Values of two systems with the same clusters and seed are paired: their differences are the values of
    the difference. Each cluster is its own group where there are at most `groups`, which are otherwise drawn at random
    with (nearly) equal numbers of clusters. One cluster gives T alone, no item an empty list. Raises BadInput on fewer
    than two groups.
    """
    if groups < 2:
        raise BadInput(f"groups is {groups}; the jackknife leaves out one of at least 2.")
    codes, count = cluster_codes(clusters)
    everything = range(len(codes))
    if count < 2:
        return [statistic(everything)] if codes else []
    import numpy as np

    number = min(count, groups)
    dealt = np.random.default_rng(seed).permutation(count) % number if count > groups else np.arange(count)
    group = dealt[codes]
    total = statistic(everything)
    without = np.array([statistic(np.flatnonzero(group != g).tolist()) for g in range(number)])
    found: list[float] = (total + (number - 1) * (without.mean() - without)).tolist()
    return found
