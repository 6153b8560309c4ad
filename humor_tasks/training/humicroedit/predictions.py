"""Predictions of a trained system in the organisers' format, and its metrics on the labelled splits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.data.writing import write_table
from humor_tasks.models.humicroedit.rater import Rater
from humor_tasks.scorers import regression
from humor_tasks.scorers.pairwise import pair_accuracy, pair_reward
from humor_tasks.training.humicroedit.data import Data


def predictions(rater: Rater, data: Data, output: Path) -> dict[str, Any]:
    """Write predictions_SPLIT_task-N.csv in the organisers' format; returns the metrics of the labelled splits."""
    metrics: dict[str, Any] = {}
    for split, rows in (("dev", data.dev), ("test", data.test)):
        if rows is None:
            continue
        rated = rater.rate(rows.edits)
        pairs = data.pairs[split]
        preferred = rater.prefer([pair.first for pair in pairs], [pair.second for pair in pairs])
        write_predictions(output / f"predictions_{split}_task-1.csv", rows.ids, rated)
        write_predictions(output / f"predictions_{split}_task-2.csv", [pair.id for pair in pairs], preferred)
        if None not in rows.means:
            metrics[f"{split}_rmse"] = rmse(rated, rows.grades)
        kept = [
            (predicted, pair.label, (pair.first.mean, pair.second.mean), pair.first.original)
            for predicted, pair in zip(preferred, pairs, strict=True)
            if pair.label and pair.first.mean is not None and pair.second.mean is not None
        ]
        if kept:
            predicted, labels, means, originals = zip(*kept, strict=True)
            metrics[f"{split}_accuracy"] = pair_accuracy(labels, predicted, originals).value
            metrics[f"{split}_reward"] = pair_reward(means, predicted, originals).value
    return metrics


def rmse(rated: Sequence[float], means: Sequence[float]) -> float:
    """The value of the RMSE, without its interval."""
    value: float = regression.rmse(rated, means, range(len(means))).value
    return value


def write_predictions(path: Path, ids: Sequence[str], values: Sequence[float]) -> None:
    """Write the organisers' submission format: id,pred."""
    write_table(path, ("id", "pred"), list(zip(ids, values, strict=True)), exact=True)
