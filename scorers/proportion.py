"""Proportions: means of values in [0, 1] with an interval that stays in [0, 1] and is never a point.

The value and its standard error are those of `estimate`. The interval is Korn and Graubard's (1998, Survey Methodology
24, "Confidence intervals for proportions with small expected number of positive counts estimated from survey data"):
Clopper and Pearson's (1934, Biometrika 26) binomial interval with an effective number of independent rows n*.

    [ B(alpha/2; n* p, n* - n* p + 1),  B(1 - alpha/2; n* p + 1, n* - n* p) ],   B the beta quantile, alpha = 1 - level

With n rows, G clusters of the sizes n_c, p the mean, d_c the sum of cluster c's deviations from it, and v the rows'
variance:

    deff = max( G/(G-1) sum d_c^2 (n - 1) / n^2,  v ) / (p (1 - p))         the design effect
    g    = n^2 / sum n_c^2                                                  the effective number of clusters (Kish 1965)
    most = (n - 1) / (g - 1)                                                the design effect of equal rows in a cluster
    r    = sum d_c^4 / (sum d_c^2)^2 - 1/G                                  the relative variance of the estimated deff
    w    = 1 / (1 + (3 r)^2),  0 where every d_c is 0
    f    = (n - 1) / (deff^w most^(1 - w))
    n*   = (1 + f) (t(f) / t(g - 1))^2

The last factor is Korn and Graubard's, the t quantiles of what independent rows and what the clusters would have as
degrees of freedom (Dean and Pagano 2015, Journal of Survey Statistics and Methodology 3, compare such intervals). The
weight w is what is added here. Where few clusters make up the variance, deff is hardly known; it is then moved towards
the largest one, half of the way (on the log scale) at r = 1/3, that is at about three clusters. Where all rows are
equal, n* is g: only the clusters are known to be independent. Where every row is its own cluster and all values are 0
or 1, n* is n: Clopper and Pearson's interval.

speed/interval_coverage.py compares this interval with others; docs/intervals.md says which is used where.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from humor_tasks.errors import BadInput

from .estimate import (
    Estimate,
    check_level,
    cluster_codes,
    clustered_mean,
    clustered_ratio,
    linearised,
    mean_of_folds,
    with_interval,
)

_ROUNDING = 1e-9  # by which a quotient of sums may miss 0 or 1, and a cluster's sum of deviations 0


def clustered_proportion(values: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95) -> Estimate:
    """The mean of `values` in [0, 1], with the interval above and the stderr of `clustered_mean`.

    Values need not be 0 or 1: ties of .5 and shares have a variance below p (1 - p) and narrower intervals. No values,
    a nan, and fewer than two clusters give nan as in `clustered_mean`: one cluster does not show how clusters differ.
    Raises BadInput as `clustered_mean` does, and on a value outside [0, 1].
    """
    mean = clustered_mean(values, clusters, level)
    _check_share(values, [1] * len(values), "values")
    return with_share_interval(mean, values, [1.0] * len(values), clusters, level)


def clustered_share(
    numerators: Sequence[float], denominators: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """The share sum(numerators) / sum(denominators), with 0 <= numerator <= denominator in each row.

    Value, stderr, `n` and `clusters` are those of `clustered_ratio`, also where they are nan. The interval is that of
    the rows' quotients weighted by the denominators; rows with a denominator of 0 do not count. n and v are then

        n = (sum of weights)^2 / sum of squared weights,   v = the deviations' mean square, by squared weights

    and n_c and d_c are the cluster's sums of weights and of weighted deviations. So a judge's precision, whose
    denominator is random, has the interval of the rows that the judge passed. Raises BadInput on other numerators.
    """
    ratio = clustered_ratio(numerators, denominators, clusters, level)
    _check_share(numerators, denominators, "numerators")
    counted = [i for i, d in enumerate(denominators) if d != 0]
    weights = [float(denominators[i]) for i in counted]
    shares = [numerators[i] / denominators[i] for i in counted]
    return with_share_interval(ratio, shares, weights, [clusters[i] for i in counted], level)


def proportion_of_folds(
    values: Sequence[Sequence[float]], clusters: Sequence[Sequence[Hashable]], level: float = 0.95
) -> Estimate:
    """The unweighted mean of the proportions of K folds; a list of values in [0, 1] and one of clusters per fold.

    Value and stderr are those of `mean_of_folds`. The interval is that of `clustered_share` over the rows of all folds
    with the weight 1 / (rows of the fold), under which each fold counts the same. It is nan where mean_of_folds has no
    stderr. Raises BadInput as `clustered_proportion` does.
    """
    folds = [clustered_proportion(x, c, level) for x, c in zip(values, clusters, strict=True)]
    mean = mean_of_folds(folds, level)
    weights = [1 / len(fold) for fold in values for _ in fold]
    return with_share_interval(mean, [x for f in values for x in f], weights, [c for f in clusters for c in f], level)


def difference_of_shares(
    values: Sequence[float], first: Sequence[bool], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """The share of the rows of `first` less that of the other rows, values in [0, 1]; rows of both share clusters.

    With s_0 the clustered standard error of x / n - y / m by `linearised`:

        stderr^2 = s_0^2 + 2 / (G + 2)^2,   interval: value +/- t(G - 1) * stderr, cut to [-1, 1]

    The second term is that of Bonett and Price (2012, Journal of Educational and Behavioral Statistics 37), one more
    cluster in favour of each share, so that no interval is a point; `spread` has it, too. nan where one side has no
    row, and with fewer than two clusters. Raises BadInput on a value outside [0, 1].
    """
    _check_share(values, [1] * len(values), "values")
    sides = [[float(side == of) for of in first] for side in (True, False)]
    columns = [c for side in sides for c in ([v * s for v, s in zip(values, side, strict=True)], side)]
    e = linearised(lambda x, n, y, m: x / n - y / m, columns, clusters, level)
    stderr = math.hypot(e.stderr, math.sqrt(2) / (e.clusters + 2))
    wide = with_interval(e.value, stderr, e.clusters - 1, level, e.n, e.clusters)
    return wide if math.isnan(wide.stderr) else replace(wide, low=max(wide.low, -1.0), high=min(wide.high, 1.0))


def _check_share(numerators: Sequence[float], denominators: Sequence[float], name: str) -> None:
    for i, (top, bottom) in enumerate(zip(numerators, denominators, strict=True)):
        if top < -_ROUNDING or top > bottom + _ROUNDING or bottom < 0:
            limit = "1" if name == "values" else f"its denominator, {bottom!r}"
            raise BadInput(f"{name}[{i}] is {top!r}; in a proportion it lies between 0 and {limit}.")


def with_share_interval(
    e: Estimate, shares: Sequence[float], weights: Sequence[float], clusters: Sequence[Hashable], level: float
) -> Estimate:
    """`e` with the interval of a weighted proportion at its value; as it is where it has no interval."""
    if math.isnan(e.stderr) or math.isnan(e.value):
        return e
    import numpy as np

    codes, count = cluster_codes(clusters)
    x, weight = np.asarray(shares, dtype=float), np.asarray(weights, dtype=float) / sum(weights)
    deviations = weight * (x - weight @ x)
    sizes, sums = (np.bincount(codes, part, minlength=count) for part in (weight, deviations))
    value = min(max(e.value, 0.0), 1.0)
    rows = effective_rows(value, sizes, sums, 1 / (weight @ weight), deviations @ deviations, level)
    low, high = binomial_interval(value, rows, level)
    return replace(e, low=float(low), high=float(high))


def effective_rows(value: Any, sizes: Any, sums: Any, n: Any, within: Any, level: float = 0.95) -> Any:
    """n* (see above) of one proportion, or of many: clusters are the last axis of `sizes` and `sums`.

    sizes, sums: the clusters' sums of the rows' weights and of their weighted deviations; the weights add up to 1.
    n, within: 1 / the sum of the squared weights, and the sum of the squared weighted deviations.
    """
    import numpy as np
    from scipy.special import stdtrit

    check_level(level)
    count, g = np.count_nonzero(sizes, axis=-1), 1 / np.square(sizes).sum(axis=-1)
    most = np.maximum((n - 1) / (g - 1), 1)
    squares = np.square(np.where(abs(sums) > _ROUNDING * sizes, sums, 0.0))
    total = squares.sum(axis=-1)
    known = (total > 0) & (value > 0) & (value < 1)
    between = total * count / (count - 1) * (n - 1)
    design = np.where(known, np.maximum(between, within * n) / np.where(known, value * (1 - value), 1), 1)
    noise = np.square(squares).sum(axis=-1) / np.where(known, total, 1) ** 2 - 1 / count
    w = np.where(known, 1 / (1 + np.square(3 * np.maximum(noise, 0))), 0)
    dof = (n - 1) / (design**w * most ** (1 - w))
    quantiles = stdtrit(dof, (1 + level) / 2) / stdtrit(g - 1, (1 + level) / 2)
    return (1 + dof) * np.square(quantiles)


def binomial_interval(value: Any, rows: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Clopper and Pearson's interval of a proportion `value` of `rows` independent rows; both may be arrays.

    `rows` need not be whole. 0 has the lower bound 0, and 1 the upper bound 1.
    """
    import numpy as np
    from scipy.special import betaincinv

    hits, misses = np.asarray(value * rows), np.asarray((1 - value) * rows)
    tail = (1 - level) / 2
    low = np.where(hits > 0, betaincinv(np.where(hits > 0, hits, 1.0), misses + 1, tail), 0.0)
    high = np.where(misses > 0, 1 - betaincinv(np.where(misses > 0, misses, 1.0), hits + 1, tail), 1.0)
    return low, high
