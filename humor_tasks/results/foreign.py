"""Logs of other packages' tasks as results, so that everything that compares and reports results takes them.

Such a result has one metric: the values of one scorer, as they are in the log. Its benchmark is a description that
holds no more than names. What the log does not say is told with the result (`Result.unknown`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.contract.answers import FreeText
from humor_tasks.contract.card import Card
from humor_tasks.contract.definition import Benchmark, Data, Options, Run
from humor_tasks.contract.metric import Metric
from humor_tasks.errors import BadInput
from humor_tasks.logs import FinishedRun, LoggedSample
from humor_tasks.logs.record import MEAN
from humor_tasks.logs.signature import settings_shown
from humor_tasks.results.result import Result
from humor_tasks.rows.records import Outcome

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's grades (correct, partial, incorrect, no answer) and the values that its metrics give them."""
LARGEST = 1e100
"""The largest score, so that squares of sums can be computed."""
NO_RESULTS = "{} has no results file beside it: its folder names the model; task version and arguments are not known."
NO_DIRECTION = "The logs do not say whether higher values of {} are better; they count as better."
NO_CLUSTERS = "Each item counts as a cluster of its own; --cluster names a field that related items share."


@dataclass(frozen=True)
class Foreign:
    """How logs of other packages' tasks are read.

    metrics: the scores to read, of each task the first that it has: SCORER, SCORER.KEY of a scorer with several values,
    METRIC or METRIC,FILTER of lm-eval; a part of the name where that is clear. cluster: the field of the samples'
    metadata, or of lm-eval's documents, that items of one cluster share; None: each item is a cluster.
    """

    metrics: Sequence[str] = ()
    cluster: str | None = None


def foreign_result(run: FinishedRun, how: Foreign) -> tuple[Result, int, int]:
    """The result, without system and notes; the number of samples with an error, and of others without any score.

    Raises BadInput for a run without scores, of several scores of which `how` chooses none, with a score that is no
    number, and with a sample that lacks the field of clusters.
    """
    samples = sorted(run, key=lambda sample: (sample.epoch, sample.place or 0))
    scored = [(sample, values) for sample in samples if (values := _values(sample))]
    metric = _chosen(list(dict.fromkeys(name for _, values in scored for name in values)), how.metrics, run)
    graded = any(isinstance(values.get(metric), str) for _, values in scored)
    if run.protocol.get("reducer", MEAN) != MEAN:
        scored = list(_reduced((sample for sample, _ in scored), metric, run))
    outcomes = tuple(_outcome(sample, values.get(metric), metric, how.cluster) for sample, values in scored)
    entries = {"metric": metric, "items": _fingerprint(samples, run.harness)}
    if scoring := run.scorers.get(metric.split(".")[0]):
        entries["scoring"] = settings_shown(scoring)
    opened = _described(run, metric, graded, outcomes)
    no_results = run.harness == "lm_eval" and not run.invocation.words
    told = (
        NO_RESULTS.format(run.path.name) if no_results else "",
        opened.benchmark.metrics[0].about,
        NO_CLUSTERS if how.cluster is None else "",
    )
    result = Result(
        run=dataclasses.replace(run, signature=run.protocol.with_entries(entries)),
        opened=opened,
        scorer=metric,
        system=run.model,
        outcomes=outcomes,
        epochs=tuple(sample.epoch for sample, _ in scored),
        paths=(run.path,),
        judging={"models": ", ".join(run.graders) or "-"},
        unknown=tuple(filter(None, told)),
    )
    unscored = sum(sample.error is None and not _values(sample) for sample in samples)
    return result, sum(sample.error is not None for sample in samples), unscored


def alike(results: Iterable[Result]) -> Iterator[Result]:
    """The results, those of one task under one description: that of a known direction and, of these, no proportion."""
    results = list(results)
    for result in results:
        same = [r for r in results if (r.benchmark.name, r.scorer) == (result.benchmark.name, result.scorer)]
        first = min(same, key=lambda r: (bool(r.benchmark.metrics[0].about), r.benchmark.metrics[0].proportion))
        yield dataclasses.replace(result, opened=first.opened)


# ---- a sample -----------------------------------------------------------------------------------


def _values(sample: LoggedSample) -> dict[str, Any]:
    """The values of its scores by SCORER, or by SCORER.KEY of a score with several."""
    values: dict[str, Any] = {}
    for score in sample.scores:
        if isinstance(score.value, Mapping):
            values |= {f"{score.scorer}.{key}": value for key, value in score.value.items()}
        elif score.value is not None:
            values[score.scorer] = score.value
    return values


def _outcome(sample: LoggedSample, value: Any, metric: str, field: str | None) -> Outcome:
    if field is not None and field not in sample.metadata:
        known = ", ".join(map(str, sample.metadata)) or "none"
        raise BadInput(f"{sample.where}: its metadata has no field {field} (--cluster); its fields: {known}.")
    cluster = sample.id if field is None else str(sample.metadata[field])
    status = "refused" if sample.refused else "empty" if sample.reply == "" else "answered"
    answer = next((score.answer for score in sample.scores if score.scorer == metric.split(".")[0]), None)
    number = _number(value, metric, sample.where)
    values = {} if number is None else {metric: number}
    return Outcome(sample.id, cluster, {}, status, answer, sample.target, values)


def _number(value: Any, metric: str, where: str) -> float | None:
    """The value as a number; None for a score that its scorer left without value, which Inspect's metrics exclude."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str) and value in GRADES:
        return GRADES[value]
    if not isinstance(value, int | float) or abs(value) > LARGEST:
        raise BadInput(
            f"{where}: its {metric} is {value!r}; a score is a number up to {LARGEST:g} or one of {', '.join(GRADES)}."
        )
    return float(value)


def _reduced(
    samples: Iterable[LoggedSample], metric: str, run: FinishedRun
) -> Iterator[tuple[LoggedSample, dict[str, Any]]]:
    """Each item once, with the value to which the log reduced its epochs."""
    scorer, _, key = metric.partition(".")
    by_id = run.reduced.get(scorer, {})
    for sample in {sample.id: sample for sample in samples}.values():
        if sample.id not in by_id:
            raise BadInput(
                f"{sample.where}: the log reduces its epochs by {run.protocol['reducer']}, and has no such value of "
                f"{metric}; score it again with `inspect score`."
            )
        value = by_id[sample.id]
        yield sample, {metric: value.get(key) if isinstance(value, Mapping) else value}


def _fingerprint(samples: Iterable[LoggedSample], harness: str) -> str:
    """A digest of the ids and texts of all items; of lm-eval's the documents, because prompts differ by model."""
    items = {sample.id: sample.question if harness == "inspect" else sample.metadata for sample in samples}
    return hashlib.sha256(json.dumps(items, sort_keys=True, default=str).encode()).hexdigest()[:12]


# ---- the metric and its description -----------------------------------------------------------------


def _chosen(names: Sequence[str], metrics: Sequence[str], run: FinishedRun) -> str:
    """The score of these names that is read."""
    if not names:
        remedy = "score it with `inspect score`" if run.harness == "inspect" else "its metrics' columns hold no number"
        raise BadInput(f"{run.path}: holds no score of any item; {remedy}.")
    choose = f"choose with --metric from {'; '.join(names)}."
    for asked in metrics:
        named = [n for n in names if n == asked] or [n for n in names if asked in re.split(r"[.,]", n)]
        if len(named) > 1:
            raise BadInput(f"{run.path}: {asked} names {len(named)} of its scores; {choose}")
        if named:
            return named[0]
    if metrics or len(names) > 1:
        held = f"has no score {' or '.join(metrics)}" if metrics else f"holds {len(names)} scores of each item"
        raise BadInput(f"{run.path}: {held}; {choose}")
    return names[0]


def _described(run: FinishedRun, metric: str, graded: bool, outcomes: Iterable[Outcome]) -> Run:
    """The task as a benchmark, opened without data. `Metric.about` says where the direction is not known."""
    higher = run.higher_is_better.get(metric.split(",")[0], True if graded else None)
    task = run.protocol["bench"]
    name = task if "/" in task else f"{run.harness}/{task}"  # none of this package's has such a name
    of = Metric(
        metric,
        "lower" if higher is False else "higher",
        proportion=all(0 <= value <= 1 for outcome in outcomes for value in outcome.values.values()),
        about=NO_DIRECTION.format(metric) if higher is None else "",
    )
    title = f"{name}, a task of another package"
    undefined: dict[str, Any] = {"load": _undefined, "prompt": _undefined, "outcome": _undefined}
    benchmark = Benchmark(name, Card(title), run.version, FreeText(), (of,), Options, (), **undefined)
    return Run(benchmark, Options(), Data((), {}), {})


def _undefined(*given: Any) -> Any:
    raise BadInput("a task of another package is read from its logs alone; it cannot be asked or scored here.")
