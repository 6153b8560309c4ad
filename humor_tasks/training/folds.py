"""Runs that hold other runs: one per learning rate (lr-RATE/), of which the best is kept, or one per fold (fold-K/)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from humor_tasks.api import evaluate
from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.reading import json_object
from humor_tasks.data.writing import write_bytes, write_json
from humor_tasks.training.answering import mean_perplexities
from humor_tasks.training.folder import CURVES, IS_MAIN

MODEL = "model"

Metrics = dict[str, Any]


def sweep(
    output: Path,
    rates: tuple[float, ...],
    train: Callable[[float, Path], Metrics],
    reached: Callable[[Metrics], float],
    splits: Iterable[str],
) -> Metrics:
    """One run per learning rate; the model, predictions and curve of the best by `reached` (higher is better) are kept.

    Of equally good rates the first is kept. The other models are removed.
    """
    runs = {rate: train(rate, output / f"lr-{rate}") for rate in rates}
    values = {rate: reached(metrics) for rate, metrics in runs.items()}
    best = max(rates, key=lambda rate: values[rate])
    if IS_MAIN:
        if not (output / MODEL).is_dir():
            (output / f"lr-{best}" / MODEL).rename(output / MODEL)
        for rate in rates:
            shutil.rmtree(output / f"lr-{rate}" / MODEL, ignore_errors=True)
        for name in (CURVES, *map(predictions_file, splits)):
            write_bytes(output / name, (output / f"lr-{best}" / name).read_bytes())
    return runs[best] | {"lr": best, "validation_by_lr": {str(rate): values[rate] for rate in rates}}


def all_folds(
    output: Path, train: Callable[[str, Path], Metrics], data: Mapping[str, Run], kept: Iterable[str]
) -> Metrics:
    """One run per fold; combined predictions, and metrics as for fold=all: unweighted means over folds.

    A split's perplexities are means of the folds' own.

    data: the rows of all folds by split. kept: entries of each fold's metrics to report.
    """
    runs = {fold: train(fold, output / f"fold-{fold}") for fold in FOLDS}
    found = {
        split: {
            identity: answer
            for fold in FOLDS
            for identity, answer in json_object(output / f"fold-{fold}" / predictions_file(split)).items()
        }
        for split in data
    }
    names = tuple(kept)
    results = evaluated(output, data, found)
    for split in results:
        if each := [run[split]["perplexity"] for run in runs.values() if "perplexity" in run[split]]:
            results[split]["perplexity"] = mean_perplexities(each)
    return results | {"folds": {fold: {n: runs[fold][n] for n in names} for fold in FOLDS}}


def evaluated(output: Path, data: Mapping[str, Run], found: Mapping[str, Mapping[str, str]]) -> Metrics:
    """Write the predictions of each split, and return the benchmark's results."""
    results = {}
    for split, answers in found.items():
        results[split] = evaluate(data[split], answers).as_dict()
        if IS_MAIN:
            write_json(output / predictions_file(split), dict(answers))
    return results


def predictions_file(split: str) -> str:
    """The name of a split's predictions: {instance_id: reply} as JSON."""
    return f"predictions_{split}.json"
