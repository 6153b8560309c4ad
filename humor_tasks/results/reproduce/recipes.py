"""The ways to compute a published row from rows, labels or a model. Each returns estimates by metric name."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.api import evaluate
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.answers import Answer
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.published import Figure
from humor_tasks.data.reading import json_object, parse_json, read_body
from humor_tasks.data.signature import Signature
from humor_tasks.errors import BadInput
from humor_tasks.models.folders import CONFIG, METRICS
from humor_tasks.results.reproduce.rows import Row
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

SAMPLE = "sample"
Estimates = Mapping[str, Estimate]


class CannotRunHere(Exception):
    """What a row needs is not at hand; the message says what."""


@dataclass(frozen=True)
class Given:
    """What the user gives: a dataset (or a folder of datasets by card), a model, predictions, other parameters."""

    dataset: str | None = None
    model: str | None = None
    predictions: Path | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def dataset_of(self, row: Row) -> str | None:
        """The dataset for this row: the folder named as its card below the given one, else the given one."""
        if self.dataset is not None and (Path(self.dataset) / row.card).is_dir():
            return str(Path(self.dataset) / row.card)
        return self.dataset


def opened(row: Row, given: Given) -> Run:
    """The benchmark of the row with its data. Raises CannotRunHere where the data is not at hand or does not fit."""
    return _open(row.benchmark, row, given.dataset_of(row), {**row.parameters, **given.parameters})


def _open(benchmark: str, row: Row, dataset: str | None, parameters: Mapping[str, Any]) -> Run:
    if dataset == SAMPLE:
        raise CannotRunHere("the packaged sample is invented, and its scores are not the corpus's.")
    try:
        return find_benchmark(benchmark).open(**parameters, **({"dataset": dataset} if dataset else {}))
    except BadInput as problem:
        raise CannotRunHere(str(problem)) from None


# ---- baselines ----------------------------------------------------------------------------------


def expected(row: Row, given: Given) -> Estimates:
    """The exact expectation of a uniformly random label: the mean of the scores of always A, always B and so on.

    A seed can be unlucky; the expectation cannot. There is no interval, because nothing is drawn.
    """
    run = opened(row, given)
    always = [evaluate(run, {r.id: Answer(label) for r in run.records}).metrics for label in run.form.labels]

    def mean(name: str) -> Estimate:
        values = [each[name].value for each in always]
        one = always[0][name]
        return Estimate(math.fsum(values) / len(values), math.nan, math.nan, math.nan, one.n, one.clusters)

    return {name: mean(name) for name in always[0]}


def from_training_rows(row: Row, given: Given) -> Estimates:
    """For every item, the most frequent label of its fold's training rows (the first one in a tie), or their mean."""
    run = opened(row, given)
    try:
        return evaluate(run, baseline_answers(row.recipe, run)).metrics
    except BadInput as problem:
        raise CannotRunHere(str(problem)) from None


def baseline_answers(recipe: str, run: Run) -> dict[str, Answer]:
    """The answer to every item by recipe `majority` or `mean`. Raises BadInput where there are no training rows."""
    by_fold: dict[str, Answer] = {}
    for record in run.records:
        fold = record.groups.get("fold", "")
        if fold not in by_fold:
            targets = [shot.target for shots in run.pool(fold).values() for shot in shots if shot.target is not None]
            if not targets:
                raise BadInput(f"{run.benchmark.name}: {run.options.dataset} has no training rows.")
            by_fold[fold] = _most_frequent(targets) if recipe == "majority" else _mean(targets)
    return {record.id: by_fold[record.groups.get("fold", "")] for record in run.records}


def _most_frequent(targets: list[str]) -> Answer:
    return Answer(max(sorted(set(targets)), key=Counter(targets).__getitem__))


def _mean(targets: list[str]) -> Answer:
    return Answer(repr(math.fsum(map(float, targets)) / len(targets)))


# ---- people -------------------------------------------------------------------------------------


def labelled(row: Row, given: Given) -> Estimates:
    """The share of explanations of the row's system that people passed."""
    dataset = given.dataset_of(row)
    if dataset is not None and row.file and Path(dataset).is_dir():
        dataset = str(Path(dataset) / row.file)
    run = _open(row.labels or row.benchmark, row, dataset, {})
    (figure,) = row.figures
    explainers = dict.fromkeys(r.groups["explainer"] for r in run.records)
    found = [r for r in run.records if _bare(figure.system) in _bare(r.groups["explainer"])]
    if len(found) != figure.n:
        raise CannotRunHere(
            f"{dataset or run.options.dataset} holds {len(found)} labels of {figure.system} and {figure.n} are "
            f"published; it has those of {', '.join(explainers)}. Give the file: --dataset {row.file}."
        )
    passed = [float(record.target == "PASS") for record in found]
    return {figure.metric: clustered_proportion(passed, [record.cluster for record in found])}


def _bare(name: str) -> str:
    """A model's name without what the paper and its files write differently: case and punctuation."""
    return "".join(c for c in name.casefold() if c.isalnum())


# ---- models and predictions -----------------------------------------------------------------------


def asked(row: Row, given: Given) -> Estimates:
    """The scores of the model that the user names, run in Inspect."""
    if given.model is None:
        raise _lacking(row, "it needs a model: give --model MODEL, or --predictions with the log of its command.")
    opened(row, given)  # says what is missing before a model is loaded
    from humor_tasks.results.reproduce.models import run_model

    dataset = given.dataset_of(row)
    parameters = {**row.parameters, **given.parameters, **({"dataset": dataset} if dataset else {})}
    try:
        return run_model(row.benchmark, given.model, parameters)
    except BadInput as problem:
        raise CannotRunHere(str(problem)) from None


def needs_predictions(row: Row, given: Given) -> Estimates:
    """Nothing: the row's predictions come from the user."""
    raise _lacking(row, "it needs predictions: give --predictions FILE, predictions or the log of its command.")


def needs_perplexity(row: Row, given: Given) -> Estimates:
    """Nothing: log-likelihoods of the references are not computed here."""
    raise _lacking(row, "it needs --predictions FILE: metrics.json of its training, or lm-eval's results_*.json.")


def needs_people(row: Row, given: Given) -> Estimates:
    """Nothing: people answer the items that the row's command writes."""
    raise CannotRunHere("it needs people: `humor-tasks annotate` shows them the items that its command writes.")


def _lacking(row: Row, told: str) -> CannotRunHere:
    retired = row.retired and f"the published model was shut down on {row.retired}, and another is no reproduction; "
    return CannotRunHere(f"{retired or ''}{told}")


RECIPES: Mapping[str, Callable[[Row, Given], Estimates]] = {
    "random": expected,
    "majority": from_training_rows,
    "mean": from_training_rows,
    "labels": labelled,
    "model": asked,
    "predictions": needs_predictions,
    "perplexity": needs_perplexity,
    "people": needs_people,
}


def rescored(row: Row, given: Given, path: Path) -> Estimates:
    """The scores of predictions: a submission or {id: reply}, or a log of either harness or a folder of its parts.

    Raises BadInput for what does not fit the row's benchmark, rows and parameters.
    """
    from humor_tasks.data.logs.predictions import read_predictions
    from humor_tasks.results.read import is_log

    if row.recipe in ("random", "labels", "votes", "people"):
        raise BadInput(f"{row.name} is not computed from predictions; leave --predictions out.")
    if not path.exists():
        raise BadInput(f"{path}: there is no such file.")
    if row.recipe == "perplexity":
        return measured(row, {**row.parameters, **given.parameters}, path)
    if path.is_dir() or is_log(path):
        return _of_log(row, given, path)
    run = opened(row, given)
    replies = read_predictions(path, run.form.from_submission)
    try:
        return evaluate(run, replies).metrics
    except BadInput as problem:
        raise BadInput(f"{path}: {problem}") from None


def measured(row: Row, parameters: Mapping[str, Any], path: Path) -> Estimates:
    """The perplexities in the metrics of a training, or in lm-eval's results.

    Raises BadInput for another file, and for a run on other rows or with other parameters.
    """
    found = parse_json(path, read_body(path))
    try:
        if path.name == METRICS:
            asked = {name: str(value) for name, value in json_object(path.parent / CONFIG).items()}
            split, benchmark = parameters.get("split", "test"), asked["task"]
            values = {name: each["value"] for name, each in found[split]["perplexity"].items()}
            count = found["rows"][split]
        else:
            ((task, config),) = found["configs"].items()
            asked = dict(Signature.parse(config["metadata"]["signature"]))
            benchmark, count = asked["bench"], found["n-samples"][task]["effective"]
            values = {name: found["results"][task][f"{name},none"] for name in (each.metric for each in row.figures)}
        values = {name: math.nan if value is None else _number(value) for name, value in values.items()}
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise TypeError(f"{count!r:.40} rows")
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as problem:
        raise BadInput(f"{path}: holds no perplexity of one run of {row.benchmark} ({problem!r:.100}).") from None
    told = [*_other(parameters, asked), *_sample(asked.get("data", asked.get("dataset")))]
    if benchmark != row.benchmark:
        told = [f"it is a run of {benchmark}."]
    if told:
        raise BadInput(f"{path}: does not fit {row.name}: {' '.join(told)}")
    nan = math.nan
    return {name: Estimate(value, nan, nan, nan, count, 0) for name, value in values.items()}


def _number(value: Any) -> float:
    """A perplexity. Raises TypeError for what is none; it is at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or float(value) < 1:
        raise TypeError(f"{value!r:.40} is no perplexity")
    return float(value)


def _of_log(row: Row, given: Given, path: Path) -> Estimates:
    from humor_tasks.results import read_results

    found = read_results([path]).of(row.benchmark)
    if not found:
        raise BadInput(f"{path}: is no run of {row.benchmark}.")
    if len({each.paths for each in found}) > 1:
        raise BadInput(f"{path}: holds several runs of {row.benchmark}; name one log, or a folder of the parts of one.")
    result = found[0]
    told = [*(() if result.complete else result.notes)]
    told += _other({**row.parameters, **given.parameters}, result.signature)
    told += _sample(result.signature.get("data"))
    if told:
        raise BadInput(f"{path}: does not fit {row.name}: {' '.join(told)}")
    return {name: estimate for each in reversed(found) for name, estimate in each.estimates.items()}


def _sample(dataset: str | None) -> Iterator[str]:
    if dataset == SAMPLE:
        yield "its rows are those of the packaged sample."


def _other(parameters: Mapping[str, Any], signature: Mapping[str, str]) -> Iterator[str]:
    for name, value in parameters.items():
        if signature.get(name, str(value)) != str(value):
            yield f"it has {name}={signature[name]}, the row {name}={value}."


def value_of(figure: Figure, estimates: Estimates) -> Estimate | None:
    """The estimate to compare with a published figure; falls back to the whole run's."""
    return estimates.get(figure.estimate) or estimates.get(figure.metric)
