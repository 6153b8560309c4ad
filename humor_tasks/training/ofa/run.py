"""A run folder from config to metrics: trains and computes the losses of validation and test; an interrupted run
resumes.

A run of all folds holds one run per fold (fold-K/). Finished runs are not trained again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.models.devices import pick_device
from humor_tasks.training.folder import run_in
from humor_tasks.training.loop import fit
from humor_tasks.training.ofa.config import OfaTrainConfig
from humor_tasks.training.ofa.data import Batches, Splits, read_splits
from humor_tasks.training.ofa.finetune import Trainer, accelerator, load_describer, losses
from humor_tasks.training.record import check_base, record

MODEL = "model"
EVALUATED = ("validation", "test")
_MEANS = ("loss", "nll")


def train(
    config: OfaTrainConfig, output: Path, data: Mapping[str, Splits] | None = None, progress: bool = True
) -> dict[str, Any]:
    """The metrics of the run in `output`, which is started, resumed, or already finished.

    data: rows by fold, if already read. `validation` and `test` hold the results of `losses`, with fold=all as
    unweighted means over folds. Raises BadInput where the folder holds a run with other settings, for invalid data, an
    unknown model, and a device that is not available.
    """
    pick_device(config.device, "ofa")
    folds = FOLDS if config.fold == "all" else (config.fold,)

    def read() -> Mapping[str, Splits]:
        return data or {fold: read_splits(config.with_values(fold=fold)) for fold in folds}

    def run(found: Mapping[str, Splits]) -> dict[str, Any]:
        if config.fold == "all":
            return _folds(config, found, output, progress)
        return _one(config, found[config.fold], output, progress)

    return run_in(output, config.as_dict(), read, run)


def _one(config: OfaTrainConfig, data: Splits, output: Path, progress: bool) -> dict[str, Any]:
    """One fold. The saved model is evaluated, as when it is loaded later."""
    units = data.units(config.task)
    check_base(config.pretrained, units)
    notes = fit(output, MODEL, lambda: Trainer(config, data, output, progress))
    record(output / MODEL, config.task, data.source, config.fold, units, config.pretrained)
    place = accelerator(config)
    describer = load_describer(output / MODEL, config, place)
    found = {
        split: losses(describer, Batches(getattr(data, split), describer, config.workers), place, config)
        for split in EVALUATED
    }
    rows = {split: len(getattr(data, split)) for split in ("train", *EVALUATED)}
    return notes | found | {"rows": rows}


def _folds(config: OfaTrainConfig, data: Mapping[str, Splits], output: Path, progress: bool) -> dict[str, Any]:
    """One run per fold, and the means over them."""
    runs = {
        fold: train(config.with_values(fold=fold), output / f"fold-{fold}", {fold: data[fold]}, progress)
        for fold in FOLDS
    }
    means = {split: {name: fmean(run[split][name] for run in runs.values()) for name in _MEANS} for split in EVALUATED}
    kept = ("best_epoch", "epochs_run", "rows")
    return means | {"folds": {fold: {name: run[name] for name in kept} for fold, run in runs.items()}}
