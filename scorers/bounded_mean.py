"""Means of values on a scale with two ends, such as ratings from 1 to 5, with an interval that is never a point.

Value and standard error are those of `estimate`. Its interval, Student's t, is [5, 5] for three ratings of 5 and leaves
the scale near its ends. The one here is between t's, cut to the scale, and that of Gaffke (2005, Mathematical Methods
of Statistics 14, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable"), which holds for any distribution on the scale as far as is known (Learned-Miller and Thomas 2019, arXiv
1905.06208). His upper bound is the quantile 1 - alpha / 2 of the mean under random weights that are uniform on the
simplex, as in the Bayesian bootstrap, with one more value at the upper end of the scale: the one not seen. For values
0 and 1 it is Clopper and Pearson's.

On the scale [0, 1], with the G clusters' means x_c and shares of the rows w_c, the mean m and d_c = w_c (x_c - m):

    g         = 1 / sum of w_c^2                       the effective number of clusters (Kish 1965)
    mu        = (g m + 1) / (g + 1)
    variance  = (g (g - 1) stderr^2 + g (1 - m)^2 / (g + 1)) / ((g + 1) (g + 2))
    unseen    = the quantile of the beta distribution on [min x_c, 1] with mean mu and this variance
    t         = min(1, m + t(G - 1) stderr)
    r         = sum of d_c^4 / (sum of d_c^2)^2 - 1 / G   the relative variance of the estimated stderr^2
    w         = 1 / ((1 + (7 r)^2) (1 + (12 / g)^2)),  0 where every d_c is 0
    high      = w t + (1 - w) unseen

`low` is one less the `high` of 1 - x. mu and variance are those of the random mean where clusters have one size, and
the beta distribution is exact where at most one value differs from the end. Where few clusters make up the variance,
as where nearly all ratings are equal, and where there are few clusters at all, the stderr does not show how clusters
vary: the interval is then near Gaffke's, half of the way at r = 1/7 or at 12 clusters. Elsewhere it is near Student's
t, cut to the scale.

speed/bounded_coverage.py measures the coverage; docs/intervals.md says which interval is used where.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from humor_tasks.errors import BadInput

from .estimate import Estimate, cluster_codes, clustered_mean, mean_of_folds

_ROUNDING = 1e-9  # of the scale: by which a value may miss an end, and equal clusters differ
_KNOWN = 7.0  # 1 / the r of half of the way
_FEW = 12.0  # clusters, of half of the way


def bounded_mean(
    values: Sequence[float], clusters: Sequence[Hashable], low: float, high: float, level: float = 0.95
) -> Estimate:
    """The mean of `values` on the scale from `low` to `high`, with the interval above and `clustered_mean`'s stderr.

    The interval lies on the scale and holds the value. Where all values are equal, stderr is 0 and the interval is not
    a point: n times the upper end have the lower bound of n of n. No values, a nan, and fewer than two clusters give
    nan as in `clustered_mean`. Raises BadInput as that does, on ends that are no scale, and on a value beyond them.
    """
    _check_scale(values, low, high)
    return _with_bounds(
        clustered_mean(values, clusters, level), values, [1.0] * len(values), clusters, low, high, level
    )


def bounded_mean_of_folds(
    values: Sequence[Sequence[float]],
    clusters: Sequence[Sequence[Hashable]],
    low: float,
    high: float,
    level: float = 0.95,
) -> Estimate:
    """The unweighted mean of the means of K folds; a list of values and one of clusters per fold.

    Value and stderr are those of `mean_of_folds`, whose t interval takes the place of t. Each row has the weight
    1 / (rows of the fold). nan where mean_of_folds has no stderr. Raises BadInput as `bounded_mean` does.
    """
    for fold in values:
        _check_scale(fold, low, high)
    mean = mean_of_folds([clustered_mean(x, c, level) for x, c in zip(values, clusters, strict=True)], level)
    rows, ids = [x for fold in values for x in fold], [c for fold in clusters for c in fold]
    return _with_bounds(mean, rows, [1 / len(fold) for fold in values for _ in fold], ids, low, high, level)


def _check_scale(values: Sequence[float], low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadInput(f"the scale is from {low!r} to {high!r}; it needs two finite ends, the lower one first.")
    slack = _ROUNDING * (high - low)
    for i, value in enumerate(values):
        if value < low - slack or value > high + slack:
            raise BadInput(f"values[{i}] is {value!r}; on this scale it lies between {low:g} and {high:g}.")


def _with_bounds(
    e: Estimate,
    values: Sequence[float],
    weights: Sequence[float],
    clusters: Sequence[Hashable],
    low: float,
    high: float,
    level: float,
) -> Estimate:
    """`e`, whose interval is Student's t, with the interval above; as it is where it has none."""
    if math.isnan(e.stderr) or math.isnan(e.value):
        return e
    import numpy as np

    codes, count = cluster_codes(clusters)
    width, weight = high - low, np.asarray(weights, dtype=float) / sum(weights)
    shares = np.bincount(codes, weight, minlength=count)
    x = np.clip((np.asarray(values, dtype=float) - low) / width, 0, 1)
    means = np.bincount(codes, weight * x, minlength=count) / shares
    m = min(max((e.value - low) / width, 0.0), 1.0)
    below, above = bounds(m, e.stderr / width, (e.high - e.value) / width, means, shares, level)
    return replace(
        e,
        low=min(max(low + width * float(below), low), e.value),
        high=max(min(low + width * float(above), high), e.value),
    )


def bounds(value: Any, stderr: Any, half: Any, means: Any, shares: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Low and high of one mean on [0, 1], or of many: clusters are the last axis of `means` and `shares`.

    half: half the width of the t interval. means, shares: the clusters' means, and their shares of the rows, which add
    up to 1.
    """
    low = 1 - _upper(1 - value, stderr, half, 1 - means, shares, level)
    return low, _upper(value, stderr, half, means, shares, level)


def _upper(value: Any, stderr: Any, half: Any, means: Any, shares: Any, level: float) -> Any:
    """`high` (see above)."""
    import numpy as np

    deviations = means - np.asarray(value)[..., None]
    squares = np.square(np.where(abs(deviations) > _ROUNDING, shares * deviations, 0.0))
    g, total = 1 / np.square(shares).sum(axis=-1), squares.sum(axis=-1)
    known = total > 0
    r = np.square(squares).sum(axis=-1) / np.where(known, total, 1) ** 2 - 1 / means.shape[-1]
    w = np.where(known, 1 / (1 + np.square(_KNOWN * np.maximum(r, 0))), 0) / (1 + np.square(_FEW / g))
    return w * np.minimum(value + half, 1) + (1 - w) * _unseen(value, stderr, g, means.min(axis=-1), level)


def _unseen(value: Any, stderr: Any, g: Any, least: Any, level: float) -> Any:
    """Gaffke's upper bound, by the beta distribution on [least, 1] with his mean and variance."""
    import numpy as np
    from scipy.special import betaincinv

    width = 1 - least
    inside = width > _ROUNDING  # otherwise every value is at the end
    scale = np.where(inside, width, 1.0)
    mean = np.where(inside, ((g * value + 1) / (g + 1) - least) / scale, 0.5)
    variance = g * (g - 1) * np.square(stderr) + np.square(1 - value) * g / (g + 1)
    variance = np.where(inside, variance / ((g + 1) * (g + 2)) / scale**2, 0.125)
    rows = np.maximum(mean * (1 - mean) / variance - 1, _ROUNDING)
    quantile = betaincinv(mean * rows, (1 - mean) * rows, (1 + level) / 2)
    return np.where(inside, least + width * quantile, 1.0)
