"""Association of a grouping of items with their values, such as of contests, folds or distractors with correctness.

With n memberships of items in groups (one per item, or several, as an item has four distractors), the values x of the
items, and the sums of squares of the values over memberships,

    X^2 = n * (between groups) / (total)          V = sqrt(X^2 / n)

For values of 0 and 1 and one membership per item, X^2 is Pearson's chi-square of the groups x 2 table without Yates'
correction, and V is Cramér's V (Cramér 1946, "Mathematical Methods of Statistics", ch. 21). For ranks it is, but for
(n - 1) / n, the statistic of Kruskal and Wallis. In general V^2 is the share of variance between the groups.

The p-value from the chi-square distribution holds for independent items and expected counts that are not small. The
permutation test needs neither large counts nor a distribution: it exchanges values between items or, for a grouping
that is constant within clusters, whole clusters between groups.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from humor_tasks.errors import BadInput

from .arrays import Floats, Indices
from .estimate import Estimate, cluster_codes, welch_dof, with_interval
from .validation import check_same_length

DRAWS = 9999
_SAME = 1e-9  # relative difference within which a permuted statistic equals the observed one: sums in another order


@dataclass(frozen=True)
class Association:
    """The association of a grouping with values.

    statistic: X^2; dof: its degrees of freedom, groups - 1. v: Cramér's V, in [0, 1]. p: from the chi-square
    distribution; p_permutation: from `draws` permutations, at least 1 / (draws + 1). expected: for values of 0 and 1
    the least expected count of the table, otherwise nan. by_cluster: whether whole clusters were permuted. Without
    variation in the values or with one group, statistic, v and the p-values are nan.
    """

    statistic: float
    dof: int
    v: float
    p: float
    p_permutation: float
    expected: float
    items: int
    groups: int
    by_cluster: bool
    draws: int


def association(
    groups: Sequence[Hashable | Sequence[Hashable]],
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Association:
    """The association of `groups` (one per item, or a tuple of several) with `values`.

    clusters: where every cluster lies in one group and a group has several clusters, clusters are permuted instead of
    items; so the effect of contests does not count as an effect of folds, which consist of contests. Raises BadInput on
    lists of different length, on a value that is not finite and on draws below 1.
    """
    n = check_same_length(groups=groups, values=values, **({} if clusters is None else {"clusters": clusters}))
    if draws < 1:
        raise BadInput(f"draws is {draws}; a permutation test needs at least 1.")
    for i, value in enumerate(values):
        if not math.isfinite(value):
            raise BadInput(f"values[{i}] is {value!r}; a value is a finite number.")
    import numpy as np

    member = [names if isinstance(names, tuple) else (names,) for names in groups]
    item = np.repeat(np.arange(n), [len(names) for names in member])
    code, count = cluster_codes([group for names in member for group in names])
    group = np.asarray(code, dtype=np.intp)
    x = np.asarray(values, dtype=float)
    weight = np.bincount(item, minlength=n).astype(float)  # memberships of each item
    total = float(weight.sum())
    blocks = _blocks(clusters, member) if clusters is not None else None
    if count < 2 or n < 2 or x.min() == x.max():
        none = math.nan
        return Association(none, max(count - 1, 0), none, none, none, none, n, count, blocks is not None, draws)
    sizes = np.bincount(group, minlength=count).astype(float)

    def between(x: Floats, groups_of: Indices) -> tuple[float, float]:
        """The sums of squares between the groups and in total."""
        mean = float(weight @ x) / total
        sums = np.bincount(groups_of, x[item] - mean, minlength=count)
        within = sizes if groups_of is group else np.bincount(groups_of, minlength=count)
        held = within > 0
        return float((sums[held] ** 2 / within[held]).sum()), float(weight @ (x - mean) ** 2)

    part, whole = between(x, group)
    statistic = total * part / whole
    random = np.random.default_rng(seed)
    hits = 0
    for _ in range(draws):
        if blocks is None:
            drawn, everything = between(random.permutation(x), group)
        else:
            cluster, at = blocks
            drawn, everything = between(x, at[random.permutation(len(at))][cluster])
        hits += total * drawn / everything >= statistic * (1 - _SAME)
    from scipy.special import gammaincc

    dof = count - 1
    binary = bool(np.isin(x, (0.0, 1.0)).all())
    right = float(weight @ x)
    least = float(sizes.min()) * min(right, total - right) / total if binary else math.nan
    return Association(
        statistic=statistic,
        dof=dof,
        v=math.sqrt(min(part / whole, 1.0)),
        p=float(gammaincc(dof / 2, statistic / 2)),
        p_permutation=(1 + hits) / (1 + draws),
        expected=least,
        items=n,
        groups=count,
        by_cluster=blocks is not None,
        draws=draws,
    )


def _blocks(clusters: Sequence[Hashable], member: Sequence[tuple[Hashable, ...]]) -> tuple[Indices, Indices] | None:
    """The cluster of each item and the group of each cluster, where clusters lie in one group each; otherwise None."""
    import numpy as np

    code, count = cluster_codes(clusters)
    named: dict[Hashable, int] = {}
    at = [-1] * count
    for cluster, names in zip(code, member, strict=True):
        if len(names) != 1:
            return None
        number = named.setdefault(names[0], len(named))
        if at[cluster] not in (-1, number):
            return None
        at[cluster] = number
    return None if count == len(named) else (np.asarray(code, dtype=np.intp), np.asarray(at, dtype=np.intp))


@dataclass(frozen=True)
class Conditional:
    """The share of items that one system gets right among the `n` that another gets wrong.

    expected: the share if the two were independent, which is the first system's accuracy. p: Fisher's exact test of the
    2 x 2 table, two-sided; it is the permutation test over all permutations of items. p_clusters: of the test that
    permutes whole clusters; nan without clusters.
    """

    n: int
    share: float
    expected: float
    p: float
    p_clusters: float = math.nan


def right_when_wrong(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Conditional:
    """How often `first` is right (1) where `second` is wrong (0); both lists have one value per item.

    clusters: also test by permuting whole clusters. Each draw gives every cluster the values of `first` on another
    cluster with as many items, in a random order; so items of a cluster stay together, and only the link between the
    two systems is broken. p_clusters is two-sided: the share of draws, with the observed one, whose number of items
    that `first` gets right and `second` wrong is as far from the mean of the draws. Share and the p-values are nan
    where `second` is never wrong. Raises BadInput on values other than 0 and 1, and on draws below 1.
    """
    n = check_same_length(first=first, second=second, **({} if clusters is None else {"clusters": clusters}))
    if draws < 1:
        raise BadInput(f"draws is {draws}; a permutation test needs at least 1.")
    for name, values in (("first", first), ("second", second)):
        if (other := next((v for v in values if v not in (0, 1)), None)) is not None:
            raise BadInput(f"{name} has the value {other!r}; values are 0 or 1.")
    table = [[0, 0], [0, 0]]
    for a, b in zip(first, second, strict=True):
        table[int(b)][int(a)] += 1
    expected = math.fsum(first) / n if n else math.nan
    wrong = sum(table[0])
    if not wrong:
        return Conditional(0, math.nan, expected, math.nan)
    from scipy.stats import fisher_exact

    p_clusters = math.nan if clusters is None else _permuted_clusters(first, second, clusters, draws, seed)
    return Conditional(wrong, table[0][1] / wrong, expected, float(fisher_exact(table).pvalue), p_clusters)


def _permuted_clusters(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable], draws: int, seed: int
) -> float:
    import numpy as np

    code, count = cluster_codes(clusters)
    held: list[list[int]] = [[] for _ in range(count)]
    for item, cluster in enumerate(code):
        held[cluster].append(item)
    a, wrong = np.asarray(first, dtype=float), 1 - np.asarray(second, dtype=float)
    sizes = {len(items) for items in held}
    blocks = [np.array([items for items in held if len(items) == size]) for size in sorted(sizes)]  # [clusters, size]
    random = np.random.default_rng(seed)
    drawn = np.zeros(draws)
    for block in blocks:
        theirs = wrong[block]
        for i in range(draws):
            drawn[i] += (random.permuted(a[random.permutation(block)], axis=1) * theirs).sum()
    middle = drawn.mean()
    observed = abs(float(a @ wrong) - middle)
    return float((1 + (np.abs(drawn - middle) >= observed * (1 - _SAME)).sum()) / (1 + draws))


def independent_difference(first: Estimate, second: Estimate, level: float = 0.95) -> Estimate:
    """first - second for estimates over different clusters, with Welch's interval.

        stderr^2 = se_1^2 + se_2^2;   degrees of freedom = stderr^4 / sum of se_k^4 / (G_k - 1)

    `n` and `clusters` are sums. The value is nan where one of the two has none.
    """
    variances = [e.stderr**2 for e in (first, second)]
    dof = welch_dof(variances, (first.clusters, second.clusters))
    n, clusters = first.n + second.n, first.clusters + second.clusters
    return with_interval(first.value - second.value, math.sqrt(sum(variances)), dof, level, n, clusters)
