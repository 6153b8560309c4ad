"""Runs by fold and by learning rate, and the evaluation of trained models on a benchmark's rows, without a harness.

A run of all folds holds one run per fold (fold-K/), and one with several learning rates one per rate (lr-RATE/), of
which the best is kept. Finished runs are not trained again. Processes divide the rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from accelerate import PartialState
from accelerate.utils import gather_object

from humor_tasks.api import evaluate
from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.contract.definition import Run
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import write_bytes, write_json
from humor_tasks.lab.training.run_folders import CURVES, IS_MAIN, run_in
from humor_tasks.models.devices import pick_device
from humor_tasks.rows.records import Record
from humor_tasks.scorers.perplexity import UNITS, perplexity_estimate

MODEL = "model"
SPLITS = ("validation", "test")
"""The splits that trained models are evaluated on."""
_RATES = ("unparsed", "refused")

Metrics = dict[str, Any]
Perplexities = dict[str, dict[str, float | int | None]]


# ---- runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """How a system is trained.

    who: the system's name in messages about devices. read: settings -> data. fit: settings of one fold and one rate,
    data, folder, and whether to show progress -> metrics. reached: the value of these to choose a rate by, higher is
    better. evaluated: settings and data -> the runs by split whose predictions are written. rows: data -> the numbers
    of rows to report.

    Of all folds: reported: entries of each fold's metrics to repeat. of_fold: data and fold -> the fold's data; None
    where each fold reads its own. means: entries of each split's metrics that are averaged. one_rate: whether the first
    fold's best rate trains the other folds.
    """

    who: str
    read: Callable[[Any], Any]
    fit: Callable[[Any, Any, Path, bool], Metrics]
    reached: Callable[[Metrics], float]
    evaluated: Callable[[Any, Any], Mapping[str, Run]]
    rows: Callable[[Any], Mapping[str, int]] | None = None
    reported: tuple[str, ...] = ()
    of_fold: Callable[[Any, str], Any] = lambda data, fold: None
    means: tuple[str, ...] = ()
    one_rate: bool = False


def train_run(recipe: Recipe, config: Any, output: Path, data: Any, progress: bool) -> Metrics:
    """The metrics of the run in `output`, which is started, resumed, or already finished. data: None to read it.

    Raises BadInput where the folder holds a run with other settings, for invalid data, an unknown model, and a device
    that is not available.
    """
    pick_device(config.device, recipe.who)

    def run(data: Any) -> Metrics:
        if config.fold == "all":
            metrics = _all_folds(recipe, config, output, data, progress)
        elif len(config.lr) > 1:
            metrics = _sweep(recipe, config, output, data, progress)
        else:
            metrics = recipe.fit(config, data, output, progress)
        return metrics | {"rows": recipe.rows(data)} if recipe.rows else metrics

    return run_in(output, config.as_dict(), lambda: data or recipe.read(config), run)


def _sweep(recipe: Recipe, config: Any, output: Path, data: Any, progress: bool) -> Metrics:
    """One run per learning rate; the model, predictions and curve of the first of the best are kept.

    The other models are removed.
    """
    runs = {
        rate: train_run(recipe, config.with_values(lr=(rate,)), output / f"lr-{rate}", data, progress)
        for rate in config.lr
    }
    values = {rate: recipe.reached(metrics) for rate, metrics in runs.items()}
    best = max(config.lr, key=lambda rate: values[rate])
    if IS_MAIN:
        if not (output / MODEL).is_dir():
            (output / f"lr-{best}" / MODEL).rename(output / MODEL)
        for rate in config.lr:
            shutil.rmtree(output / f"lr-{rate}" / MODEL, ignore_errors=True)
        for name in (CURVES, *map(predictions_file, recipe.evaluated(config, data))):
            write_bytes(output / name, (output / f"lr-{best}" / name).read_bytes())
    return runs[best] | {"lr": best, "validation_by_lr": {str(rate): values[rate] for rate in config.lr}}


def _all_folds(recipe: Recipe, config: Any, output: Path, data: Any, progress: bool) -> Metrics:
    """One run per fold; combined predictions, and metrics as for fold=all: unweighted means over folds.

    A split's perplexities are means of the folds' own.
    """
    folds: dict[str, Metrics] = {}
    for fold in FOLDS:
        rates = (folds[FOLDS[0]]["lr"],) if folds and recipe.one_rate else config.lr
        settings = config.with_values(fold=fold, lr=rates)
        folds[fold] = train_run(recipe, settings, output / f"fold-{fold}", recipe.of_fold(data, fold), progress)
    runs = recipe.evaluated(config, data)
    replies: dict[str, dict[str, str]] = {split: {} for split in runs}
    for split, fold in ((split, fold) for split in runs for fold in FOLDS):
        replies[split] |= json_object(output / f"fold-{fold}" / predictions_file(split))
    results = evaluated(output, runs, replies)
    for split, scores in results.items():
        if perplexities_of_folds := [run[split]["perplexity"] for run in folds.values() if "perplexity" in run[split]]:
            scores["perplexity"] = mean_perplexities(perplexities_of_folds)
    for split in SPLITS if recipe.means else ():
        means = {name: fmean(run[split][name] for run in folds.values()) for name in recipe.means}
        results[split] = means | results.get(split, {})
    return results | {"folds": {fold: {name: run[name] for name in recipe.reported} for fold, run in folds.items()}}


# ---- evaluation ----------------------------------------------------------------------------------


def evaluated(output: Path, runs: Mapping[str, Run], replies: Mapping[str, Mapping[str, str]]) -> Metrics:
    """Write the predictions of each split, and return the benchmark's results."""
    results = {}
    for split, answers in replies.items():
        results[split] = evaluate(runs[split], answers).as_dict()
        if IS_MAIN:
            write_json(output / predictions_file(split), dict(answers))
    return results


def predictions_file(split: str) -> str:
    """The name of a split's predictions: {instance_id: reply} as JSON."""
    return f"predictions_{split}.json"


def divided(run: Run, compute: Callable[[Sequence[Record]], Sequence[Any]]) -> dict[str, Any]:
    """{instance_id: result} of all rows; each process computes its share."""
    state = PartialState()
    rows = run.records[state.process_index :: state.num_processes]
    share = zip((row.id for row in rows), compute(rows) if rows else (), strict=True)
    results = dict(gather_object(list(share)))
    return {record.id: results[record.id] for record in run.records}


def perplexities(run: Run, likelihoods: Callable[[Sequence[Record]], Sequence[tuple[float, int]]]) -> Perplexities:
    """The perplexities of the references by name, as in lm-eval, with intervals clustered as scores.

    likelihoods: returns the log-likelihood of each record's reference, and its number of tokens. The published unit is
    that of `word_perplexity`. The end token is not counted.
    """
    by_id = divided(run, likelihoods)
    clusters = [record.cluster for record in run.records]
    logprobs = [by_id[record.id][0] for record in run.records]
    results: Perplexities = {}
    for perplexity, count in UNITS.items():
        units = [count(str(record.target), by_id[record.id][1]) or 0 for record in run.records]
        estimate = perplexity_estimate(logprobs, units, clusters)
        values = {"value": estimate.value, "stderr": estimate.stderr, "low": estimate.low, "high": estimate.high}
        results[perplexity] = {name: value if value == value else None for name, value in values.items()}
        results[perplexity] |= {"n": estimate.n, "clusters": estimate.clusters, "units": sum(units)}
    return results


def mean_perplexities(folds: Sequence[Perplexities]) -> Perplexities:
    """The unweighted means over folds, as published; None without a value of each."""
    means: Perplexities = {}
    for name in UNITS:
        values = [value for fold in folds if (value := fold[name]["value"]) is not None]
        means[name] = {"value": fmean(values) if len(values) == len(folds) else None}
    return means


def summary(metrics: Mapping[str, Any], losses: Iterable[str] = ()) -> list[str]:
    """A run's losses, scores and perplexities of validation and test, one a line."""
    lines = [f"{split:<12}{name:<12}{metrics[split][name]:.5f}" for split in SPLITS for name in losses]
    for split in SPLITS:
        results = metrics.get(split, {})
        for name, estimate in (results.get("metrics", {}) | results.get("perplexity", {})).items():
            value = "undefined" if estimate["value"] is None else f"{estimate['value']:.5f}"
            lines += [f"{split:<12}{name:<24}{value}"] if name.split("_")[0] not in _RATES else []
    return lines
