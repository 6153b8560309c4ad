"""A run folder from config to metrics: trains and computes the losses of validation and test; an interrupted run
resumes. A task that is learned itself is answered and scored, too.

A run with several learning rates holds one run per rate (lr-RATE/), and one of all folds one per fold (fold-K/).
Finished runs are not trained again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.records import Record
from humor_tasks.models.devices import pick_device
from humor_tasks.models.ofa import Describer
from humor_tasks.training.answering import divided, perplexities
from humor_tasks.training.folder import run_in
from humor_tasks.training.folds import MODEL, all_folds, evaluated, sweep
from humor_tasks.training.loop import fit
from humor_tasks.training.ofa.config import OfaTrainConfig
from humor_tasks.training.ofa.data import EVALUATED, Batches, Splits, answered, opened, read_splits
from humor_tasks.training.ofa.finetune import Trainer, accelerator, load_describer, losses
from humor_tasks.training.record import check_base, record

_MEANS = ("loss", "nll")
LONGEST = 256
"""The most tokens of a written answer, if the network has so many positions."""


def train(
    config: OfaTrainConfig, output: Path, data: Mapping[str, Splits] | None = None, progress: bool = True
) -> dict[str, Any]:
    """The metrics of the run in `output`, which is started, resumed, or already finished.

    data: rows by fold, if already read. `validation` and `test` hold the results of `losses`, with fold=all as
    unweighted means over folds; of a task that is learned itself also the results of `humor_tasks.evaluate` for
    predictions_SPLIT.json, and the `perplexity` of the references. Raises BadInput where the folder holds a run with
    other settings, for invalid data, an unknown model, and a device that is not available.
    """
    pick_device(config.device, "ofa")
    folds = FOLDS if config.fold == "all" else (config.fold,)

    def read() -> Mapping[str, Splits]:
        return data or {fold: read_splits(config.with_values(fold=fold)) for fold in folds}

    def run(found: Mapping[str, Splits]) -> dict[str, Any]:
        how = _folds if config.fold == "all" else _sweep if len(config.lr) > 1 else _one
        return how(config, found, output, progress)

    return run_in(output, config.as_dict(), read, run)


def _one(config: OfaTrainConfig, data: Mapping[str, Splits], output: Path, progress: bool) -> dict[str, Any]:
    """One fold at one learning rate. The saved model is evaluated, as when it is loaded later."""
    splits = data[config.fold]
    units = splits.units(config.task)
    check_base(config.pretrained, units)
    notes = fit(output, MODEL, lambda: Trainer(config, splits, output, progress))
    record(output / MODEL, config.task, splits.source, config.fold, units, config.pretrained)
    place = accelerator(config)
    describer = load_describer(output / MODEL, config, place)
    found = {
        split: losses(describer, Batches(getattr(splits, split), describer, config.workers), place, config)
        for split in EVALUATED
    }
    written = {split: divided(run, partial(_written, describer, run)) for split, run in splits.runs.items()}
    for split, scores in evaluated(output, splits.runs, written).items():
        run = splits.runs[split]
        found[split] |= scores | {"perplexity": perplexities(run, partial(_likelihoods, describer, run))}
    rows = {split: len(getattr(splits, split)) for split in ("train", *EVALUATED)}
    return notes | found | {"rows": rows}


def _sweep(config: OfaTrainConfig, data: Mapping[str, Splits], output: Path, progress: bool) -> dict[str, Any]:
    """One run per learning rate."""

    def one(rate: float, folder: Path) -> dict[str, Any]:
        return train(config.with_values(lr=(rate,)), folder, data, progress)

    return sweep(output, config.lr, one, lambda metrics: -metrics["validation"]["loss"], data[config.fold].runs)


def _folds(config: OfaTrainConfig, data: Mapping[str, Splits], output: Path, progress: bool) -> dict[str, Any]:
    """One run per fold, and the means over them. The best learning rate of the first fold trains the others."""
    runs: list[dict[str, Any]] = []

    def one(fold: str, folder: Path) -> dict[str, Any]:
        rates = (runs[0]["lr"],) if runs else config.lr
        runs.append(train(config.with_values(fold=fold, lr=rates), folder, {fold: data[fold]}, progress))
        return runs[-1]

    held = {split: opened(config, split, "pixels") for split in EVALUATED if config.is_open}
    found = all_folds(output, one, held, ("lr", "best_epoch", "epochs_run", "rows"))
    means = {split: {name: fmean(run[split][name] for run in runs) for name in _MEANS} for split in EVALUATED}
    return found | {split: means[split] | found.get(split, {}) for split in EVALUATED}


def _written(describer: Describer, run: Run, records: Sequence[Record]) -> list[str]:
    """The answers by beam search."""
    rows = [answered(run, record) for record in records]
    how = replace(describer.settings, max_len=min(LONGEST, describer.ofa.config.most_tokens - 1))
    wheres = [f"contest {row.contest}" for row in rows]
    return describer.answer([row.picture for row in rows], [row.asked for row in rows], how, wheres)


def _likelihoods(describer: Describer, run: Run, records: Sequence[Record]) -> list[tuple[float, int]]:
    """For `answering.perplexities`."""
    rows = [answered(run, record) for record in records]
    texts = [f" {row.answer}" for row in rows]
    found = describer.loglikelihoods([row.picture for row in rows], [row.asked for row in rows], texts)
    counts = [len(describer.tokenizer.encode(text, marks=False)) - 2 for text in texts]  # without begin and end
    return [(logprob, count) for (logprob, _), count in zip(found, counts, strict=True)]
