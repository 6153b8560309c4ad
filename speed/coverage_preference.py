"""How often 95 % intervals hold the truth, with items clustered in contests, and with the clusters ignored.

Not speed, but measured all the same. A simulation has 60 to 130 contests of 3 to 5 items. Chance is one draw an item
or, with probability sqrt(.5), its contest's: two items of a contest have a correlation of .5, and each alone
follows the model exactly, so that the truth is known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from humor_tasks.scorers import Estimate
from humor_tasks.scorers.bradley_terry import bradley_terry
from humor_tasks.scorers.preference import length_controlled_win_rate, paired_difference, win_rate

SIMULATIONS, DRAWS = 1_000, 500  # of the Bradley-Terry cases, the slow ones; five times as many of the others
STRENGTHS = (0.9, 0.3, 0.0, -0.6)
THETA, PHI = 0.4, 1.0

Clusters = Sequence[int]
Found = Callable[[Clusters], Estimate]


@dataclass(frozen=True)
class Case:
    """A statistic, its true value, and what draws data and gives the statistic for clusters of its rows."""

    name: str
    truth: float
    simulations: int
    drawn: Callable[[np.random.Generator, Clusters], tuple[Clusters, Found]]


def shared(rng: np.random.Generator, contests: Clusters, width: int = 1) -> Any:
    """Uniform numbers, items x width, an item's own or its contest's."""
    own, theirs = rng.random((len(contests), width)), rng.random((max(contests) + 1, width))
    takes_theirs = rng.random(len(contests)) < math.sqrt(0.5)
    return np.where(takes_theirs[:, None], theirs[np.asarray(contests)], own)


def of_wins(function: Callable[..., Estimate], rng: np.random.Generator, contests: Clusters) -> tuple[Clusters, Found]:
    won = (shared(rng, contests)[:, 0] < 0.6).astype(float).tolist()
    return contests, lambda clusters: function(won, clusters)


def of_lengths(rng: np.random.Generator, contests: Clusters) -> tuple[Clusters, Found]:
    lengths = rng.normal(500, 150, len(contests))
    others = rng.normal(400, 150, len(contests))
    odds = THETA + PHI * np.tanh((lengths - others) / math.hypot(150, 150))
    won = (shared(rng, contests)[:, 0] < 1 / (1 + np.exp(-odds))).astype(float).tolist()
    return (
        contests,
        lambda clusters: length_controlled_win_rate(won, lengths.tolist(), others.tolist(), clusters).win_rate,
    )


def of_two(rng: np.random.Generator, contests: Clusters) -> tuple[Clusters, Found]:
    first, second = ((shared(rng, contests)[:, 0] < rate).astype(float).tolist() for rate in (0.6, 0.5))
    return contests, lambda clusters: paired_difference(first, second, clusters)


def of_many(reference: str | None, draws: int, rng: np.random.Generator, contests: Clusters) -> tuple[Clusters, Found]:
    """All pairs of the systems on each item: who has the most of strength and Gumbel noise wins, which is the model."""
    worth = np.array(STRENGTHS) - np.log(-np.log(shared(rng, contests, len(STRENGTHS))))
    rows = [
        (str(a), str(b), float(item[a] > item[b]), contest)
        for item, contest in zip(worth, contests, strict=True)
        for a in range(len(STRENGTHS))
        for b in range(a)
    ]
    first, second, won, by = (list(column) for column in zip(*rows, strict=True))
    return (
        by,
        lambda clusters: bradley_terry(first, second, won, clusters, draws=draws, reference=reference)["0"].estimate,
    )


def cases(draws: int = DRAWS) -> list[Case]:
    many = 5 * SIMULATIONS
    centred, gap = STRENGTHS[0] - sum(STRENGTHS) / len(STRENGTHS), STRENGTHS[0] - STRENGTHS[3]
    return [
        Case("win rate", 0.6, many, functools.partial(of_wins, win_rate)),
        Case("win rate, length-controlled", 1 / (1 + math.exp(-THETA)), many, of_lengths),
        Case("paired difference", 0.1, many, of_two),
        Case("Bradley-Terry strength", centred, SIMULATIONS, functools.partial(of_many, None, draws)),
        Case("Bradley-Terry difference", gap, SIMULATIONS, functools.partial(of_many, "3", draws)),
    ]


def coverage(case: Case, simulations: int, by_row_every: int = 1) -> tuple[float, float]:
    """The share of intervals that hold the truth: by contest, and with each row its own cluster.

    The second, which is off by far, is taken from one simulation in `by_row_every`.
    """
    rng, by_contest, by_row = np.random.default_rng(0), [], []
    for simulation in range(simulations):
        sizes = rng.integers(3, 6, rng.integers(60, 131))
        contests, found = case.drawn(rng, np.repeat(np.arange(len(sizes)), sizes).tolist())
        by_contest.append(holds(found(contests), case.truth))
        if simulation % by_row_every == 0:
            by_row.append(holds(found(range(len(contests))), case.truth))
    return sum(by_contest) / len(by_contest), sum(by_row) / len(by_row)


def holds(interval: Estimate, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def main() -> None:
    print("coverage of 95 % intervals (goal: 93 to 97 % by contest)")
    print(f"{'':28} {'simulations':>12} {'by contest':>12} {'rows as independent':>20}")
    for case in cases():
        by_contest, by_row = coverage(case, case.simulations)
        print(f"{case.name:28} {case.simulations:12} {by_contest:12.1%} {by_row:20.1%}", flush=True)


if __name__ == "__main__":
    main()
