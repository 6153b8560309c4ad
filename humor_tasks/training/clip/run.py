"""A run folder from config to metrics: trains and predicts validation and test; an interrupted run resumes.

A run with several learning rates holds one run per rate (lr-RATE/), and copies the best one's model, predictions and
curve. A run of all folds holds one run per fold (fold-K/). Finished runs are not trained again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.devices import pick_device
from humor_tasks.training.answering import summary as summary
from humor_tasks.training.clip.data import Splits, read_splits
from humor_tasks.training.clip.finetune import Trainer, answers
from humor_tasks.training.clip.settings import ClipTrainConfig
from humor_tasks.training.folder import run_in
from humor_tasks.training.folds import MODEL, all_folds, evaluated, sweep
from humor_tasks.training.loop import accelerator_for, fit
from humor_tasks.training.record import check_base, record

PREDICTED = ("validation", "test")


def train(config: ClipTrainConfig, output: Path, data: Splits | None = None, progress: bool = True) -> dict[str, Any]:
    """The metrics of the run in `output`, which is started, resumed, or already finished.

    `validation` and `test` hold the results of `humor_tasks.evaluate` for predictions_SPLIT.json: metrics with standard
    errors, and their signature. Raises BadInput where the folder holds a run with other settings, for invalid data, an
    unknown model, and a device that is not available.
    """
    pick_device(config.device)

    def run(data: Splits) -> dict[str, Any]:
        how = _folds if config.fold == "all" else _sweep if len(config.lr) > 1 else _one
        runs = {"train": data.train, "validation": data.validation, "test": data.test}
        rows = {split: len(run.records) for split, run in runs.items() if run is not None}
        return how(config, data, output, progress) | {"rows": rows}

    return run_in(output, config.as_dict(), lambda: data or read_splits(config), run)


def _one(config: ClipTrainConfig, data: Splits, output: Path, progress: bool) -> dict[str, Any]:
    """One fold at one learning rate. Predictions come from the saved model, as when it is loaded later."""
    assert data.train is not None
    units = {"train": data.train.units, "validation": data.validation.units, "test": data.test.units}
    check_base(config.pretrained, units)
    notes = fit(output, MODEL, lambda: Trainer(config, data, output, progress))
    record(output / MODEL, config.task, data.train.data.provenance, config.fold, units, config.pretrained)
    device = str(accelerator_for(config.precision, config.device, "clip").device)
    clip = Clip.load(ClipConfig(str(output / MODEL), device=device, workers=config.workers))
    held = {split: getattr(data, split) for split in PREDICTED}
    return notes | evaluated(output, held, {split: answers(clip, run) for split, run in held.items()})


def _sweep(config: ClipTrainConfig, data: Splits, output: Path, progress: bool) -> dict[str, Any]:
    """One run per learning rate."""

    def one(rate: float, folder: Path) -> dict[str, Any]:
        return train(config.with_values(lr=(rate,)), folder, data, progress)

    return sweep(output, config.lr, one, lambda metrics: accuracy(metrics, "validation"), PREDICTED)


def _folds(config: ClipTrainConfig, data: Splits, output: Path, progress: bool) -> dict[str, Any]:
    """One run per fold."""

    def one(fold: str, folder: Path) -> dict[str, Any]:
        return train(config.with_values(fold=fold), folder, progress=progress)

    held = {split: getattr(data, split) for split in PREDICTED}
    return all_folds(output, one, held, ("lr", "best_epoch", "epochs_run", "captions_cut"))


def accuracy(metrics: Mapping[str, Any], split: str) -> float:
    """The accuracy on a split, from a run's metrics."""
    return float(metrics[split]["metrics"]["accuracy"]["value"])
