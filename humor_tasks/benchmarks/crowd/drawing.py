"""Pairs of a contest's captions whose ratings differ significantly (Zhang et al. 2024, arXiv 2406.10522)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.data.contests.contest_csv import Contest
from humor_tasks.data.contests.defects import defects

DRAWS = 200_000
APART = 3.0
"""Standard errors between the two means."""


@dataclass(frozen=True)
class Drawn:
    """Accepted pairs of places in a contest [pairs, 2], the better caption first, and what is told of the contest.

    accepted: share of all draws that the rule accepts. repeats: pairs that are there before. same: accepted draws left
    out because both captions are the same words. tied: the share of captions with the commonest mean.
    """

    places: NDArray[np.int64]
    captions: int
    accepted: float
    repeats: int
    same: int
    votes: float
    tied: float
    unknown: int
    doubts: tuple[str, ...] = ()

    def warnings(self, wanted: int) -> list[str]:
        """What makes the contest's pairs few or doubtful."""
        found = [f"{len(self.places):,} of {wanted:,} pairs in {DRAWS:,} draws"] if len(self.places) < wanted else []
        return [*found, *self.doubts]


def draw(contest: Contest, wanted: int, seed: int, distinct: bool = False) -> Drawn:
    """`wanted` pairs of a rated contest, whose captions are in the crowd's order.

    Of N captions, the chosen one's place c is uniform in 0..floor(N/2) and the rejected one's uniform in c+1..N-1. The
    pair is accepted where mean_c - mean_r > 3 sqrt(precision_c^2 + precision_r^2); precision is one standard error. At
    most DRAWS are drawn. A pair may come again, unless `distinct`. A caption without a standard error is never
    accepted. The draws depend on the seed and the contest's number alone.
    """
    n = len(contest.caption)
    mean, error = _ratings(contest)
    if n < 2:
        return Drawn(np.zeros((0, 2), np.int64), n, 0.0, 0, 0, 0.0, 0.0, int(np.isinf(error).sum()))
    stream = np.random.default_rng([seed, contest.number])
    chosen = stream.integers(0, min(n // 2, n - 2) + 1, size=DRAWS)
    rejected = stream.integers(chosen + 1, n)
    apart, same = differ(contest, chosen, rejected)
    places = np.stack([chosen, rejected], axis=1)[apart & ~same]
    first = first_times(places, n)
    if distinct:
        places, first = places[first], first[first]
    taken = slice(0, wanted)
    return Drawn(
        places[taken],
        n,
        float(apart.mean()),
        int((~first[taken]).sum()),
        int(same.sum()),
        float(np.median([votes or 0 for votes in contest.votes])),
        float(np.unique(mean, return_counts=True)[1].max() / n),
        int(np.isinf(error).sum()),
        tuple(map(str, defects(contest))),
    )


def _ratings(contest: Contest) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and standard error of each caption; nan and infinite where there is none."""
    mean = np.array([np.nan if value is None else value for value in contest.mean])
    return mean, np.array([np.inf if value is None else value for value in contest.precision])


def differ(
    contest: Contest, chosen: NDArray[Any], rejected: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the rule accepts each pair of captions, by index, and whether it does though both are the same words."""
    mean, error = _ratings(contest)
    apart = mean[chosen] - mean[rejected] > APART * np.sqrt(error[chosen] ** 2 + error[rejected] ** 2)
    words = np.unique(np.array(contest.key), return_inverse=True)[1]
    return apart, apart & (words[chosen] == words[rejected])


def first_times(places: NDArray[Any], n: int) -> NDArray[np.bool_]:
    """Whether each pair [pairs, 2] of n captions is there for the first time."""
    first = np.zeros(len(places), bool)
    first[np.unique(places[:, 0] * n + places[:, 1], return_index=True)[1]] = True
    return first
