"""Stacking: members, each the mean of its models, are combined by weights or by boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.models.folders import read_object
from humor_tasks.models.humicroedit.features import TREES, Trees
from humor_tasks.models.humicroedit.rater import RaterBase, load
from humor_tasks.models.humicroedit.texts import Edit

STACK = "stack.json"


class Weighted:
    """bias + sum over members of weight x rating."""

    def __init__(self, weights: Sequence[float], bias: float = 0.0) -> None:
        self.weights, self.bias = list(weights), bias

    def __call__(self, rows: Any) -> Any:
        """Ratings [rows] of the members' ratings [rows, members]."""
        import numpy as np

        return rows @ np.array(self.weights) + self.bias


class EnsembleRater(RaterBase):
    """The members' ratings, combined; one model at a time is in memory. A member without weight is not asked."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        super().__init__()
        self.folder = folder
        stack = read_object(folder / STACK)
        members = [member for member in stack["members"] if member["weight"] != 0]
        self.models: list[list[str]] = [member["models"] for member in members]
        trees = folder / TREES
        self.combine = (
            Trees.saved(trees) if trees.is_file() else Weighted([m["weight"] for m in members], float(stack["bias"]))
        )

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """See `Rater.rate`."""
        import numpy as np

        if not self.models:
            return [float(x) for x in self.combine(np.zeros((len(edits), 0)))]
        members = [[load(self.folder / model).rate(edits) for model in models] for models in self.models]
        return [float(x) for x in self.combine(np.stack([np.mean(models, axis=0) for models in members], axis=1))]
