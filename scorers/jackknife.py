"""Statistics that are no mean over items: errors and permutation tests from leaving out whole clusters.

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
    group, number = _dealt(clusters, groups, seed)
    if number < 2:
        return [statistic(range(len(group)))] if group else []
    import numpy as np

    total = statistic(range(len(group)))
    without = np.array([statistic(_without(group, g)) for g in range(number)])
    values: list[float] = (total + (number - 1) * (without.mean() - without)).tolist()
    return values


def swap_values(
    statistic: Callable[[Sequence[int], Sequence[int]], float],
    clusters: Sequence[Hashable],
    groups: int = GROUPS,
    seed: int = 0,
) -> list[float]:
    """One value per group of clusters; swapping two systems in a group changes the sign of its value, and no other.

    statistic: the value for the replies of both systems together, those of the first to the items of the first indices
    and those of the second to the items of the second. With the statistic P of all replies to n items, and n_g of them
    in group g:

        value_g = (2 n - n_g) / n * (P without the second's replies in g - P without the first's)

    P is the same whichever system gave which replies, so that a sign-flip test of the values is exact for systems that
    can be swapped within clusters. The sum of the values is the difference of the two systems: exactly for a mean, and
    to first order for any smooth statistic. Groups are those of `pseudo_values`.
    """
    group, number = _dealt(clusters, groups, seed)
    n = len(group)
    values: list[float] = []
    for g in range(number):
        rest = _without(group, g)
        gap = statistic(range(n), rest) - statistic(rest, range(n))
        values.append((n + len(rest)) / n * gap)
    return values


def _dealt(clusters: Sequence[Hashable], groups: int, seed: int) -> tuple[list[int], int]:
    """The group of each item, and the number of groups."""
    if groups < 2:
        raise BadInput(f"groups is {groups}; the jackknife leaves out one of at least 2.")
    codes, count = cluster_codes(clusters)
    if count <= groups:
        return codes, count
    import numpy as np

    dealt = (np.random.default_rng(seed).permutation(count) % groups).tolist()
    return [dealt[code] for code in codes], groups


def _without(group: Sequence[int], g: int) -> list[int]:
    """The items outside a group."""
    return [i for i, name in enumerate(group) if name != g]
