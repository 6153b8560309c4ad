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
of atanh(r), with the stderr stderr(r) / (1 - r^2), transformed back by tanh. `cluster_bootstrap` computes percentile
intervals of all metrics for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from humor_tasks.errors import BadInput

from .estimate import Estimate, cluster_codes, clustered_mean, linearised, with_deviations, with_interval
from .validation import check_same_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PERCENTS = (10, 20, 30, 40)
SCALE = (0.0, 3.0)

# Array elements per chunk that fit in a processor's cache; larger chunks are slower and make BLAS start threads.
_CHUNK = 75_000


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
    return linearised(lambda mean: mean**0.5, [((x - y) ** 2).tolist()], clusters, level)


def rmse_at(
    pred: Sequence[float], gold: Sequence[float], clusters: Sequence[Hashable], percent: float, level: float = 0.95
) -> Estimate:
    """The RMSE over the `percent` % of rows with the highest gold and the `percent` % with the lowest.

    k = round(percent % of n), half to even and at most n/2; the value is nan where k is 0. Ties at a cut share the
    remaining places (see above). For each end, let `a` be the mean over all rows of [gold beyond the cut], `A` of that
    times e^2, `p` of [gold at the cut] and `P` of that times e^2. The linearised function is

        T = (A + (k/n - a) P / p) / (k/n);    rmse@X = sqrt((T of the top + T of the bottom) / 2)

    `n` and `clusters` count all rows, because all rows determine the cuts. Where few rows are tied at a cut, P / p is
    an imprecise estimate of the squared error there; prefer `cluster_bootstrap` then. Raises BadInput as `rmse` does,
    and on a percent outside (0, 50].
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

    return linearised(f, [column.tolist() for column in columns], clusters, level)


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


def cluster_bootstrap(
    pred: Sequence[float],
    gold: Sequence[float],
    clusters: Sequence[Hashable],
    draws: int = 10_000,
    seed: int = 0,
    width: float = 0.2,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """Every metric of `rating_metrics` with a percentile interval from `draws` resamplings of whole clusters.

    G clusters are drawn with replacement (multinomially), and every metric is recomputed on the drawn rows, including
    the cuts of rmse@X and the ranks of spearman. `stderr` is the standard deviation over the draws. Draws in which a
    metric is undefined (an empty bin, constant predictions) are left out for that metric. With fewer than two clusters,
    stderr and interval are nan. The same seed gives the same intervals. Raises BadInput as `rmse` and `mae_by_bin` do,
    on a level outside (0, 1) and on fewer than two draws.
    """
    import numpy as np

    if draws < 2:
        raise BadInput(f"draws is {draws}; a standard deviation needs at least 2, an interval some thousands.")
    metrics = rating_metrics(pred, gold, clusters, width, level)
    codes, count = cluster_codes(clusters)
    if count < 2:
        return metrics
    x, y = _checked(pred, gold, clusters)
    compute = _bootstrap_metrics(x, y, np.asarray(codes), count, width)
    generator = np.random.default_rng(seed)
    chunk = max(8, min(draws, _CHUNK // len(x)))
    parts = []
    for start in range(0, draws, chunk):
        size = min(chunk, draws - start)
        # Counting uniform draws gives multinomial weights, three times as fast as numpy's multinomial.
        drawn = generator.integers(0, count, (size, count)) * size + np.arange(size)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=count * size).reshape(count, size)
        parts.append(compute(weights.astype(float)))
    tails = [50 * (1 - level), 50 * (1 + level)]
    for (name, e), row in zip(metrics.items(), np.concatenate(parts, axis=1), strict=True):
        known = row[~np.isnan(row)]
        low, high = np.percentile(known, tails) if len(known) else (math.nan, math.nan)
        spread = float(known.std(ddof=1)) if len(known) > 1 else math.nan
        metrics[name] = Estimate(e.value, spread, float(low), float(high), e.n, e.clusters)
    return metrics


def _bootstrap_metrics(
    x: Floats, y: Floats, codes: NDArray[np.intp], count: int, width: float
) -> Callable[[Floats], Floats]:
    """A function that computes every metric (one per row) from the clusters' weights (clusters x draws)."""
    import numpy as np

    errors = x - y
    cx, cy = ((v - v.mean()) / (v.std() or 1.0) for v in (x, y))
    moments = np.zeros((5, count))
    np.add.at(moments.T, codes, np.column_stack((cx, cy, cx * cx, cy * cy, cx * cy)))
    by_gold, by_pred = np.argsort(y), np.argsort(x)
    golds, grade = np.unique(y, return_inverse=True)
    values, value = np.unique(x[by_pred], return_inverse=True)
    gold_starts, value_starts = np.searchsorted(y[by_gold], golds), np.searchsorted(x[by_pred], values)
    number, edges = _bins(golds, width)
    in_bin = (np.arange(len(edges) - 1)[:, None] == number).astype(float)
    absolute, squares = abs(errors)[by_gold, None], (errors**2)[by_gold, None]

    def compute(weights: Floats) -> Floats:
        drawn = weights.take(codes[by_gold], axis=0)
        at = np.add.reduceat(drawn, gold_starts)
        square_at, absolute_at = (np.add.reduceat(drawn * e, gold_starts) for e in (squares, absolute))
        size = at.sum(axis=0)
        drawn = weights.take(codes[by_pred], axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.vstack(
                (
                    np.sqrt(square_at.sum(axis=0) / size),
                    *(_both_ends(at, square_at, size, percent) for percent in PERCENTS),
                    _correlation(*(moments @ weights) / size),
                    _rank_correlation(drawn, at, value, value_starts, grade[by_pred], size),
                    (in_bin @ absolute_at) / (in_bin @ at),
                )
            )

    return compute


def _correlation(mx: Floats, my: Floats, xx: Floats, yy: Floats, xy: Floats) -> Floats:
    """Pearson's r from the means of x, y, x^2, y^2 and xy; nan where a variance is zero up to rounding."""
    import numpy as np

    spread_x, spread_y = xx - mx * mx, yy - my * my
    varied = (spread_x > 1e-12 * xx) & (spread_y > 1e-12 * yy)
    return np.where(varied, (xy - mx * my) / np.sqrt(spread_x * spread_y), math.nan)


def _both_ends(at: Floats, square_at: Floats, size: Floats, percent: float) -> Floats:
    """rmse@X from the number of rows and the sum of squared errors per grade (grades x draws), lowest grade first."""
    import numpy as np

    k = np.minimum(np.rint(percent * size / 100), size // 2)
    mean_at = np.divide(square_at, at, out=np.zeros_like(at), where=at > 0)
    total = np.zeros_like(size)
    for end in (slice(None), slice(None, None, -1)):
        before = np.cumsum(at[end], axis=0) - at[end]
        total += (np.clip(k - before, 0, at[end]) * mean_at[end]).sum(axis=0)
    result: Floats = np.sqrt(total / (2 * k))
    return result


def _rank_correlation(
    drawn: Floats,
    at: Floats,
    value: NDArray[np.intp],
    value_starts: NDArray[np.intp],
    grade: NDArray[np.intp],
    size: Floats,
) -> Floats:
    """Spearman's rho of rows with multiplicities `drawn` (rows sorted by prediction x draws)."""
    import numpy as np

    gold_ranks = np.cumsum(at, axis=0) - at / 2 - size / 2
    tied = len(value_starts) < len(value)
    times = np.add.reduceat(drawn, value_starts) if tied else drawn
    ranks = np.cumsum(times, axis=0)
    ranks -= times / 2
    ranks -= size / 2
    both = np.einsum("ij,ij,ij->j", drawn, ranks[value] if tied else ranks, gold_ranks.take(grade, axis=0))
    squares = np.einsum("ij,ij,ij->j", times, ranks, ranks)
    gold_squares = np.einsum("ij,ij,ij->j", at, gold_ranks, gold_ranks)
    result: Floats = both / np.sqrt(squares * gold_squares)
    return result


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
    import numpy as np

    check_same_length(pred=pred, gold=gold, clusters=clusters)
    arrays = []
    for name, column in {"pred": pred, "gold": gold}.items():
        x = np.asarray(column, dtype=float)
        if not np.isfinite(x).all():
            i = int(np.flatnonzero(~np.isfinite(x))[0])
            raise BadInput(f"{name}[{i}] is {column[i]}; each row needs a finite number; leave out unparsed rows.")
        arrays.append(x)
    return arrays[0], arrays[1]
