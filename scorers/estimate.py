"""Means, ratios and functions of means with clustered standard errors.

Instances of one contest share a cartoon, so they are not independent, and a standard error over instances would be too
small. The one here is clustered (Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640, appendix A) with the
finite-cluster correction G/(G-1). Inspect's `stderr(cluster=)` and `ci(cluster=)` compute the same, so both harnesses
report the same numbers. Ratios and other smooth functions of means are linearised (Särndal, Swensson and Wretman 1992,
"Model Assisted Survey Sampling", chapter 5): their error is that of the clustered mean of each item's influence on the
result. Intervals here are Student's t; `proportion` has those of means of values in [0, 1], and `bounded_mean` those of
ratings.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from numbers import Real

from humor_tasks.errors import BadInput

from .validation import check_same_length


@dataclass(frozen=True)
class Estimate:
    """A value and its confidence interval, in the unit of the value.

    `stderr`, `low` and `high` are nan where they cannot be estimated (fewer than two values or clusters). `low` and
    `high` are not clipped to the range of the values.
    """

    value: float
    stderr: float
    low: float
    high: float
    n: int
    clusters: int


def clustered_mean(values: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95) -> Estimate:
    """The mean of `values` with a standard error clustered by `clusters` (one id per value).

    With G clusters, n values and the mean m:

        stderr = sqrt( G/(G-1) * sum over clusters of (sum over its values of (x - m))^2 ) / n
        interval = m +/- t(G-1) * stderr, two-sided at `level`

    No values: all fields are nan. One value or one cluster: stderr and interval are nan. A nan among the values makes
    the estimate nan. Cluster ids are compared as dictionary keys (1 and "1" differ). Raises BadInput on lists of
    different length, on a missing cluster id (None or nan) and on a level outside (0, 1).
    """
    check_level(level)
    n = check_same_length(values=values, clusters=clusters)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, math.nan, 0, 0)
    import numpy as np

    codes, count = cluster_codes(clusters)
    x = np.asarray(values, dtype=float)
    with np.errstate(invalid="ignore"):  # infinite values make the deviations nan, which is the intended result
        mean = float(x.mean())
        deviations = np.bincount(codes, weights=x - mean, minlength=count)
    if count < 2:
        return with_interval(mean, math.nan, 1, level, n, count)
    stderr = math.sqrt(float(deviations @ deviations) * count / (count - 1)) / n
    return with_interval(mean, stderr, count - 1, level, n, count)


def mean_of_folds(estimates: Sequence[Estimate], level: float = 0.95) -> Estimate:
    """The unweighted mean over K cross-validation folds, as in the tables of Hessel et al. 2023.

    Folds hold out whole contests, so their test splits are disjoint and their errors independent:

        stderr = sqrt(sum of se_k^2) / K
        degrees of freedom = (sum of se_k^2)^2 / sum of (se_k^4 / (G_k - 1))   (Welch-Satterthwaite)

    `n` and `clusters` are sums over the folds. If a fold has no value or no standard error, neither has the result: a
    mean over the remaining folds would be another quantity. One fold is returned as it is. `level` applies to the
    result; the folds' own intervals are not used.
    """
    check_level(level)
    folds, n, clusters = len(estimates), sum(e.n for e in estimates), sum(e.clusters for e in estimates)
    if folds == 0:
        return Estimate(math.nan, math.nan, math.nan, math.nan, 0, 0)
    value = math.fsum(e.value for e in estimates) / folds
    variances = [e.stderr**2 for e in estimates]
    dof = welch_dof(variances, [e.clusters for e in estimates])
    return with_interval(value, math.sqrt(math.fsum(variances)) / folds, dof, level, n, clusters)


def welch_dof(variances: Sequence[float], clusters: Sequence[int]) -> float:
    """Welch and Satterthwaite's degrees of freedom of a sum of independent estimates with these squared errors.

    They are 1 where all errors are 0: the degrees of freedom are then undefined, and the interval is a point.
    """
    spread = math.fsum(v**2 / max(g - 1, 1) for v, g in zip(variances, clusters, strict=True) if v > 0)
    return math.fsum(variances) ** 2 / spread if spread > 0 else 1.0


def clustered_ratio(
    numerators: Sequence[float], denominators: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """The ratio of sums R = sum(numerators) / sum(denominators), with a linearised clustered error.

        deviation_i = (numerator_i - R * denominator_i) / mean(denominators)

    stderr, interval, `n` and `clusters` are those of clustered_mean over R + deviation_i. The value is nan where the
    denominators sum to zero. If only one cluster has non-zero denominators, the variation between clusters is unknown:
    stderr and interval are nan.
    """
    check_level(level)
    n = check_same_length(numerators=numerators, denominators=denominators, clusters=clusters)
    import numpy as np

    top, bottom = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    total = float(bottom.sum())
    if total == 0:
        return clustered_mean([math.nan] * n, clusters, level)
    carriers = {cluster for cluster, d in zip(clusters, denominators, strict=True) if d != 0}
    with np.errstate(invalid="ignore"):
        ratio = float(top.sum()) / total
        deviations = ((top - ratio * bottom) * (n / total)).tolist() if len(carriers) > 1 else [math.nan] * n
    return with_deviations(ratio, deviations, clusters, level)


def linearised(
    f: Callable[..., complex],
    columns: Sequence[Sequence[float]],
    clusters: Sequence[Hashable],
    level: float = 0.95,
) -> Estimate:
    """`f` of the means of K columns, f smooth, with a linearised clustered error (the delta method).

    With the vector m of the K means and the gradient g of f at m:

        value = f(m);   deviation_i = sum over k of g_k * (x_ik - m_k)

    stderr, interval, `n` and `clusters` are those of clustered_mean over f(m) + deviation_i. For a function of cell
    proportions, column k is 1 for the items of cell k and 0 for the others.

    `f` takes K numbers and must use arithmetic only (+ - * / **), because it is also called with complex numbers: g_k
    is the complex-step derivative, the imaginary part of f(m + i h e_k) / h, exact to rounding for any small h (Squire
    and Trapp 1998, SIAM Review 40). The value is nan where f divides by zero.
    """
    check_level(level)
    n = check_same_length(**{f"columns[{k}]": column for k, column in enumerate(columns)}, clusters=clusters)
    if n == 0:
        return clustered_mean([], [], level)
    import numpy as np

    h = 1e-50
    x = np.asarray(columns, dtype=float)
    # Python floats: they raise on division by zero, while numpy's only warn.
    means = x.mean(axis=1).tolist()
    try:
        value = f(*means).real
        gradient = [
            f(*(complex(m, h if j == k else 0) for j, m in enumerate(means))).imag / h for k in range(len(means))
        ]
    except ZeroDivisionError:
        return clustered_mean([math.nan] * n, clusters, level)
    deviations = np.asarray(gradient) @ (x - np.asarray(means)[:, None])
    return with_deviations(value, deviations.tolist(), clusters, level)


def with_deviations(
    value: float, deviations: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """`value` with the error and interval of clustered_mean over value + deviations; the deviations sum to zero."""
    spread = clustered_mean(deviations, clusters, level)
    half = spread.high - spread.value
    return Estimate(value, spread.stderr, value - half, value + half, spread.n, spread.clusters)


def with_interval(value: float, stderr: float, dof: float, level: float, n: int, clusters: int) -> Estimate:
    """value +/- t(dof) * stderr, two-sided at `level`; nan where the stderr or the value is nan."""
    if math.isnan(stderr) or math.isnan(value):
        return Estimate(value, math.nan, math.nan, math.nan, n, clusters)
    from scipy.special import stdtrit  # the t quantile alone: scipy.stats takes two seconds to import

    half = float(stdtrit(dof, (1 + level) / 2)) * stderr
    return Estimate(value, stderr, value - half, value + half, n, clusters)


def on_log_scale(estimate: Estimate, dof: float, level: float = 0.95) -> Estimate:
    """A positive `estimate` with the t interval of its logarithm, whose stderr is stderr / value, transformed back.

    For values with a floor at 0 and a skew to the right, such as RMSE and BLEU: of few clusters, intervals of equal
    arms lie too low. A value of 0 has a point, one without a stderr no interval.
    """
    e = estimate
    if math.isnan(e.stderr) or not e.value > 0:
        bound = math.nan if math.isnan(e.stderr) else e.value
        return replace(e, low=bound, high=bound)
    log = with_interval(math.log(e.value), e.stderr / e.value, dof, level, e.n, e.clusters)
    high = math.exp(log.high) if log.high < math.log(sys.float_info.max) else math.inf
    return replace(e, low=math.exp(log.low), high=high)


def effective_clusters(clusters: Sequence[Hashable]) -> float:
    """g = n^2 / sum n_c^2, for the numbers n_c of items of the clusters (Kish 1965); nan without items."""
    sizes = [*Counter(cluster_codes(clusters)[0]).values()]
    return sum(sizes) ** 2 / sum(size**2 for size in sizes) if sizes else math.nan


def cluster_codes(clusters: Sequence[Hashable]) -> tuple[list[int], int]:
    """An integer from 0 for each distinct id, in order of appearance, and the number of distinct ids.

    It uses a dictionary instead of np.unique, which is slower (it sorts) and would merge 1 with "1". Raises BadInput on
    an id that is None or nan.
    """
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    if any(cluster is None or cluster != cluster for cluster in numbers):
        row = next(i for i, cluster in enumerate(clusters) if cluster is None or cluster != cluster)
        raise BadInput(f"clusters[{row}] is {clusters[row]!r}: each value needs a cluster id, such as its contest.")
    return codes, len(numbers)


def check_level(level: float) -> None:
    """Raise BadInput on a level outside (0, 1)."""
    if not isinstance(level, Real) or not 0 < level < 1:
        raise BadInput(f"level is {level!r}; an interval's level lies between 0 and 1, for example 0.95.")
