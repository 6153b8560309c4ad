"""The spread of one metric over K settings: the highest less the lowest, with an interval that knows it is a maximum.

A setting is a wording of the prompt or a position of the right answer; the same items are asked under every setting.
Values are those of `jackknife.pseudo_values` with the same clusters and seed for every setting, so any metric will do.
With R values per setting, G clusters, and, for each of the P = K (K - 1) / 2 pairs of settings, the difference d, its
deviations e_g from their mean, and the confidence level 1 - alpha:

    se^2   = sum of e_g^2 / (R (R - 1))  +  2 / (G + 2)^2 for metrics in [0, 1]
    r      = sum of e_g^4 / (sum of e_g^2)^2 - 1/R, averaged over the pairs that vary
    dof    = R - 1 for metrics in [0, 1],  otherwise min(R - 1, 2 / r)
    half   = t(dof; 1 - alpha / (2 P)) * se

    value  = max |d|,   low = max(0, max of |d| - half),   high = max of |d| + half,   each over the pairs

All P intervals d +/- half hold their true differences together with at least the level (Bonferroni; Miller 1981,
"Simultaneous Statistical Inference", chapter 2). Where they do, the true spread, which is one of those differences, is
within [low, high]. The quantile is at most 6 % above Tukey's, of the studentized range, for K up to 5 and R from 20.

The term 2 / (G + 2)^2 is that of Bonett and Price (2012, Journal of Educational and Behavioral Statistics 37) for a
difference of paired proportions: one more cluster in favour of each setting. So settings that no item tells apart do
not have an interval of a point. 2 / r is the degrees of freedom that a variance with the relative variance r is worth
(Satterthwaite 1946, Biometrics Bulletin 2); with few clusters, squared errors make it far smaller than R - 1.
speed/spread_coverage.py measures the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level

_ROUNDING = 1e-12  # of the largest value: deviations below it are sums in another order


def spread(
    values: Sequence[Sequence[float]], n: int, clusters: int, bounded: bool = False, level: float = 0.95
) -> Estimate:
    """The highest less the lowest score of K settings, in the unit of the score, with the interval above.

    values: for each setting its pseudo-values, one per group of clusters in the same order; their mean is the setting's
    score. n, clusters: the numbers of items and of clusters. bounded: whether the metric lies in [0, 1], as accuracies
    do and errors of ratings do not; `high` is then at most 1.

    The value is the difference in this sample. It is biased upwards where the true spread is small: the maximum of
    noisy scores is above 0 although all settings are equally good. Read the interval, whose `low` is then 0. `stderr`
    is that of the difference of the two settings, the larger one in a tie. It is not the error of a maximum.

    The percentile bootstrap must not be used here: each resample adds noise to the scores again, so that its interval
    lies above a small spread (five equal settings, 131 clusters of one item: it held 0 in none of 200 samples).

    Fewer than two settings, no values, or a nan among them: all fields are nan. One value per setting: stderr and
    interval are nan. Raises BadInput on settings with different numbers of values, more values than clusters, and a
    level outside (0, 1).
    """
    check_level(level)
    groups = len(values[0]) if values else 0
    for k, setting in enumerate(values):
        if len(setting) != groups:
            raise BadInput(
                f"values[{k}] has {len(setting)} values and values[0] has {groups}; "
                "take the pseudo-values of all settings with the same clusters and seed."
            )
    if groups > clusters:
        raise BadInput(f"values[0] has {groups} values, but clusters is {clusters}; there is one value per group.")
    import numpy as np

    x = np.asarray(values, dtype=float)
    if len(x) < 2 or groups == 0 or not np.isfinite(x).all():
        return Estimate(math.nan, math.nan, math.nan, math.nan, n, clusters)
    if groups < 2:
        return Estimate(float(np.ptp(x)), math.nan, math.nan, math.nan, n, clusters)
    value, stderr, low, high = (float(part) for part in spread_bounds(x, clusters, bounded, level))
    return Estimate(value, stderr, low, high, n, clusters)


def spread_bounds(values: Any, clusters: int, bounded: bool, level: float = 0.95) -> tuple[Any, Any, Any, Any]:
    """Value, stderr, low and high of one spread, or of many: settings and groups are the last two axes of `values`."""
    import numpy as np
    from scipy.special import stdtrit

    settings, groups = values.shape[-2:]
    first, second = np.triu_indices(settings, 1)
    gaps = values[..., first, :] - values[..., second, :]
    difference = abs(gaps.mean(axis=-1))
    deviations = gaps - gaps.mean(axis=-1, keepdims=True)
    scale = abs(values).max(axis=(-2, -1), keepdims=True)
    squares = np.square(np.where(abs(deviations) > _ROUNDING * scale, deviations, 0.0))
    total = squares.sum(axis=-1)
    stderr = np.sqrt(total / (groups * (groups - 1)) + (2 / (clusters + 2) ** 2 if bounded else 0))
    dof = groups - 1 if bounded else np.minimum(groups - 1, _degrees_of_freedom(squares, total))[..., None]
    half = stdtrit(dof, 1 - (1 - level) / (2 * len(first))) * stderr
    value = difference.max(axis=-1)
    low, high = np.maximum((difference - half).max(axis=-1), 0), (difference + half).max(axis=-1)
    widest = np.where(difference == value[..., None], stderr, 0).max(axis=-1)
    return value, widest, low, np.minimum(high, 1) if bounded else high


def _degrees_of_freedom(squares: Any, total: Any) -> Any:
    """2 / r (see above), from the squared deviations [..., pairs, groups] and their sums."""
    import numpy as np

    varies = total > 0
    shares = np.square(squares / np.where(varies, total, 1)[..., None]).sum(axis=-1)
    noise = np.where(varies, shares - 1 / squares.shape[-1], 0).sum(axis=-1)
    return 2 * np.maximum(varies.sum(axis=-1), 1) / np.maximum(noise, 1e-12)
