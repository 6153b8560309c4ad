"""How often a system is preferred in pairs, and how two systems' scores on the same items differ.

The worth of a pair to the system is 1 where it won, 0 where it lost, .5 for a tie; a number between, such as
the mean over both orders of a pair, is as good. What could not be read is for the caller to leave out and
to count: None and nan are refused.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, cluster_codes, clustered_mean, with_deviations
from .validation import check_same_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# The penalty RIDGE / 2 * phi^2 on the log-likelihood: as if phi came from a normal with a standard deviation of 3.2.
# At 0.01, a judge that always takes the longer would leave twice the noise in the win rate (50 pairs, 0.14 for 0.09).
RIDGE = 0.1
_STEPS = 100  # of Newton; some ten are usual


@dataclass(frozen=True)
class LengthControlled:
    """A win rate were both texts equally long, and phi, the log odds that length brings (see below)."""

    win_rate: Estimate
    length_effect: Estimate


def win_rate(preferences: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95) -> Estimate:
    """The mean worth of a pair, by `clustered_mean`: stderr clustered, interval t(G - 1), not clipped to [0, 1].

    A system that won (or lost) every pair has an error of 0, as every mean of equal values: little is known
    where these are few. Raises BadInput on a preference outside [0, 1], None or nan, naming the row.
    """
    check_preferences(preferences)
    return clustered_mean(preferences, clusters, level)


def win_rate_bootstrap(
    preferences: Sequence[float],
    clusters: Sequence[Hashable],
    draws: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    """The same win rate with a percentile interval from `draws` resamplings of whole clusters (multinomial).

    `stderr` is the standard deviation over the draws. Fewer than two clusters: stderr and interval are nan. The
    same seed gives the same interval. Raises BadInput as `win_rate` does, and on fewer than two draws.
    """
    check_draws(draws)
    found = win_rate(preferences, clusters, level)
    if found.clusters < 2:
        return found
    import numpy as np

    codes, count = cluster_codes(clusters)
    sums = np.bincount(codes, weights=np.asarray(preferences, dtype=float), minlength=count)
    sizes = np.bincount(codes, minlength=count)
    generator, chunk = np.random.default_rng(seed), max(1, 1_000_000 // count)
    means = []
    for start in range(0, draws, chunk):
        weights = generator.multinomial(count, np.full(count, 1 / count), min(chunk, draws - start))
        means.append((weights @ sums) / (weights @ sizes))
    drawn = np.concatenate(means)
    low, high = np.percentile(drawn, [50 * (1 - level), 50 * (1 + level)])
    return Estimate(found.value, float(drawn.std(ddof=1)), float(low), float(high), found.n, found.clusters)


def length_controlled_win_rate(
    preferences: Sequence[float],
    lengths: Sequence[float],
    other_lengths: Sequence[float],
    clusters: Sequence[Hashable],
    level: float = 0.95,
) -> LengthControlled:
    """The win rate were both texts equally long (Dubois et al. 2024, "Length-Controlled AlpacaEval", arXiv 2404.04475).

        logit P(the system wins) = theta + phi * tanh(d / sd(d)),   d = length - other length, in any one unit
        win rate = 1 / (1 + exp(-theta)),   length effect = phi

    AlpacaEval adds a term for how hard each instruction is, estimated from many systems' answers to it. It is left
    out, for one system's pairs do not tell it; that leaves more unexplained, and the error larger. sd has n - 1.

    The fit maximises the likelihood, a preference p counting as p of a win and 1 - p of a loss, less
    RIDGE / 2 * phi^2. The ridge keeps phi finite where a judge always takes the longer (the win rate is then near
    .5 if the system's texts are as often the longer, and phi says little but that it is large); otherwise it moves
    phi by about RIDGE over its information, some 1 % at a hundred pairs. theta is not penalised.

    The errors are the sandwich's, clustered as in `clustered_mean`; sd(d) is taken as given. The win rate's interval
    is theta's t(G - 1) interval carried over; its stderr is value * (1 - value) * theta's. All pairs of equal
    length: the plain win rate, its interval by the same way, and a length effect of nan. nan, too, for both where one
    side's texts are longer in every pair: what equal lengths would bring was not seen. All won or all lost:
    the plain win rate, 1 or 0, with an effect of nan. Raises BadInput as `win_rate` does, and on a length that is
    no finite number.
    """
    import numpy as np
    from scipy.special import expit

    check_level(level)
    n = check_same_length(preferences=preferences, lengths=lengths, other_lengths=other_lengths, clusters=clusters)
    check_preferences(preferences)
    y = np.asarray(preferences, dtype=float)
    d = _finite("lengths", lengths) - _finite("other_lengths", other_lengths)
    unknown = clustered_mean([math.nan] * n, clusters, level)
    if n and (d.min() > 0 or d.max() < 0):
        return LengthControlled(unknown, unknown)
    if n == 0 or y.min() == y.max() == round(y[0]):
        return LengthControlled(clustered_mean(preferences, clusters, level), unknown)
    x = np.tanh(d / d.std(ddof=1)) if d.any() else d
    design = np.column_stack((np.ones(n), x))
    beta, information = logistic_fit(design, y, 1.0, np.zeros(2), np.array([0.0, RIDGE]))
    influence = n * np.linalg.solve(information, (design * (y - expit(design @ beta))[:, None]).T)
    theta, phi = (with_deviations(float(beta[k]), influence[k].tolist(), clusters, level) for k in (0, 1))
    value, low, high = (float(expit(z)) for z in (theta.value, theta.low, theta.high))
    rate = Estimate(value, value * (1 - value) * theta.stderr, low, high, theta.n, theta.clusters)
    return LengthControlled(rate, phi if d.any() else unknown)


def paired_difference(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95
) -> Estimate:
    """The mean of first - second, two systems' scores on the same items, by `clustered_mean`.

    Pairing takes out what both find hard (Miller 2024, arXiv 2411.00640, section 4.2). Raises BadInput on a
    score that is None, nan or infinite, naming the row: an item that either lacks is in neither list.
    """
    check_same_length(first=first, second=second, clusters=clusters)
    return clustered_mean((_finite("first", first) - _finite("second", second)).tolist(), clusters, level)


def needed_items(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable],
    difference: float,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """How many items, spread over clusters as these are, show a true mean `difference` with probability `power`.

    Of a two-sided test at 1 - `level` of `paired_difference` (Miller 2024, arXiv 2411.00640, section 5):

        n = (z[(1 + level) / 2] + z[power])^2 * v / difference^2,   v = (items at hand) * stderr^2

    rounded up. v is the variance an item brings, inflation by clusters included. Normal quantiles: too few where
    that makes less than some thirty clusters. Raises BadInput as `paired_difference` does, on a difference of 0,
    a power or level outside (0, 1), fewer than two clusters, and differences without any spread.
    """
    from scipy.special import ndtri

    check_level(level)
    if not 0 < power < 1:
        raise BadInput(f"power is {power}; the chance to see the difference lies between 0 and 1, for example 0.8.")
    if not math.isfinite(difference) or difference == 0:
        raise BadInput(f"difference is {difference}; it must be a difference worth seeing, such as 0.05.")
    found = paired_difference(first, second, clusters, level)
    if not found.stderr > 0:
        raise BadInput(
            f"the standard error of these {found.n} differences in {found.clusters} clusters is {found.stderr}: "
            "they say nothing about how items vary. Take a pilot of more clusters."
        )
    quantiles = float(ndtri((1 + level) / 2) + ndtri(power))
    return math.ceil(quantiles**2 * found.n * found.stderr**2 / difference**2)


def check_preferences(preferences: Sequence[float]) -> None:
    """BadInput on a preference that is no number from 0 to 1."""
    for i, worth in enumerate(preferences):
        if not isinstance(worth, Real) or not 0 <= worth <= 1:
            raise BadInput(
                f"preferences[{i}] is {worth!r}; a pair's worth is from 0 (lost) to 1 (won), a tie .5, and what was "
                "not read is left out."
            )


def check_draws(draws: int) -> None:
    """BadInput on fewer than two draws."""
    if draws < 2:
        raise BadInput(f"draws is {draws}; a spread needs at least 2, an interval some thousands.")


def _finite(name: str, column: Sequence[float]) -> Floats:
    """`column` as an array; BadInput on what is no finite number."""
    import numpy as np

    for i, value in enumerate(column):
        if not isinstance(value, Real) or not math.isfinite(value):
            raise BadInput(f"{name}[{i}] is {value!r}; each row needs a number, and what was not read is left out.")
    return np.asarray(column, dtype=float)


def logistic_fit(
    design: Floats, won: Floats, games: Floats | float, start: Floats, ridge: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """The coefficients with the greatest penalised likelihood of `won` out of `games`, and the information there.

    Newton's steps, shortened so that each nears the maximum wherever it starts (Sun and Tran-Dinh 2019, Math.
    Prog. 178, for logistic losses), until none changes a row's log odds by 1e-9. nan should they not get there.
    """
    import numpy as np
    from scipy.special import expit

    beta, penalty = start, np.broadcast_to(ridge, start.shape)
    for _ in range(_STEPS):
        p = expit(design @ beta)
        information: Floats = (design.T * (games * p * (1 - p))) @ design + np.diag(penalty)
        step = np.linalg.solve(information, design.T @ (won - games * p) - penalty * beta)
        width = float(np.abs(design @ step).max())
        if width < 1e-9:
            return beta, information
        beta = beta + step * (math.log1p(width) / width)
    return np.full(len(beta), math.nan), information
