"""Stage 4: the text-only quality model of the rated contests, and its precision on those that it did not see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.models.quality import Quality
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

AT = (1, 5, 10, 50, 100)


@dataclass
class Precision:
    """Precision at k over contests: of the k captions that a model ranks highest, the share that the crowd's are.

    Ranked are the training captions of a contest, best and worst in equal numbers, so that chance is .5, by the model
    that did not see the contest. A contest with fewer captions than k is left out at that k.
    """

    shares: dict[int, list[float]] = field(default_factory=lambda: {k: [] for k in AT})
    right: list[float] = field(default_factory=list)

    def add(self, scores: Sequence[float], best: Sequence[bool]) -> None:
        """Add a contest's captions: their scores, and whether each is one of the crowd's best."""
        order = np.argsort(-np.asarray(scores, dtype=float), kind="stable")
        good = np.asarray(best, dtype=float)[order]
        for k in AT:
            if k <= len(good):
                self.shares[k].append(float(good[:k].mean()))
        if len(good):
            self.right.append(float(good[: len(good) // 2].mean()))

    def estimates(self) -> dict[str, Estimate]:
        """Precision at each k, and the accuracy of the upper half; the share over contests with its interval."""
        named = {f"precision at {k}": values for k, values in self.shares.items() if values}
        return {
            name: clustered_proportion(values, range(len(values)))
            for name, values in (named | {"accuracy of halves": self.right}).items()
            if values
        }


def training(rows: Iterable[dict[str, Any]]) -> tuple[list[int], list[bool]]:
    """The places of a contest's training captions, and whether each is one of the best."""
    places, best = [], []
    for i, row in enumerate(rows):
        top, bottom = "train_top" in row["roles"], "train_bottom" in row["roles"]
        if top or bottom:
            places.append(i)
            best.append(top)
    return places, best


def scores(model: Quality, vectors: NDArray[Any], captions: Sequence[str], contest: int) -> NDArray[np.float64]:
    """The log-odds of a contest's captions, by the model that has not seen it."""
    return model.score_vectors(vectors, captions, [contest] * len(captions))
