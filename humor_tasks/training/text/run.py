"""A run folder from settings to scores: trains, predicts and scores; an interrupted run resumes.

A run with several learning rates holds one run per rate, and a run of all folds one per fold; see `folds`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from humor_tasks.models.devices import pick_device
from humor_tasks.models.text.language import Generation
from humor_tasks.training.answering import perplexities
from humor_tasks.training.answering import summary as summary
from humor_tasks.training.folder import run_in
from humor_tasks.training.folds import MODEL, all_folds, evaluated, sweep
from humor_tasks.training.loop import accelerator_for, fit
from humor_tasks.training.record import check_base, record
from humor_tasks.training.sharding import whole_networks
from humor_tasks.training.text import answers
from humor_tasks.training.text.data import Splits, read_splits
from humor_tasks.training.text.finetune import Trainer
from humor_tasks.training.text.settings import TextTrainConfig

Metrics = dict[str, Any]


def train(config: TextTrainConfig, output: Path, data: Splits | None = None, progress: bool = True) -> Metrics:
    """The metrics of the run in `output`, which is started, resumed, or already finished.

    Each split of `config.evaluate` holds the results of `humor_tasks.evaluate` for predictions_SPLIT.json: metrics with
    standard errors, and their signature; explanations also the `perplexity` of the references. Raises BadInput
    where the folder holds a run with other settings, for invalid data, an unknown model, and a device that is not
    available.
    """
    pick_device(config.device, "text")

    def run(data: Splits) -> Metrics:
        how = _folds if config.fold == "all" else _sweep if len(config.lr) > 1 else _one
        rows = {split: len(run.records) for split, run in data.runs.items()}
        return how(config, data, output, progress) | {"rows": rows}

    return run_in(output, config.as_dict(), lambda: data or read_splits(config), run)


def _one(config: TextTrainConfig, data: Splits, output: Path, progress: bool) -> Metrics:
    """One fold at one learning rate. Predictions come from the saved model, as when it is loaded later."""
    assert data.train is not None
    units = {split: run.units for split, run in data.runs.items()}
    check_base(config.model, units)
    notes = fit(output, MODEL, lambda: Trainer(config, data, output, progress))
    record(output / MODEL, config.task, data.train.data.provenance, config.fold, units, config.model)
    device = str(accelerator_for(config.precision, config.device, "text", sharded=True).device)
    with whole_networks():
        model = answers.load(
            output / MODEL, notes["kind"], device, "fp32" if config.precision == "no" else config.precision
        )
    if not config.is_open:
        chosen = {split: answers.choices(model, run) for split, run in data.evaluated.items()}
        return notes | evaluated(output, data.evaluated, chosen)
    how = Generation(config.max_new_tokens, 1, config.temperature, config.top_p, seed=config.seed)
    written = {split: answers.explanations(model, run, how) for split, run in data.evaluated.items()}
    results = evaluated(output, data.evaluated, written)
    for split, run in data.evaluated.items():
        results[split]["perplexity"] = perplexities(run, partial(answers.likelihoods, model, run))
    return notes | results


def _sweep(config: TextTrainConfig, data: Splits, output: Path, progress: bool) -> Metrics:
    """One run per learning rate."""

    def one(rate: float, folder: Path) -> Metrics:
        return train(config.with_values(lr=(rate,)), folder, data, progress)

    return sweep(output, config.lr, one, lambda metrics: -float(metrics["best"]), data.evaluated)


def _folds(config: TextTrainConfig, data: Splits, output: Path, progress: bool) -> Metrics:
    """One run per fold."""

    def one(fold: str, folder: Path) -> Metrics:
        return train(config.with_values(fold=fold), folder, progress=progress)

    return all_folds(output, one, data.evaluated, ("lr", "best", "best_epoch", "epochs_run", "rows_cut"))
