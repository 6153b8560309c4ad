"""A run folder from settings to a checkpoint; an interrupted run resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humor_tasks.models.devices import pick_device
from humor_tasks.training.folder import run_in
from humor_tasks.training.folds import MODEL, sweep
from humor_tasks.training.image_text.data import Rows, read_rows
from humor_tasks.training.image_text.finetune import ImageTextTrainer
from humor_tasks.training.image_text.settings import ImageTextTrainConfig
from humor_tasks.training.loop import fit
from humor_tasks.training.record import check_base, record


def train(
    config: ImageTextTrainConfig, output: Path, data: Rows | None = None, progress: bool = True
) -> dict[str, Any]:
    """The notes of the run in `output`, which is started, resumed, or already finished; `best` is the validation loss.

    Raises BadInput where the folder holds a run with other settings, for invalid data, an unknown model, and a device
    that is not available.
    """
    pick_device(config.device, "image-text")

    def run(data: Rows) -> dict[str, Any]:
        if len(config.lr) > 1:
            return sweep(output, config.lr, one, lambda notes: -float(notes["best"]), ())
        check_base(config.model, data.units)
        notes = fit(output, MODEL, lambda: ImageTextTrainer(config, data, output, progress))
        source = data.train[0].data.provenance
        record(output / MODEL, ",".join(config.task), source, "", data.units, config.model)
        return notes | {"rows": {split: len(units) for split, units in data.units.items()}}

    def one(rate: float, folder: Path) -> dict[str, Any]:
        return train(config.with_values(lr=(rate,)), folder, data, progress)

    return run_in(output, config.as_dict(), lambda: data or read_rows(config), run)


def summary(metrics: dict[str, Any]) -> list[str]:
    """The result in one line."""
    return [f"validation loss {metrics['best']:.5f}"]
