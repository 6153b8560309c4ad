"""What quality models have in common: two halves, each trained on the contests of one parity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDES = ("even", "odd")


class Halves(ABC):
    """Two judges of captions; `contests` are those that each was trained on, the even and the odd ones."""

    contests: tuple[tuple[int, ...], tuple[int, ...]]

    @abstractmethod
    def score_vectors(
        self, vectors: NDArray[Any], captions: Sequence[str], contests: Sequence[int | None]
    ) -> NDArray[np.float64]:
        """Log-odds [captions] that each is one of the crowd's best, from their unit vectors [captions, dimensions].

        They are the odds among as many of the best as of the worst captions; their logistic is a probability.
        contests: the number of each caption's contest, None where it is unknown. A contest that one half saw is judged
        by the other one; the others by the mean of both.
        """

    @abstractmethod
    def score(self, captions: Sequence[str], contests: Sequence[int | None]) -> NDArray[np.float64]:
        """`score_vectors` of captions that are embedded here."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model's folder, atomically."""

    def judge(self, contest: int | None) -> int | None:
        """Which half judges a contest: the one that has not seen it, 0 or 1; None for both."""
        even, odd = self._seen
        return 1 if contest in even else 0 if contest in odd else None

    def of_unseen(self, both: NDArray[Any], contests: Sequence[int | None]) -> NDArray[np.float64]:
        """From the log-odds of both halves [2, captions] those of the half that has not seen the contest."""
        by = {contest: self.judge(contest) for contest in set(contests)}
        found = [
            pair.mean() if by[contest] is None else pair[by[contest]]
            for pair, contest in zip(both.T, contests, strict=True)
        ]
        return np.array(found, dtype=np.float64)

    @cached_property
    def _seen(self) -> tuple[frozenset[int], frozenset[int]]:
        return frozenset(self.contests[0]), frozenset(self.contests[1])


def sides_of(contests: Iterable[int], same: Iterable[tuple[int, int]]) -> dict[int, int]:
    """contest -> 0 for the even half, 1 for the odd one; contests with the same captions are on one side."""
    lower: dict[int, int] = {}

    def lowest(contest: int) -> int:
        while contest in lower:
            contest = lower[contest]
        return contest

    twins = list(same)
    for pair in twins:
        a, b = sorted(map(lowest, pair))
        if a != b:
            lower[b] = a
    return {contest: lowest(contest) % 2 for contest in {*contests, *(each for pair in twins for each in pair)}}
