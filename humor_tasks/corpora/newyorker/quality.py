"""Stage 4: the text-only quality model of the rated contests, and its validation on those that it did not see.

Hessel et al. (ACL 2023, Appendix C) report of theirs accuracy, and precision at 10, 20 and 30 of both ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.models.quality import Halves
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

AT = (1, 5, 10, 20, 30, 50, 100)


@dataclass
class Validation:
    """Accuracy, and precision at k of both ends, over contests.

    Ranked are the training captions of a contest, best and worst in equal numbers, so that chance is .5, by the model
    that did not see the contest. accuracy: the share of captions on the right side of even odds. precision at k of the
    best: of the k captions ranked highest, the share that are the crowd's best; of the worst: of the k ranked lowest,
    the share that are its worst. A contest with fewer captions than k is left out at that k.
    """

    shares: dict[str, list[float]] = field(default_factory=dict)

    def add(self, scores: Sequence[float], best: Sequence[bool]) -> None:
        """Add a contest's captions: their log-odds, and whether each is one of the crowd's best."""
        odds, good = np.asarray(scores, dtype=float), np.asarray(best, dtype=bool)
        order = np.argsort(-odds, kind="stable")
        for end, ranked in (("best", good[order]), ("worst", ~good[order[::-1]])):
            for k in AT:
                if k <= len(ranked):
                    self._add(f"precision at {k} of the {end}", ranked[:k])
        if len(good):
            self._add("accuracy", (odds > 0) == good)
            self._add("accuracy of halves", good[order][: len(good) // 2])

    def _add(self, name: str, right: NDArray[np.bool_]) -> None:
        self.shares.setdefault(name, []).append(float(right.mean()))

    def estimates(self) -> dict[str, Estimate]:
        """The mean of each over contests, with an interval within [0, 1]."""
        return {name: clustered_proportion(values, range(len(values))) for name, values in self.shares.items()}


def training(rows: Iterable[dict[str, Any]]) -> tuple[list[int], list[bool]]:
    """The places of a contest's training captions, and whether each is one of the best."""
    places, best = [], []
    for i, row in enumerate(rows):
        top, bottom = "train_top" in row["roles"], "train_bottom" in row["roles"]
        if top or bottom:
            places.append(i)
            best.append(top)
    return places, best


def scores(model: Halves, vectors: NDArray[Any], captions: Sequence[str], contest: int) -> NDArray[np.float64]:
    """The log-odds of a contest's captions, by the model that has not seen it."""
    return model.score(captions, [contest] * len(captions), vectors)
