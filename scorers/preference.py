"""Win rates from pairwise preferences, and paired differences of two systems' scores.

A preference is the system's result in a pair: 1 for a win, 0 for a loss, .5 for a tie. Values between are allowed, such
as the mean over both presentation orders of a pair. The caller must leave out and count pairs without a readable
preference; None and nan are refused.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Real

from humor_tasks.errors import BadInput

from .arrays import Floats
from .estimate import Estimate, check_level, clustered_mean, with_deviations
from .proportion import clustered_proportion
from .validation import check_same_length

# The penalty RIDGE / 2 * phi^2 on the log-likelihood equals a normal prior on phi with a standard deviation of 3.2.
# At 0.01, a judge that always prefers longer texts makes the win rate noisier (50 pairs: 0.14, not 0.09).
RIDGE = 0.1
_MAX_STEPS = 100  # of Newton's method; about ten are usual


@dataclass(frozen=True)
class LengthControlled:
    """The win rate adjusted for length, and phi, the length effect in log odds (see `length_controlled_win_rate`)."""

    win_rate: Estimate
    length_effect: Estimate


def win_rate(preferences: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95) -> Estimate:
    """The mean preference, by `clustered_proportion`: clustered stderr, interval within [0, 1].

    A system that won (or lost) every pair has a stderr of 0, as any mean of equal values has, but an interval that
    depends on the number of clusters. Raises BadInput on a preference that is None, nan or outside [0, 1], naming the
    row.
    """
    check_preferences(preferences)
    return clustered_proportion(preferences, clusters, level)


def length_controlled_win_rate(
    preferences: Sequence[float],
    lengths: Sequence[float],
    other_lengths: Sequence[float],
    clusters: Sequence[Hashable],
    level: float = 0.95,
) -> LengthControlled:
    """Length-controlled win rate: the win rate adjusted for length by logistic regression.

    The method is that of Dubois et al. 2024, "Length-Controlled AlpacaEval", arXiv 2404.04475; lengths are in any unit:

        logit P(the system wins) = theta + phi * tanh(d / sd(d)),   d = length - other length
        win rate = 1 / (1 + exp(-theta)),   length effect = phi

    AlpacaEval also has a term for the difficulty of each instruction, estimated from many systems' outputs. It is left
    out here, because one system's pairs do not identify it; this leaves more unexplained variance and a larger error.
    sd has n - 1 in its denominator.

    The fit maximises the log-likelihood minus RIDGE / 2 * phi^2; a preference p counts as p of a win and 1 - p of a
    loss. The ridge penalty keeps phi finite if a judge always prefers the longer text. (The win rate is then near .5 if
    the system's texts are equally often longer and shorter, and phi only shows that the effect is large.) Otherwise it
    changes phi by about RIDGE over its information, about 1 % with a hundred pairs. theta is not penalised.

    Standard errors are sandwich estimates, clustered as in `clustered_mean`, with sd(d) treated as known. The win
    rate's interval is theta's t(G - 1) interval transformed by the logistic function; its stderr is value * (1 - value)
    * theta's.

    Special cases. All pairs of equal length: the plain win rate, with the same kind of interval, and a length effect of
    nan. One side longer in every pair: both are nan, because the data do not show the result at equal length. All pairs
    won or all lost: the plain win rate, 1 or 0, and a length effect of nan. Raises BadInput as `win_rate` does, on
    lists of different length, and on a length that is not a finite number.
    """
    import numpy as np
    from scipy.special import expit

    check_level(level)
    n = check_same_length(preferences=preferences, lengths=lengths, other_lengths=other_lengths, clusters=clusters)
    check_preferences(preferences)
    y = np.asarray(preferences, dtype=float)
    d = finite("lengths", lengths) - finite("other_lengths", other_lengths)
    unknown = clustered_mean([math.nan] * n, clusters, level)
    if n and (d.min() > 0 or d.max() < 0):
        return LengthControlled(unknown, unknown)
    if n == 0 or y.min() == y.max() == round(y[0]):
        return LengthControlled(win_rate(preferences, clusters, level), unknown)
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

    Pairing removes the variance of item difficulty (Miller 2024, arXiv 2411.00640, section 4.2). Items that one system
    lacks must be left out of both lists. Raises BadInput on a score that is None, nan or infinite, naming the row.
    """
    check_same_length(first=first, second=second, clusters=clusters)
    return clustered_mean((finite("first", first) - finite("second", second)).tolist(), clusters, level)


def needed_items(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable],
    difference: float,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """Power analysis: the number of items needed to detect a true mean `difference` with probability `power`.

    The items are assumed to be spread over clusters like the given ones. The test is two-sided on `paired_difference`
    at significance level 1 - `level` (Miller 2024, arXiv 2411.00640, section 5):

        n = (z[(1 + level) / 2] + z[power])^2 * v / difference^2,   v = (items given) * stderr^2

    rounded up. v is the variance per item, including the inflation by clustering. The formula uses normal quantiles, so
    the result is too small where it corresponds to fewer than about thirty clusters. Raises BadInput as
    `paired_difference` does, on a difference of 0, a power or level outside (0, 1), fewer than two clusters, and
    differences without variance.
    """
    from scipy.special import ndtri

    check_level(level)
    check_power(power, difference)
    e = paired_difference(first, second, clusters, level)
    if not e.stderr > 0:
        raise BadInput(
            f"the standard error of these {e.n} differences in {e.clusters} clusters is {e.stderr}: "
            "it does not show how items vary. Use a pilot sample with more clusters."
        )
    quantiles = float(ndtri((1 + level) / 2) + ndtri(power))
    return math.ceil(quantiles**2 * e.n * e.stderr**2 / difference**2)


def check_power(power: float, difference: float) -> None:
    """Raise BadInput on a power outside (0, 1), and on a difference that no number of items detects."""
    if not 0 < power < 1:
        raise BadInput(
            f"power is {power}; the probability of detecting the difference is between 0 and 1, such as 0.8."
        )
    if not math.isfinite(difference) or difference == 0:
        raise BadInput(f"difference is {difference}; it must be the smallest difference to detect, such as 0.05.")


def check_preferences(preferences: Sequence[float]) -> None:
    """Raise BadInput on a preference that is not a number from 0 to 1."""
    for i, preference in enumerate(preferences):
        if not isinstance(preference, Real) or not 0 <= preference <= 1:
            raise BadInput(
                f"preferences[{i}] is {preference!r}; a preference is from 0 (lost) to 1 (won), .5 for a tie; leave "
                "out unparsed pairs."
            )


def check_draws(draws: int) -> None:
    """Raise BadInput on fewer than two draws."""
    if draws < 2:
        raise BadInput(f"draws is {draws}; a standard deviation needs at least 2, an interval some thousands.")


def finite(name: str, column: Sequence[float]) -> Floats:
    """`column` as an array; raises BadInput on a value that is not a finite number."""
    import numpy as np

    known = np.asarray(column)
    if known.dtype.kind not in "biuf" or not np.isfinite(known).all():
        for i, value in enumerate(column):
            if not isinstance(value, Real) or not math.isfinite(value):
                raise BadInput(f"{name}[{i}] is {value!r}; each row needs a finite number; leave out unparsed rows.")
    return np.asarray(column, dtype=float)


def logistic_fit(
    design: Floats, won: Floats, games: Floats | float, start: Floats, ridge: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Penalised maximum-likelihood coefficients of a binomial logistic regression, and the information matrix there.

    `won` holds the wins out of `games` per row of `design`. Newton steps are damped so that they converge from any
    starting point (Sun and Tran-Dinh 2019, Math. Prog. 178, for logistic losses). They stop when no row's log odds
    change by 1e-9; the coefficients are nan if that does not happen.
    """
    import numpy as np
    from scipy.special import expit

    beta, penalty = start, np.broadcast_to(ridge, start.shape)
    for _ in range(_MAX_STEPS):
        p = expit(design @ beta)
        information: Floats = (design.T * (games * p * (1 - p))) @ design + np.diag(penalty)
        step = np.linalg.solve(information, design.T @ (won - games * p) - penalty * beta)
        width = float(np.abs(design @ step).max())
        if width < 1e-9:
            return beta, information
        beta = beta + step * (math.log1p(width) / width)
    return np.full(len(beta), math.nan), information
