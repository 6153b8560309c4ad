"""Tests of two systems' scores on the same items, where the items are in clusters.

`paired_tests` gives each pair of systems four views of its mean difference:

- the difference with its clustered t interval (`paired_difference`), and the p-value of that t test;
- a sign-flip permutation test by cluster (Fisher 1935, "The Design of Experiments", section 21; for clusters Canay,
  Romano and Shaikh 2017, Econometrica 85). If the systems are exchangeable within clusters, each cluster's sum of
  differences D_c is as likely as -D_c. The p-value is the share of all 2^G sign patterns under which |sum of +/- D_c|
  is at least as large as observed. Clusters may have any size, and items in them any correlation;
- McNemar's exact test (1947, Psychometrika 12) of values 0 and 1: a binomial test of the items that only one system
  got right. It takes items as independent. With one item a cluster it equals the permutation test;
- the number of items that each system wins.

The permutation test is the one to rely on, and to correct by `holm`. The t test rejects too often with few clusters of
unequal size and with few items that differ, McNemar's test with correlated items: speed/compare_errors.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from humor_tasks.errors import BadInput

from .arrays import Floats, Integers
from .estimate import Estimate, cluster_codes
from .preference import check_power, needed_items, paired_difference

Pair = tuple[Sequence[float], Sequence[float], Sequence[Hashable]]

_FINEST = 100  # differences are looked for on grids of 1, 1/2, ..., 1/100
_LONGEST = 20_000  # steps of a grid; the exact distribution takes at most time in proportion to its square
_ENUMERATED = 14  # clusters whose 2^13 sign patterns are enumerated, up to a common sign
_CHUNK = 2_000_000  # elements of a block of random signs
_ROUNDING = 1e-9  # by which a sum may miss the observed one and count as equal


@dataclass(frozen=True)
class PairedTest:
    """The difference of two systems' mean scores, first - second, and its tests.

    p_value: of the sign-flip permutation test by cluster. adjusted: the same after Holm's correction over all pairs
    that were tested together. draws: the random sign patterns behind both; 0 where they are exact. t_p_value: of the
    clustered t test; nan with one cluster, and where every cluster has the same difference other than 0. mcnemar: of
    McNemar's exact test; nan where a value is not 0 or 1. higher, lower, equal: items on which the first system's score
    is higher, lower, equal. needed: the number of items that would show a difference of this size with the requested
    power among as many pairs; None where the difference is 0 or its variance is 0 or unknown.
    """

    difference: Estimate
    p_value: float
    adjusted: float
    draws: int
    t_p_value: float
    mcnemar: float
    higher: int
    lower: int
    equal: int
    needed: int | None


def paired_tests(
    pairs: Sequence[Pair],
    draws: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    power: float = 0.8,
    swapped: Sequence[Sequence[float] | None] | None = None,
) -> list[PairedTest]:
    """One `PairedTest` a pair; a pair holds two lists of scores of the same items, and the items' clusters.

    The permutation test is exact where the clusters' sums are multiples of a step from 1 to 1/100 (as for values 0 and
    1), by convolution, and where at most 14 clusters differ, by enumeration. Otherwise it draws `draws` random
    patterns, p = (1 + hits) / (1 + draws), so that p is never 0; the same seed gives the same p. All p-values are
    two-sided, and neither the order of items nor that of the two systems changes them.

    `swapped` holds, for a pair whose scores are no items' (see `jackknife`), the values whose signs are flipped instead
    of the clusters' sums of differences; None for the other pairs.

    `adjusted` is corrected for all `pairs` by `holm`. `needed` is `permutation_items` of the observed difference with
    the level 1 - (1 - level) / m for m pairs: Bonferroni's correction, which Holm's is never stricter than. Raises
    BadInput as `paired_difference` and `needed_items` do, and on fewer than one draw.
    """
    if draws < 1:
        raise BadInput(f"draws is {draws}; a permutation test needs at least 1, and some thousands to be precise.")
    check_power(power, difference=1)
    differences = [paired_difference(first, second, clusters, level) for first, second, clusters in pairs]
    given = swapped or [None] * len(pairs)
    sums = [
        _cluster_sums(*pair) if values is None else _by_size(values) for pair, values in zip(pairs, given, strict=True)
    ]
    flipped = _sign_flips(sums, draws, seed)
    adjusted = holm([p for p, _ in flipped])
    strict = 1 - (1 - level) / max(len(pairs), 1)
    return [
        PairedTest(
            difference=e,
            p_value=p,
            adjusted=corrected,
            draws=drawn,
            t_p_value=_t_p_value(e),
            mcnemar=_mcnemar_of(first, second),
            **_counts(first, second),
            needed=_items(e, clusters, e.value, power, strict) if e.value != 0 and e.stderr > 0 else None,
        )
        for (first, second, clusters), e, (p, drawn), corrected in zip(
            pairs, differences, flipped, adjusted, strict=True
        )
    ]


def permutation_items(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable],
    difference: float,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """The number of items with which the permutation test detects a true mean `difference` with probability `power`.

    As `needed_items`, with its v, but for the sign-flip test, which takes its variance around 0:

        n = (z[(1 + level) / 2] * sqrt(v + s * difference^2) + z[power] * sqrt(v))^2 / difference^2

    rounded up, with s = sum of n_c^2 / n, the mean cluster size weighted by itself. For values 0 and 1 and one item a
    cluster it is Connor's (1987, Biometrics 43) number for McNemar's test. Raises BadInput as `needed_items` does.
    """
    needed_items(first, second, clusters, difference, power, level)  # which checks everything
    return _items(paired_difference(first, second, clusters, level), clusters, difference, power, level)


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact two-sided p-value, from the items that only one system got right; 1 where there are none."""
    from scipy.special import bdtr

    if min(only_first, only_second) < 0:
        raise BadInput(f"counts are {only_first} and {only_second}; they must be at least 0.")
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (1979, Scandinavian Journal of Statistics 6), in the order given.

    Rejecting each that is at most alpha has a probability of at most alpha of rejecting any true null hypothesis,
    whatever the dependence between the tests. The k-th smallest of m is multiplied by m - k + 1; none becomes smaller
    than the one before, or larger than 1. Raises BadInput on a p-value that is nan or outside [0, 1].
    """
    for i, p in enumerate(p_values):
        if not 0 <= p <= 1:
            raise BadInput(f"p_values[{i}] is {p!r}; a p-value lies between 0 and 1.")
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, (len(p_values) - rank) * p_values[i])
        adjusted[i] = min(1.0, largest)
    return adjusted


# ---- the parts of a test ------------------------------------------------------------------------


def _counts(first: Sequence[float], second: Sequence[float]) -> dict[str, int]:
    """The items with a higher, a lower and an equal first score; scores that differ by rounding are equal."""
    difference = [a - b for a, b in zip(first, second, strict=True)]
    higher, lower = sum(d > _ROUNDING for d in difference), sum(d < -_ROUNDING for d in difference)
    return {"higher": higher, "lower": lower, "equal": len(difference) - higher - lower}


def _mcnemar_of(first: Sequence[float], second: Sequence[float]) -> float:
    binary = {0, 1}.issuperset(first) and {0, 1}.issuperset(second)
    counts = _counts(first, second)
    return mcnemar(counts["higher"], counts["lower"]) if binary else math.nan


def _t_p_value(e: Estimate) -> float:
    """The two-sided p-value of `e` against 0, by t(G - 1)."""
    from scipy.special import stdtr

    if math.isnan(e.stderr) or (e.stderr == 0 and e.value != 0):
        return math.nan
    return 1.0 if e.value == 0 else 2 * float(stdtr(e.clusters - 1, -abs(e.value) / e.stderr))


def _items(e: Estimate, clusters: Sequence[Hashable], difference: float, power: float, level: float) -> int:
    """`permutation_items` from the clustered mean of the differences."""
    from scipy.special import ndtri

    sizes = Counter(clusters).values()
    v, between = e.n * e.stderr**2, sum(size**2 for size in sizes) / e.n * difference**2
    root = float(ndtri((1 + level) / 2)) * math.sqrt(v + between) + float(ndtri(power)) * math.sqrt(v)
    return math.ceil(root**2 / difference**2)


# ---- the permutation test -----------------------------------------------------------------------


def _cluster_sums(first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable]) -> Floats:
    """The sum of the differences of each cluster, by size."""
    import numpy as np

    codes, count = cluster_codes(clusters)
    sums = np.zeros(count)
    np.add.at(sums, codes, np.asarray(first, dtype=float) - np.asarray(second, dtype=float))
    return _by_size(sums.tolist())


def _by_size(values: Sequence[float]) -> Floats:
    import numpy as np

    x = np.asarray(values, dtype=float)
    return x[np.argsort(abs(x), kind="stable")]


def _sign_flips(columns: Sequence[Floats], draws: int, seed: int) -> list[tuple[float, int]]:
    """p-value and number of draws (0: exact) for each list of cluster sums."""
    exact = [_exact(sums) for sums in columns]
    left = [sums for sums, p in zip(columns, exact, strict=True) if p is None]
    drawn = iter(_sampled(left, draws, seed) if left else [])
    return [(next(drawn), draws) if p is None else (p, 0) for p in exact]


def _exact(sums: Floats) -> float | None:
    """The exact p-value; None where it takes too long."""
    import numpy as np

    steps = _on_grid(sums)
    if steps is not None:
        chances = _subset_sums(abs(steps[steps != 0]))  # of the sum of those with a flipped sign
        total = len(chances) - 1
        return min(1.0, float(chances[abs(total - 2 * np.arange(total + 1)) >= abs(steps.sum())].sum()))
    sizes: Floats = abs(sums[sums != 0])
    if len(sizes) > _ENUMERATED:
        return None
    totals = sizes[:1]  # one sign is fixed: a pattern and its opposite have the same |sum|
    for size in sizes[1:]:
        totals = np.concatenate((totals + size, totals - size))
    return float((abs(totals) >= _reached(sums)).mean())


def _reached(sums: Floats) -> float:
    """The |sum| from which on a sign pattern is as extreme as the observed one."""
    return abs(float(sums.sum())) - _ROUNDING * max(1.0, float(abs(sums).sum()))


def _on_grid(sums: Floats) -> Integers | None:
    """The sums in steps of the coarsest grid that holds them all; None where there is none, or too many steps."""
    import numpy as np

    for parts in range(1, _FINEST + 1):
        steps = np.rint(sums * parts)
        if abs(steps).sum() > _LONGEST:
            return None
        if (abs(sums * parts - steps) < _ROUNDING * parts).all():
            whole: Integers = steps.astype(np.int64)
            return whole
    return None


def _subset_sums(steps: Integers) -> Floats:
    """The probability of each sum of a random subset of `steps`, in which each is with probability 1/2."""
    import numpy as np
    from scipy.special import gammaln

    chances = np.ones(1)
    for step, times in zip(*np.unique(steps, return_counts=True), strict=True):
        k = np.arange(times + 1)
        of_step = np.zeros(step * times + 1)
        of_step[::step] = np.exp(gammaln(times + 1) - gammaln(k + 1) - gammaln(times - k + 1) - times * math.log(2))
        chances = np.convolve(chances, of_step)
    return chances


def _sampled(columns: Sequence[Floats], draws: int, seed: int) -> list[float]:
    """p-values from random sign patterns; all columns share them, the largest sums the same signs."""
    import numpy as np

    # By size: p-values do not depend on the order of items, nor on which system is the first.
    sizes = np.zeros((max(len(sums) for sums in columns), len(columns)))
    for k, sums in enumerate(columns):
        sizes[len(sizes) - len(sums) :, k] = abs(sums)
    reached = np.array([_reached(sums) for sums in columns])
    generator, hits = np.random.default_rng(seed), np.zeros(len(columns))
    rows = max(1, _CHUNK // len(sizes))
    for start in range(0, draws, rows):
        signs = generator.integers(0, 2, (min(rows, draws - start), len(sizes)), dtype=np.int8) * 2.0 - 1
        hits += (abs(signs @ sizes) >= reached).sum(axis=0)
    return [float(p) for p in (1 + hits) / (1 + draws)]
