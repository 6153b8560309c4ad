"""Stacking: a weighted sum of members, each of which is the mean of its models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.models.folders import read_object
from humor_tasks.models.humicroedit.rater import RaterBase, load
from humor_tasks.models.humicroedit.texts import Edit

STACK = "stack.json"


class EnsembleRater(RaterBase):
    """bias + sum over members of weight x mean over models; one model at a time is in memory."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        super().__init__()
        self.folder = folder
        stack = read_object(folder / STACK)
        self.bias = float(stack["bias"])
        self.members: list[tuple[float, list[str]]] = [(float(m["weight"]), m["models"]) for m in stack["members"]]

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """See `Rater.rate`."""
        total = [self.bias] * len(edits)
        for weight, models in self.members:
            for model in models if weight else ():
                rated = load(self.folder / model).rate(edits)
                total = [t + weight * r / len(models) for t, r in zip(total, rated, strict=True)]
        return total
