"""A win rate by a judge, corrected by the judge's accuracy on pairs whose better side is known.

Where people have judged some of the very pairs, use `correction.prediction_powered`, which assumes nothing about the
judge. This correction needs no such judgements, but assumes that the judge errs as often on these pairs as on those of
its exam. A judge that is kinder to the text of models than to that of people (Zhang et al. 2024, arXiv 2406.10522,
Tables 3 and 4) violates the assumption, and its corrected win rate is too high, like the raw one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from .estimate import Estimate, check_level, cluster_codes
from .preference import win_rate
from .proportion import clustered_proportion
from .validation import check_same_length


def corrected_win_rate(
    preferences: Sequence[float],
    clusters: Sequence[Hashable],
    exam: Sequence[float],
    exam_clusters: Sequence[Hashable],
    level: float = 0.95,
    *,
    clip: bool = True,
) -> Estimate:
    """The share p of pairs in which the system is truly better, from its win rate w by a judge with the accuracy q.

        w = q p + (1 - q) (1 - p),   so   p = (w + q - 1) / (2 q - 1) = 1/2 + (w - 1/2) / (2 q - 1)

    preferences: the judge's, as in `win_rate`, with the cluster (contest) of each. exam: 1 where the judge chose the
    side that is known to be better, 0 where it did not, over both presentation orders, with their clusters; the same
    contest may be in both. Ties of .5 and means over orders are allowed in both lists.

    stderr is the delta method's. With cluster c's sums of deviations from w and q, each divided by the number of rows
    of its list and multiplied by sqrt(G/(G-1)) for the G clusters of its list, as a_c and b_c:

        var w = sum a_c^2,   var q = sum b_c^2,   cov = sum a_c b_c

    var w and var q are at least those for which value +/- t stderr is as wide as the 95 % interval of
    `clustered_proportion`, so that a judge without a mistake in its exam is not taken for one that makes none. The
    interval is Fieller's (1954, JRSS B 16) for the ratio (w - 1/2) / (2 q - 1), with a t quantile of Welch and
    Satterthwaite's degrees of freedom. It has no ends, which is [0, 1] when clipped, where q does not differ from 1/2
    at `level`.

    clip: whether value and interval are cut to [0, 1]. A value outside says that w and q contradict each other: the
    judge errs more or less often here than in its exam. An interval that is cut to a point at 0 or 1 says so with
    certainty. Everything is nan where q <= 1/2, a judge no better than chance, and where either list is empty or has a
    single cluster. `n` and `clusters` count both lists. Raises BadInput on values outside [0, 1].
    """
    check_level(level)
    n = check_same_length(preferences=preferences, clusters=clusters)
    n += check_same_length(exam=exam, exam_clusters=exam_clusters)
    observed, accuracy = win_rate(preferences, clusters), clustered_proportion(exam, exam_clusters)
    codes, count = cluster_codes([*clusters, *exam_clusters])
    # 2 q - 1 is the denominator; a mean of 1/2 may come out a rounding error above.
    if math.isnan(observed.stderr) or math.isnan(accuracy.stderr) or accuracy.value <= 0.5 + 1e-12:
        return Estimate(math.nan, math.nan, math.nan, math.nan, n, count)
    import numpy as np
    from scipy.special import stdtrit

    parts = []
    for values, mean, codes_of in (
        (preferences, observed, codes[: len(preferences)]),
        (exam, accuracy, codes[len(preferences) :]),
    ):
        sums = np.bincount(codes_of, np.asarray(values, dtype=float) - mean.value, minlength=count) / len(codes_of)
        parts.append(sums * math.sqrt(mean.clusters / (mean.clusters - 1)))
    covariance = 2 * float(parts[0] @ parts[1])
    top, bottom = observed.value - 0.5, 2 * accuracy.value - 1
    var_top, var_bottom = _variance(observed), 4 * _variance(accuracy)
    ratio = top / bottom
    of_top, of_bottom = var_top, ratio**2 * var_bottom
    variance = max(of_top + of_bottom - 2 * ratio * covariance, 0.0)
    dof = (of_top + of_bottom) ** 2 / (of_top**2 / (observed.clusters - 1) + of_bottom**2 / (accuracy.clusters - 1))
    squared = float(stdtrit(dof, (1 + level) / 2)) ** 2
    low, high = _fieller(top, bottom, squared * var_top, squared * var_bottom, squared * covariance)
    value, low, high = 0.5 + ratio, 0.5 + low, 0.5 + high
    if clip:
        value, low, high = (min(max(x, 0.0), 1.0) for x in (value, low, high))
    return Estimate(value, math.sqrt(variance) / bottom, low, high, n, count)


def _variance(e: Estimate) -> float:
    """The variance of a proportion, at least the one that its 95 % interval is worth."""
    from scipy.special import stdtrit

    half = (e.high - e.low) / 2 / float(stdtrit(e.clusters - 1, 0.975))
    return max(e.stderr, half) ** 2


def _fieller(top: float, bottom: float, var_top: float, var_bottom: float, covariance: float) -> tuple[float, float]:
    """The ratios r with (top - r bottom)^2 <= var_top - 2 r covariance + r^2 var_bottom, variances times t^2."""
    a = bottom**2 - var_bottom
    b = top * bottom - covariance
    c = top**2 - var_top
    if a <= 0:
        return -math.inf, math.inf
    root = math.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a, (b + root) / a
