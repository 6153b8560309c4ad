"""A run folder from config to metrics: trains and predicts for both subtasks; an interrupted run resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.humicroedit.rating import RATING
from humor_tasks.lab.training.humicroedit.data import Data, predictions, read_data
from humor_tasks.lab.training.humicroedit.settings import TrainConfig
from humor_tasks.lab.training.run_folders import IS_MAIN, record, run_in
from humor_tasks.models.humicroedit.rater import Rater, text_of

# These systems train in all processes of `accelerate launch`, the others in the main process.
NETWORKS = ("vectors", "encoder", "pair")
DISTRIBUTED = (*NETWORKS, "grades", "ensemble")


def train(config: TrainConfig, output: Path, data: Data | None = None, progress: bool = True) -> dict[str, Any]:
    """The metrics of the run in `output`, which is started, resumed, or already finished.

    Raises BadInput where the folder holds a run with other settings, and for invalid data.
    """

    def read() -> Data:
        return data or read_data(
            config.dataset, _wants_funlines(config), config.funlines_grades, config.share, config.seed
        )

    def run(data: Data) -> dict[str, Any] | None:
        if not IS_MAIN and config.system not in DISTRIBUTED:
            return {}
        text = text_of(config.as_dict())
        data = data.prepared(text)
        fitted = _fit(config, data, output, progress)
        if fitted is None:
            return None
        if not IS_MAIN:
            return {}
        units = {split: [RATING.unit(group) for group in rows.groups] for split, rows in data.splits.items()}
        source = {"dataset": config.dataset, "fingerprint": data.sha256["task-1/train"]}
        record(output, RATING.name, source, "", units)
        rows = {"train": len(data.train), "funlines": len(data.extra), "dev": len(data.dev)}
        fitted[0].text = text
        return predictions(fitted[0], data, output) | fitted[1] | {"rows": rows, "sha256": data.sha256}

    return run_in(output, config.as_dict(), read, run, shared=bool(config.part))


def summary(metrics: dict[str, Any]) -> list[str]:
    """The metrics, one a line."""
    if not metrics:
        return ["This part is trained; when all parts are, run the command without --part."]
    return [
        f"{name:<22}{value:.{0 if name == 'seconds' else 5}f}"
        for name, value in metrics.items()
        if isinstance(value, float)
    ]


def _wants_funlines(config: TrainConfig) -> bool:
    if config.system != "ensemble":
        return config.funlines
    from humor_tasks.lab.training.humicroedit.ensemble import grid_members

    return any(member.funlines for member in grid_members(config).values())


def _fit(config: TrainConfig, data: Data, output: Path, progress: bool) -> tuple[Rater, dict[str, Any]] | None:
    """Train and write the model's files; returns the rater and notes, or None where other processes are not done."""
    if config.system == "ensemble":
        from humor_tasks.lab.training.humicroedit.ensemble import fit_ensemble

        return fit_ensemble(config, data, output, progress, train)
    if config.system == "grades":
        from humor_tasks.lab.training.humicroedit.ensemble import fit_grades

        return fit_grades(config, data, output, progress, train)
    if config.system in NETWORKS:
        from humor_tasks.lab.training.humicroedit.finetune import fit_network

        return fit_network(config, data, output, progress)
    from humor_tasks.lab.training.humicroedit.features import fit_baseline, fit_features

    return (fit_baseline if config.system == "baseline" else fit_features)(config, data, output)
