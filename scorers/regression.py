"""Regression metrics of predicted ratings against mean grades (SemEval-2020 Task 7, subtask 1; Hossain et al. 2020).

With the errors e = prediction - gold over n rows; predictions are never clipped:

    rmse           sqrt(mean of e^2)
    rmse@X         the same over the k rows with the highest and the k with the lowest gold, k = round(X % of n)
    mae[LOW,HIGH)  mean of |e| over the rows whose gold lies in that bin
    pearson, spearman

Ties at the cut of rmse@X: gold grades have few distinct values (24 in the real dev split), so the k-th row is usually
one of several with equal gold. The organisers published results, but neither their code nor their order of ties, and
the results do not reveal it: with constant predictions, as the baseline's, every order gives the same value. Here tied
rows share the remaining places, each weighted (remaining places) / (tied rows). This is the mean of the squared errors
over all orders, so the order of the rows does not matter.

Errors are linearised and clustered (see `estimate`), including the effect of estimated quantities: the grade at the cut
of rmse@X and the ranks of spearman. Intervals of the two correlations use Fisher's (1915) transformation: the interval
of atanh(r), with the stderr stderr(r) / (1 - r^2), transformed back by tanh. Those of rmse and rmse@X are of the
logarithm, for G clusters with the stderr times sqrt(G / (G - 1)), and with one degree of freedom less than the
effective number of clusters, and at least one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from humor_tasks.errors import BadInput

from .arrays import Floats
from .estimate import (
    Estimate,
    clustered_mean,
    effective_clusters,
    linearised,
    on_log_scale,
    with_deviations,
    with_interval,
)
from .preference import finite
from .validation import check_same_length

PERCENTS = (10, 20, 30, 40)
SCALE = (0.0, 3.0)


@dataclass(frozen=True)
class Bin:
    """The mean absolute error of the rows whose gold is at least `low` and less than `high`.

    The last bin includes the end of the scale. `mae.n` and `mae.clusters` count only the bin's rows; an empty bin has
    nan in all other fields.
    """

    low: float
    high: float
    mae: Estimate

    @property
    def name(self) -> str:
        """mae[0.2,0.4), or mae[2.8,3.0] for the last."""
        return f"mae[{self.low:.1f},{self.high:.1f}{']' if self.high == SCALE[1] else ')'}"


def rating_metrics(
    pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable], width: float = 0.2, level: float = 0.95
) -> dict[str, Estimate]:
    """Every metric of this module by name, in the order of the list above."""
    metrics = {"rmse": rmse(pred, gold, clusters, level)}
    metrics |= {f"rmse@{percent}": rmse_at(pred, gold, clusters, percent, level) for percent in PERCENTS}
    metrics |= {"pearson": pearson(pred, gold, clusters, level), "spearman": spearman(pred, gold, clusters, level)}
    return metrics | {b.name: b.mae for b in mae_by_bin(pred, gold, clusters, width, level)}


def rmse(pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95) -> Estimate:
    """The root mean squared error. Raises BadInput on lists of different length and on nan or infinity."""
    x, y = _checked(pred, gold, clusters)
    return _logarithmic(linearised(lambda mean: mean**0.5, [((x - y) ** 2).tolist()], clusters, level), clusters, level)


def rmse_at(
    pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable], percent: float, level: float = 0.95
) -> Estimate:
    """The RMSE over the `percent` % of rows with the highest gold and the `percent` % with the lowest.

    k = round(percent % of n), half to even and at most n/2; the value is nan where k is 0. Ties at a cut share the
    remaining places (see above). For each end, let `a` be the mean over all rows of [gold beyond the cut], `A` of that
    times e^2, `p` of [gold at the cut] and `P` of that times e^2. The linearised function is

        T = (A + (k/n - a) P / p) / (k/n);    rmse@X = sqrt((T of the top + T of the bottom) / 2)

    `n` and `clusters` count all rows, because all rows determine the cuts. Where few rows are tied at a cut, P / p is
    an imprecise estimate of the squared error there. Raises BadInput as `rmse` does, and on a percent outside (0, 50].
    """
    import numpy as np

    if not 0 < percent <= 50:
        raise BadInput(f"percent is {percent}; RMSE@X uses the X % of rows at each end, with 0 < X <= 50.")
    x, y = _checked(pred, gold, clusters)
    squares = (x - y) ** 2
    share = min(round(percent * len(x) / 100), len(x) // 2) / max(len(x), 1)
    if share == 0:
        return clustered_mean([math.nan] * len(x), clusters, level)
    columns = []
    for sign in (-1, 1):
        ordered = np.sort(sign * y)
        cut = ordered[round(share * len(x)) - 1]
        beyond, at = (sign * y < cut).astype(float), (sign * y == cut).astype(float)
        columns += [beyond * squares, beyond, at * squares, at]

    def f(*m: complex) -> complex:
        ends = (m[i] + (share - m[i + 1]) * m[i + 2] / m[i + 3] for i in (0, 4))
        return (sum(ends) / (2 * share)) ** 0.5

    return _logarithmic(linearised(f, [column.tolist() for column in columns], clusters, level), clusters, level)


def mae_by_bin(
    pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable], width: float = 0.2, level: float = 0.95
) -> list[Bin]:
    """The mean absolute error in each bin of the scale 0..3, lowest first, including empty bins.

    Raises BadInput as `rmse` does, on gold outside the scale, and on a width that does not divide the scale.
    """
    x, y = _checked(pred, gold, clusters)
    number, edges = _bins(y, width)
    rows: list[list[int]] = [[] for _ in edges[1:]]
    for i, b in enumerate(number):
        rows[b].append(i)
    errors = abs(x - y).tolist()
    return [
        Bin(low, high, clustered_mean([errors[i] for i in members], [clusters[i] for i in members], level))
        for low, high, members in zip(edges[:-1], edges[1:], rows, strict=True)
    ]


def pearson(
    pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """Pearson's r, linearised in its five moments, with Fisher's interval; nan where either list is constant."""
    x, y = _checked(pred, gold, clusters)
    if len(x) == 0 or x.min() == x.max() or y.min() == y.max():
        return clustered_mean([math.nan] * len(x), clusters, level)
    x, y = ((v - v.mean()) / v.std() for v in (x, y))

    def f(mx: complex, my: complex, xx: complex, yy: complex, xy: complex) -> complex:
        return (xy - mx * my) / ((xx - mx * mx) * (yy - my * my)) ** 0.5

    columns = [column.tolist() for column in (x, y, x * x, y * y, x * y)]
    return _fisher(linearised(f, columns, clusters, level), level)


def spearman(
    pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """Spearman's rho: Pearson's r of the ranks, with mean ranks for ties, and Fisher's interval.

    With u and v the centred ranks, (rank - 1/2) / n - 1/2, and C, U, V the means of uv, u^2 and v^2:

        rho = C / sqrt(U V);   deviation = dC / sqrt(U V) - rho/2 (dU/U + dV/V)
        dC_i = u_i v_i + h(u, v)_i + h(v, u)_i - 3C,   dU_i = u_i^2 + 2 h(u, u)_i - 3U,   dV likewise
        h(u, v)_i = (sum of v over the rows with a greater u, and half of it over those with the same) / n

    The terms h are row i's influence through the ranks of the other rows. The value is nan where either list is
    constant.
    """
    x, y = _checked(pred, gold, clusters)
    n = len(x)
    if n == 0 or x.min() == x.max() or y.min() == y.max():
        return clustered_mean([math.nan] * n, clusters, level)
    (u, h_u), (v, h_v) = _centred_ranks(x), _centred_ranks(y)
    c, uu, vv = float(u @ v) / n, float(u @ u) / n, float(v @ v) / n
    scale = math.sqrt(uu * vv)
    rho = c / scale
    deviations = (u * v + h_u(v) + h_v(u) - 3 * c) / scale
    for w, h, ww in ((u, h_u, uu), (v, h_v, vv)):
        deviations = deviations - rho / 2 * (w * w + 2 * h(w) - 3 * ww) / ww
    return _fisher(with_deviations(rho, deviations.tolist(), clusters, level), level)


def spearman_p(x: Sequence[float], y: Sequence[float]) -> float:
    """The two-sided p-value of no correlation for independent rows; nan where a list is constant or below 3 rows."""
    if min(len(set(x)), len(set(y))) < 2 or len(x) < 3:
        return math.nan
    from scipy.stats import spearmanr

    return float(spearmanr(x, y).pvalue)


def _centred_ranks(x: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """The centred ranks u of `spearman`, and the function h(u, .)."""
    import numpy as np

    n = len(x)
    _, value, times = np.unique(x, return_inverse=True, return_counts=True)

    def h(v: Floats) -> Floats:
        at = np.bincount(value, weights=v)
        result: Floats = (at.sum() - np.cumsum(at) + at / 2)[value] / n
        return result

    return ((np.cumsum(times) - times / 2) / n - 0.5)[value], h


def _bins(gold: Floats, width: float) -> tuple[list[int], list[float]]:
    """The index of each row's bin, and the edges of all bins."""
    low, high = SCALE
    count = round((high - low) / width) if width > 0 else 0
    if count < 1 or abs(count * width - (high - low)) > 1e-9:
        raise BadInput(f"width is {width}; it must divide the scale {low:g}..{high:g}, such as 0.2.")
    for i, grade in enumerate(gold.tolist()):
        if not low <= grade <= high:
            raise BadInput(f"gold[{i}] is {grade}; mean grades must be on the scale {low:g}..{high:g}.")
    # A grade of 0.6 belongs to the bin that starts at 0.6, although 0.6 / 0.2 is slightly less than 3.
    number = [min(int((grade - low) / width + 1e-9), count - 1) for grade in gold.tolist()]
    return number, [round(low + i * width, 9) for i in range(count)] + [high]


def _logarithmic(estimate: Estimate, clusters: Sequence[Hashable], level: float) -> Estimate:
    """An error's `estimate` with its interval on the log scale, of the stderr times sqrt(G / (G - 1)).

    The factor is about what the jackknife's error has over the linearised one: few clusters need it.
    """
    e = estimate
    wider = e.stderr * math.sqrt(e.clusters / (e.clusters - 1)) if e.clusters > 1 else e.stderr
    interval = on_log_scale(replace(e, stderr=wider), max(effective_clusters(clusters) - 1, 1.0), level)
    return replace(interval, stderr=e.stderr)


def _fisher(estimate: Estimate, level: float) -> Estimate:
    """A correlation's `estimate` with Fisher's interval; for a correlation of 1 or -1 the interval is that point."""
    r = max(-1.0, min(1.0, estimate.value)) if not math.isnan(estimate.value) else math.nan
    stderr = estimate.stderr
    if math.isnan(stderr) or 1 - r * r < 1e-12:
        bound = math.nan if math.isnan(stderr) else r
        return Estimate(r, stderr, bound, bound, estimate.n, estimate.clusters)
    z = with_interval(math.atanh(r), stderr / (1 - r * r), estimate.clusters - 1, level, estimate.n, estimate.clusters)
    return Estimate(r, stderr, math.tanh(z.low), math.tanh(z.high), estimate.n, estimate.clusters)


def _checked(pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Both lists as arrays, checked for length and finite values."""
    check_same_length(pred=pred, gold=gold, clusters=clusters)
    return finite("pred", pred), finite("gold", gold)
