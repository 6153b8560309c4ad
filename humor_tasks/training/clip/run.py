"""A run folder from config to metrics: trains and predicts validation and test; an interrupted run resumes.

A run with several learning rates holds one run per rate (lr-RATE/), and copies the best one's model, predictions and
curve. A run of all folds holds one run per fold (fold-K/). Finished runs are not trained again.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.api import evaluate
from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.data.writing import write_bytes, write_json
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.devices import pick_device
from humor_tasks.models.folders import read_object
from humor_tasks.training.clip.config import ClipTrainConfig
from humor_tasks.training.clip.data import Splits, read_splits
from humor_tasks.training.clip.finetune import Trainer, answers
from humor_tasks.training.folder import CURVES, IS_MAIN, run_in
from humor_tasks.training.loop import accelerator_for, fit

MODEL = "model"
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
    notes = fit(output, MODEL, lambda: Trainer(config, data, output, progress))
    device = str(accelerator_for(config.precision, config.device, "clip").device)
    clip = Clip.load(ClipConfig(str(output / MODEL), device=device, workers=config.workers))
    found = {split: answers(clip, getattr(data, split)) for split in PREDICTED}
    return notes | _evaluate(data, output, found)


def _sweep(config: ClipTrainConfig, data: Splits, output: Path, progress: bool) -> dict[str, Any]:
    """One run per learning rate; the best one's model is kept, the others' are removed."""
    runs = {rate: train(config.with_values(lr=(rate,)), output / f"lr-{rate}", data, progress) for rate in config.lr}
    accuracies = {rate: accuracy(metrics, "validation") for rate, metrics in runs.items()}
    best = max(config.lr, key=lambda rate: accuracies[rate])  # the first one on a tie
    if IS_MAIN:
        if not (output / MODEL).is_dir():
            (output / f"lr-{best}" / MODEL).rename(output / MODEL)
        for rate in config.lr:
            shutil.rmtree(output / f"lr-{rate}" / MODEL, ignore_errors=True)
        for name in (CURVES, *(_predictions(split) for split in PREDICTED)):
            write_bytes(output / name, (output / f"lr-{best}" / name).read_bytes())
    return runs[best] | {"lr": best, "validation_by_lr": {str(rate): accuracies[rate] for rate in config.lr}}


def _folds(config: ClipTrainConfig, data: Splits, output: Path, progress: bool) -> dict[str, Any]:
    """One run per fold; combined predictions, and metrics as for fold=all: unweighted means over folds."""
    runs = {fold: train(config.with_values(fold=fold), output / f"fold-{fold}", progress=progress) for fold in FOLDS}
    found = {
        split: {
            identity: letter
            for fold in FOLDS
            for identity, letter in read_object(output / f"fold-{fold}" / _predictions(split)).items()
        }
        for split in PREDICTED
    }
    kept = ("lr", "best_epoch", "epochs_run", "captions_cut")
    return _evaluate(data, output, found) | {"folds": {fold: {n: runs[fold][n] for n in kept} for fold in FOLDS}}


def _evaluate(data: Splits, output: Path, found: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Write the predictions of each split, and return the benchmark's results."""
    results = {}
    for split, letters in found.items():
        results[split] = evaluate(getattr(data, split), letters).as_dict()
        if IS_MAIN:
            write_json(output / _predictions(split), dict(letters))
    return results


def accuracy(metrics: Mapping[str, Any], split: str) -> float:
    """The accuracy on a split, from a run's metrics."""
    return float(metrics[split]["metrics"]["accuracy"]["value"])


def _predictions(split: str) -> str:
    return f"predictions_{split}.json"
