"""A judge's preference for the text shown first, taken out by a threshold on its log odds.

Judges favour A. Zhang et al. (2024, arXiv 2406.10522, appendix C.2) answer A only where log P(A) - log P(B) exceeds a
threshold tau. Theirs is a constant of one judge; here it is fitted, on pairs that are not those it is applied to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from humor_tasks.errors import BadInput

from .arrays import Floats
from .validation import check_same_length


@dataclass(frozen=True)
class Threshold:
    """A fitted threshold `tau` in nats, and the `accuracy` that it has on the `n` pairs that it was fitted to."""

    tau: float
    accuracy: float
    n: int


def fit_threshold(log_odds: Sequence[float], first_is_right: Sequence[bool]) -> Threshold:
    """The threshold under which most answers are right: A where log odds > tau, else B.

    log_odds: log P(A) - log P(B) of each pair, in nats; infinite where a letter has no probability. first_is_right:
    whether A is the right answer. Every cut is tried: between any two neighbouring values, below all and above all.
    Neighbouring cuts with the same accuracy are one range. Of the ranges with the greatest accuracy, the one whose
    middle is closest to 0 is taken, the lower one of two, and tau is its middle. A range without an end counts as
    ending 1 beyond the last finite value; it is 0 where no value is finite. So no pair lies on the threshold's wrong
    side, as it would if tau were the value of the first pair to be answered with A.

    The accuracy is that of the fitted pairs themselves, and so too high for others. Raises BadInput without a pair, on
    nan and on lists of different length.
    """
    import numpy as np

    n = check_same_length(log_odds=log_odds, first_is_right=first_is_right)
    if n == 0:
        raise BadInput("there is no pair to fit a threshold to.")
    x, right = _checked(log_odds), np.asarray(first_is_right, dtype=bool)
    values, group = np.unique(x, return_inverse=True)
    gain = np.bincount(group, weights=np.where(right, -1, 1), minlength=len(values))
    # hits[k]: right answers where the k lowest values are answered with B.
    hits = right.sum() + np.concatenate([[0], np.cumsum(gain)]).astype(int)
    edges = np.concatenate([[-math.inf], values, [math.inf]])
    possible = edges[:-1] < edges[1:]  # no threshold is below -inf or above inf
    best = hits[possible].max()
    taus = [_middle(low, high) for low, high in _ranges(edges.tolist(), (possible & (hits == best)).tolist())]
    return Threshold(min(taus, key=lambda tau: (abs(tau), tau)), float(best / n), n)


def recalibrated(log_odds: Sequence[float], tau: float) -> list[Literal["A", "B"]]:
    """A for each of `log_odds` that exceeds `tau`, else B. Raises BadInput on nan."""
    if math.isnan(tau):
        raise BadInput("tau is nan; a threshold is a number of nats.")
    return ["A" if above else "B" for above in (_checked(log_odds) > tau).tolist()]


def _checked(log_odds: Sequence[float]) -> Floats:
    import numpy as np

    x: Floats = np.asarray(log_odds, dtype=float)
    if np.isnan(x).any():
        row = int(np.flatnonzero(np.isnan(x))[0])
        raise BadInput(f"log_odds[{row}] is nan: leave out pairs without log-probabilities, and count them.")
    return x


def _ranges(edges: list[float], chosen: list[bool]) -> list[tuple[float, float]]:
    """The ends of the runs of chosen cuts; cut k lies from edges[k] up to, and without, edges[k + 1]."""
    ranges: list[tuple[float, float]] = []
    for k, is_chosen in enumerate(chosen):
        if is_chosen and k and chosen[k - 1]:
            ranges[-1] = (ranges[-1][0], edges[k + 1])
        elif is_chosen:
            ranges.append((edges[k], edges[k + 1]))
    return ranges


def _middle(low: float, high: float) -> float:
    """The middle of a range, which includes its lower end only."""
    if math.isinf(low) and math.isinf(high):
        return 0.0
    low, high = (high - 1 if math.isinf(low) else low), (low + 1 if math.isinf(high) else high)
    middle = low + (high - low) / 2
    return middle if middle < high else low
