"""The ways to compute a published row from rows, labels or a model. Each returns estimates, and on which rows."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.api import evaluate
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.answers import Answer
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.pairs import HUMAN
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import json_object, parse_json, read_body
from humor_tasks.logs.signature import Signature
from humor_tasks.models.folders import CONFIG, METRICS
from humor_tasks.results.reproduce import corpora
from humor_tasks.results.reproduce.query_cache import is_query_cache, read_query_cache
from humor_tasks.results.reproduce.rows import Row
from humor_tasks.rows.pins import DATASETS
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

SAMPLE = "sample"
JUDGES = 2  # of HumanAcc in MOCK
WORDS = 39_300 / 651  # of an explanation (Hessel et al. 2023, section 2)
COUNT = {"count": "n_expl_toks"}  # of the tokens of a published perplexity; in signatures
PEOPLE, RESPONSES, MISSED = 3, 300, 5  # Hessel et al. 2023, section 3: 100 items of a task each; 595 of two tasks


@dataclass(frozen=True)
class Computed:
    """Estimates by metric name, and where the rows that they are of are not the published ones, one sentence each.

    signature: that of the scores, where it says more than that of the run.
    """

    estimates: Mapping[str, Estimate]
    others: Sequence[str] = ()
    signature: str = ""


class CannotRunHere(Exception):
    """What a row needs is not at hand; the message says what."""


@dataclass(frozen=True)
class Given:
    """What the user gives: a dataset (or a folder of datasets by card), a model, predictions, other parameters.

    agreement: the report of `people agreement` on the votes, where predictions are votes. items: the rows of the file
    of items that they are on.
    """

    dataset: str | None = None
    model: str | None = None
    predictions: Path | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    agreement: Mapping[str, Any] | None = None
    items: Sequence[Mapping[str, Any]] = ()

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


def expected(row: Row, given: Given) -> Computed:
    """The exact expectation of a uniformly random label: the mean of the scores of always A, always B and so on.

    A seed can be unlucky; the expectation cannot. There is no interval, because nothing is drawn.
    """
    run = opened(row, given)
    always = [evaluate(run, {r.id: Answer(label) for r in run.records}).metrics for label in run.form.labels]

    def mean(name: str) -> Estimate:
        values = [metrics[name].value for metrics in always]
        one = always[0][name]
        return Estimate(math.fsum(values) / len(values), math.nan, math.nan, math.nan, one.n, one.clusters)

    return Computed({name: mean(name) for name in always[0]}, corpora.of_run(row.known, run))


def from_training_rows(row: Row, given: Given) -> Computed:
    """For every item, the most frequent label of its fold's training rows (the first one in a tie), or their mean."""
    run = opened(row, given)
    try:
        metrics = evaluate(run, baseline_answers(row.recipe, run)).metrics
    except BadInput as problem:
        raise CannotRunHere(str(problem)) from None
    return Computed(metrics, corpora.of_run(row.known, run, trains=True))


def baseline_answers(recipe: str, run: Run) -> dict[str, Answer]:
    """The answer to every item by recipe `majority` or `mean`. Raises BadInput where there are no training rows."""
    by_fold: dict[str, Answer] = {}
    for record in run.records:
        fold = record.groups.get("fold", "")
        if fold not in by_fold:
            targets = [shot.target for shots in run.pool(fold).values() for shot in shots if shot.target is not None]
            if not targets:
                raise BadInput(f"{run.benchmark.name}: {run.options.dataset} has no training rows.")
            if recipe == "majority":
                by_fold[fold] = Answer(max(sorted(set(targets)), key=Counter(targets).__getitem__))
            else:
                by_fold[fold] = Answer(repr(math.fsum(map(float, targets)) / len(targets)))
    return {record.id: by_fold[record.groups.get("fold", "")] for record in run.records}


# ---- people -------------------------------------------------------------------------------------


def labelled(row: Row, given: Given) -> Computed:
    """The share of explanations of the row's system that people passed."""
    dataset = given.dataset_of(row)
    if dataset is not None and row.file and Path(dataset).is_dir():
        dataset = str(Path(dataset) / row.file)
    run = _open(row.labels or row.benchmark, row, dataset, {})
    (figure,) = row.figures
    explainers = dict.fromkeys(r.groups["explainer"] for r in run.records)
    labels = [r for r in run.records if _bare(figure.system) in _bare(r.groups["explainer"])]
    if len(labels) != figure.n:
        raise CannotRunHere(
            f"{dataset or run.options.dataset} holds {len(labels)} labels of {figure.system} and {figure.n} are "
            f"published; it has those of {', '.join(explainers)}. Give the file: --dataset {row.file}."
        )
    passed = [float(record.target == "PASS") for record in labels]
    estimate = clustered_proportion(passed, [record.cluster for record in labels])
    return Computed({figure.metric: estimate}, corpora.of_run(row.known, run))


def _bare(name: str) -> str:
    """A model's name without what the paper and its files write differently: case and punctuation."""
    return "".join(c for c in name.casefold() if c.isalnum())


# ---- models and predictions -----------------------------------------------------------------------


def run_model(row: Row, given: Given) -> Computed:
    """The scores of the model that the user names, run in Inspect."""
    if given.model is None:
        raise _lacking(row, "it needs a model: give --model MODEL, or --predictions with the log of its command.")
    run = opened(row, given)  # says what is missing before a model is loaded
    from contextlib import redirect_stdout

    from inspect_ai import eval

    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.on_inspect.errors import one_line
    from humor_tasks.on_inspect.private import PrerequisiteError
    from humor_tasks.results import read_results

    dataset = given.dataset_of(row)
    parameters = {**row.parameters, **given.parameters, **({"dataset": dataset} if dataset else {})}
    try:
        model = open_model(given.model)
    except BadInput as problem:
        raise CannotRunHere(str(problem)) from None
    try:
        with redirect_stdout(sys.stderr):  # stdout is for the verdict
            (log,) = eval(f"humor_tasks/{row.benchmark}", task_args=parameters, model=model)
    except (PrerequisiteError, ValueError) as problem:
        raise CannotRunHere(f"{given.model}: {one_line(problem)}") from None
    if log.status != "success":
        raise CannotRunHere(
            f"{given.model}: the run ended with status {log.status} ({log.error and log.error.message})."
        )
    try:
        (result,) = read_results([Path(log.location)]).results
    except BadInput as problem:
        raise CannotRunHere(str(problem)) from None
    return Computed(result.estimates, corpora.of_run(row.known, run))


def _lacking(row: Row, need: str) -> CannotRunHere:
    retired = row.retired and f"the published model was shut down on {row.retired}, and another is no reproduction; "
    return CannotRunHere(f"{retired or ''}{need}")


def _needs(need: str) -> Callable[[Row, Given], Computed]:
    """A recipe that computes nothing: what it needs comes from the user or from people."""

    def refuse(row: Row, given: Given) -> Computed:
        raise _lacking(row, f"it needs {need}")

    return refuse


RECIPES: Mapping[str, Callable[[Row, Given], Computed]] = {
    "random": expected,
    "majority": from_training_rows,
    "mean": from_training_rows,
    "labels": labelled,
    "model": run_model,
    "predictions": _needs("predictions: give --predictions FILE, predictions or the log of its command."),
    "perplexity": _needs("--predictions FILE: metrics.json of its training, or lm-eval's results_*.json."),
    "agreement": _needs("people's votes: give --predictions VOTES with --items PAIRS, or agreement's JSON."),
    "people": _needs("people's votes on the items that its command writes: give --predictions VOTES with --items."),
}


def rescored(row: Row, given: Given, path: Path) -> Computed:
    """The scores of predictions: a submission, {id: reply}, the authors' released replies, or a log of either
    harness or a folder of its parts.

    Raises BadInput for what does not fit the row's benchmark, rows and parameters.
    """
    from humor_tasks.logs.predictions import read_predictions
    from humor_tasks.results.read import is_log

    if row.recipe in ("random", "labels", "votes"):
        raise BadInput(f"{row.name} is not computed from predictions; leave --predictions out.")
    if not path.exists():
        raise BadInput(f"{path}: there is no such file.")
    if row.recipe == "agreement":
        return agreed(row, given.agreement or parse_json(path, read_body(path)), path)
    if row.recipe == "people":
        return answered(row, given, path)
    if row.recipe == "perplexity":
        return measured(row, given, path)
    if path.is_dir() or is_log(path):
        return _of_log(row, given, path)
    run = opened(row, given)
    if is_query_cache(path):
        replies: dict[str, Any] = read_query_cache(row, path, [r.id for r in run.records], bool(run.form.labels))
    else:
        replies = read_predictions(path, run.form.from_submission)
    try:
        return Computed(evaluate(run, replies).metrics, corpora.of_run(row.known, run))
    except BadInput as problem:
        raise BadInput(f"{path}: {problem}") from None


def agreed(row: Row, report: Any, path: Path) -> Computed:
    """HumanAcc of one question in the report of `people agreement`: the mean of the judges' shares of choices.

    Raises BadInput for another file, and where the votes are not on one system's texts against people's.
    """
    (figure,) = row.figures
    try:
        held = [question for question in report["questions"] if question["kind"] == "preference"]
        if len(held) != 1:
            _check_fits(path, row, [f"it has {len(held)} questions of preference; give the votes on one system."])
        (question,) = held
        if (question["a"], question["b"]).count(HUMAN) != 1:
            sides = f"{question['a']} and {question['b']}"
            _check_fits(path, row, [f"it compares {sides}, and not a system with {HUMAN}; give --items, the pairs."])
        items, people = question["items"], len(report["raters"])
        estimate = _told(question["metrics"]["human_acc"])
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise BadInput(f"{path}: is no report of `people agreement` in JSON ({problem!r:.100}).") from None
    published = row.known.counts[figure.part or ""] if row.known else None
    others = [f"{items:,} items have votes, and {published:,} are published."] if published not in (None, items) else []
    others += [f"{people} people voted, and two are published."] if people != JUDGES else []
    return Computed({figure.metric: estimate}, others)


def _told(metric: Mapping[str, Any]) -> Estimate:
    """An estimate of the report of `people agreement`."""
    numbers = [math.nan if metric[name] is None else float(metric[name]) for name in ("value", "stderr", "low", "high")]
    return Estimate(*numbers, int(metric["n"]), int(metric["clusters"]))


def answered(row: Row, given: Given, path: Path) -> Computed:
    """People's accuracies on items of the row's benchmark: shares of right votes, in the report of `people agreement`.

    The items that the paper drew are not published; they count as its rows where all are items of the published rows.
    Raises BadInput for votes on other items, and for items without answers or sources.
    """
    report = given.agreement or {"questions": []}
    kinds = [question["kind"] for question in report["questions"]]
    if kinds != [row.benchmark]:
        held = ", ".join(kinds) or "no"
        _check_fits(path, row, [f"--items has {held} items; write those of {row.benchmark} by `{row.command}`."])
    (question,) = report["questions"]
    metrics, votes, people = question["metrics"], question["ratings"], len(report["raters"])
    names = {f.metric: "accuracy_of_votes" if f.metric == "accuracy" else f.metric for f in row.figures}
    if any(name not in metrics for name in names.values()) or metrics["accuracy_of_votes"]["n"] < votes:
        _check_fits(path, row, [f"items have no answer or winner_source; write them by `{row.command}`."])
    others = [f"{people} people voted, and {PEOPLE} are published."] if people != PEOPLE else []
    if not RESPONSES - MISSED <= votes <= RESPONSES:
        others.append(f"there are {votes} votes, and {RESPONSES - MISSED} to {RESPONSES} are published.")
    if described := sum(not item.get("image") for item in given.items):
        others.append(f"{described} items show no picture, and the published ones nothing else.")
    return Computed({metric: _told(metrics[name]) for metric, name in names.items()}, others + _other_items(row, given))


def _other_items(row: Row, given: Given) -> list[str]:
    """Where people's items are not among the published rows, which are read from the dataset."""
    try:
        run = opened(row, given)
    except CannotRunHere as problem:
        return [f"nothing shows that the items are of the published rows ({problem}). Give them as --dataset."]
    known = {(r.id, r.choices, r.target, r.groups.get("winner_source")) for r in run.records}
    unknown = [
        item["id"]
        for item in given.items
        if (item["id"], tuple(item["options"]), item.get("answer"), item.get("winner_source")) not in known
    ]
    other = [f"{listed('item', unknown, 3)}: not a row of {run.options.dataset}."] if unknown else []
    return other + corpora.of_run(row.known, run)


def measured(row: Row, given: Given, path: Path) -> Computed:
    """The perplexities in the metrics of a training, or in lm-eval's results, by the published count (`per_token`).

    Raises BadInput for another file, and for a run on other rows or with other parameters.
    """
    parameters = {**row.parameters, **given.parameters}
    data = parse_json(path, read_body(path))
    try:
        if path.name == METRICS:
            settings = {name: str(value) for name, value in json_object(path.parent / CONFIG).items()}
            split, benchmark = parameters.get("split", "test"), settings["task"]
            values = {name: estimate["value"] for name, estimate in data[split]["perplexity"].items()}
            count = _rows_of_training(data, split)
            read = settings.get("dataset", "")
            revision = settings.get("revision", "None")
            signature = Signature({"data": read, "rev": DATASETS.get(read) if revision == "None" else revision})
        else:
            ((task, config),) = data["configs"].items()
            signature = Signature.parse(config["metadata"]["signature"])
            settings = dict(signature)
            benchmark, count = settings["bench"], data["n-samples"][task]["effective"]
            values = {figure.metric: data["results"][task][f"{figure.metric},none"] for figure in row.figures}
        values = {name: math.nan if value is None else per_token(_number(value)) for name, value in values.items()}
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise TypeError(f"{count!r:.40} rows")
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as problem:
        raise BadInput(f"{path}: holds no perplexity of one run of {row.benchmark} ({problem!r:.100}).") from None
    if benchmark != row.benchmark:
        _check_fits(path, row, [f"it is a run of {benchmark}."])
    _check_fits(path, row, _other(parameters, settings, signature.get("data")))
    estimates = {name: Estimate(value, math.nan, math.nan, math.nan, count, 0) for name, value in values.items()}
    total = row.known.total if row.known else None
    fewer = [f"it is of {count:,} rows, and {total:,} are published."] if total not in (None, count) else []
    return Computed(estimates, fewer or _others(row, given, signature), str(signature.with_entries(COUNT)))


def per_token(perplexity: float) -> float:
    """A perplexity per word, as whitespace separates them, by the count of the published ones.

    The authors' README says that `n_expl_toks` of their release is the number of tokens in the perplexity. It prints
    two explanations, whose count is a word more than whitespace separates; of one of them the hub's `n_tokens_label`
    has the words alone. Words are those of a mean explanation: over folds this differs by a thousandth at most.
    """
    return math.pow(perplexity, WORDS / (WORDS + 1))


def _rows_of_training(data: Mapping[str, Any], split: str) -> Any:
    """The number of rows of a split: of the run, or of its folds together."""
    if "rows" in data:
        return data["rows"][split]
    return sum(fold["rows"][split] for fold in data["folds"].values())


def _others(row: Row, given: Given, signature: Signature) -> list[str]:
    """Where the rows of a finished run are not the published ones: by its signature, else by the rows themselves.

    These are those of the given dataset, else of the one that the run names.
    """
    decided = corpora.of_signature(row.known, row.benchmark, signature)
    if decided is not None:
        return decided
    dataset = given.dataset_of(row) or signature.get("data")
    try:
        run = _open(row.benchmark, row, dataset, {**row.parameters, **given.parameters})
    except CannotRunHere as problem:
        return [f"nothing shows that its rows are the published ones ({problem}). Give them as --dataset."]
    mark = str(run.data.provenance["fingerprint"])[:12]
    if signature.get("rows", mark) != mark:
        return [f"the fingerprint of its rows is {signature['rows']}, and that of {dataset} is {mark}."]
    return corpora.of_run(row.known, run)


def _number(value: Any) -> float:
    """A perplexity, which is at least 1. Raises TypeError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or float(value) < 1:
        raise TypeError(f"{value!r:.40} is no perplexity")
    return float(value)


def _of_log(row: Row, given: Given, path: Path) -> Computed:
    from humor_tasks.results import read_results

    results = read_results([path]).of(row.benchmark)
    if not results:
        raise BadInput(f"{path}: is no run of {row.benchmark}.")
    if len({result.paths for result in results}) > 1:
        raise BadInput(f"{path}: holds several runs of {row.benchmark}; name one log, or a folder of the parts of one.")
    first = results[0]
    problems = [] if first.complete else list(first.notes)
    problems += _other({**row.parameters, **given.parameters}, first.signature, first.signature.get("data"))
    _check_fits(path, row, problems)
    estimates = {name: estimate for result in reversed(results) for name, estimate in result.estimates.items()}
    items = [(outcome.groups, outcome.id) for outcome in first.outcomes]
    others = corpora.of_items(row.known, items)
    return Computed(estimates, _others(row, given, first.signature) if others is None else others)


def _other(parameters: Mapping[str, Any], signature: Mapping[str, str], dataset: str | None) -> list[str]:
    """Where a run differs from a row with these parameters."""
    problems = [
        f"it has {name}={signature[name]}, the row {name}={value}."
        for name, value in parameters.items()
        if signature.get(name, str(value)) != str(value)
    ]
    return [*problems, *(["its rows are those of the packaged sample."] if dataset == SAMPLE else [])]


def _check_fits(path: Path, row: Row, problems: Sequence[str]) -> None:
    if problems:
        raise BadInput(f"{path}: does not fit {row.name}: {' '.join(problems)}")
