"""One classifier per judge's grade, averaged with a regression of the mean grade: `grades` (IRLab DAIICT)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humor_tasks.data.writing import write_json
from humor_tasks.models.humicroedit.features import STACK, EnsembleRater
from humor_tasks.models.humicroedit.rater import Rater
from humor_tasks.training.folder import IS_MAIN
from humor_tasks.training.humicroedit.config import JUDGES, TrainConfig
from humor_tasks.training.humicroedit.data import Data
from humor_tasks.training.humicroedit.ensemble import Train


def fit_grades(
    config: TrainConfig, data: Data, output: Path, progress: bool, train: Train
) -> tuple[Rater, dict[str, Any]]:
    """The rater whose members are `encoder` systems, each a run folder: one for each grade, and the regression.

    The files list a headline's grades from the highest to the lowest, so the classifiers are of the highest grade, the
    second and so on, not of one person each.
    """
    members = []
    for judge in range(JUDGES + 1):
        folder = f"members/{f'judge-{judge}' if judge else 'mean'}"
        train(config.with_values(system="encoder", judge=judge), output / folder, data, progress)
        members.append({"name": folder, "weight": 0.5 / JUDGES if judge else 0.5, "models": [folder]})
    if IS_MAIN:
        write_json(output / STACK, {"bias": 0.0, "members": members})
    return EnsembleRater(output, config.as_dict()), {"members": len(members)}
