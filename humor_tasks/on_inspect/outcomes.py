"""The run that a sample belongs to, opened from its metadata, and the metrics of its scores.

A scorer reads its configuration from the sample, whose metadata names the benchmark and the options for reading a
reply. So `inspect score LOG --scorer humor_tasks/multiple_choice` works on any log of these tasks, and the scorers also
work in tasks of other packages.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from inspect_ai.scorer import SampleScore
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.preference import REFERENCE
from humor_tasks.contract.answers import Choice, FreeText, Rating
from humor_tasks.contract.definition import Benchmark, Run
from humor_tasks.contract.metric import Metric as BenchmarkMetric
from humor_tasks.errors import BadInput
from humor_tasks.logs.inspect_logs import outcome_in
from humor_tasks.logs.record import TaskMetadata, task_metadata
from humor_tasks.logs.signature import Signature, differing
from humor_tasks.models.choosers.chooser import LETTERS
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.hooks import warn_if_scored_again
from humor_tasks.scorers.estimate import Estimate

_runs: dict[tuple[int, str], Run] = {}
"""The runs of the logs that this process scores, one for all samples with the same settings."""


class Opened(NamedTuple):
    """The run of a sample, without data, and what the sample's metadata says of it."""

    run: Run
    logged: TaskMetadata


def reported(scores: list[SampleScore], like: str, of: Callable[[Run], Run] = lambda run: run) -> dict[str, float]:
    """Every metric of the scores' run over them, by `flat`. Raises CannotRun where they are of several runs.

    like: as in `opened`. of: returns the run that has the metrics, from the one that the samples are of.
    """
    if not scores:
        return {}
    run, first = opened(scores[0].sample_metadata or {}, like)
    others = [task_metadata(sample.sample_metadata or {}) for sample in scores[1:]]
    check_one_run([logged.signature for logged in (first, *others)])
    outcomes = []
    for sample in scores:
        where = f"sample {sample.sample_id}"
        outcome = outcome_in(sample.score, str(sample.sample_id), where)
        if outcome is None:
            raise ValueError(f"{where}: benchmark_metrics reads scores of humor_tasks' own scorers only.")
        outcomes.append(outcome)
    run = of(run)
    estimates = run.metrics(outcomes)
    warn_if_scored_again({name: estimate.value for name, estimate in estimates.items()})
    return flat(estimates, run.reported)


def flat(estimates: Mapping[str, Estimate], metrics: Sequence[BenchmarkMetric]) -> dict[str, float]:
    """Estimates as a flat dict of numbers in the order of reading: `x`, `x_stderr`, `x_ci_low`, `x_ci_high`.

    The primary metric, the first of `metrics`, is first, with its error and interval as `stderr`, `ci_low` and
    `ci_high`, which Inspect's header and data frames know; last, they are repeated under their own names. Before those
    are the rates of what is not wanted that are zero; their parts are left out, because they are zero, too.
    """
    named = {metric.name: metric for metric in metrics}
    rates = [n for n, metric in named.items() if metric.proportion and metric.direction == "lower"]
    zero = [name for name in rates if name in estimates and estimates[name].value == 0]
    parts_of_zero = tuple(f"{name}_" for name in zero)
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    repeated: dict[str, float] = {}
    for name, e in estimates.items():
        bounds = {"stderr": e.stderr, "ci_low": e.low, "ci_high": e.high}
        bound_values = {f"{name}_{bound}": value for bound, value in bounds.items()}
        if name == metrics[0].name:
            first |= {name: e.value, **bounds}
            repeated = bound_values
        elif name in zero:
            last |= {name: e.value, **bound_values}
        elif name in named or not name.startswith(parts_of_zero):
            first |= {name: e.value, **bound_values}
    return first | last | repeated


def opened(metadata: Mapping[str, Any], like: str | Benchmark[Any], choices: int = 0, **changes: str | None) -> Opened:
    """The run of a sample, rebuilt from its metadata, which is sufficient to read and score replies.

    Samples with equal settings share it. A sample of another package's task has no such metadata. It is scored `like` a
    benchmark, with a letter per choice. Raises BadInput for changes that the benchmark does not take.
    """
    try:
        logged = task_metadata(metadata)
    except BadInput as problem:
        cannot_run(str(problem))
    named = logged.benchmark or like
    definition = find_benchmark(named) if isinstance(named, str) else named
    settings = dict(logged.options) | {name: value for name, value in changes.items() if value is not None}
    key = id(definition), json.dumps([logged.version, choices, settings], default=str)
    if key not in _runs:
        try:
            definition.check_version(logged.version)
        except BadInput as problem:
            cannot_run(str(problem))
        _runs[key] = _with_letters(definition.reopen(logged.version, settings), choices)
    return Opened(_runs[key], logged)


def _with_letters(run: Run, choices: int) -> Run:
    """The run with a letter for each of so many choices, where its own form is a choice of another number."""
    if isinstance(run.form, Choice) and choices and choices != len(run.form.letters):
        letters = dataclasses.replace(run.form, letters=LETTERS[:choices])
        run = dataclasses.replace(run, benchmark=dataclasses.replace(run.benchmark, answer=letters))
    return run


def check_one_run(signatures: Sequence[Signature]) -> None:
    """Raise CannotRun where samples were asked with other rows, prompts or settings than others of the same log.

    signatures: those of the samples. `inspect eval-retry` and `inspect eval-set` keep a log's finished samples by
    their ids, whatever has changed since.
    """
    signed = list(dict.fromkeys(signature.without_release for signature in signatures))
    if len(signed) < 2:
        return
    changed = differing(signed[:2])
    cannot_run(
        f"the log mixes samples of {len(signed)} runs, which differ in {', '.join(changed)}: rows, prompts or settings "
        "were changed after the first attempt. Restore them and run inspect eval-retry again, or start a new run."
    )


def opened_for(scorer: str, state: TaskState, like: str | Benchmark[Any], **changes: str | None) -> Opened:
    """As `opened`, for one of this package's scorers, with a letter for each of the sample's choices.

    Raises CannotRun for a sample of a benchmark whose replies the scorer does not score: their scores would be those of
    an unreadable reply.
    """
    run, logged = found = opened(state.metadata, like, len(state.choices), **changes)
    fitting = scorers_of(run)
    if logged.benchmark is not None and scorer not in fitting:
        named = " or ".join(f"humor_tasks/{name}" for name in fitting) or "the scorer of its own package"
        cannot_run(
            f"sample {state.sample_id} is of {run.benchmark.name}, whose replies {scorer} does not score; use {named}."
        )
    return found


def scorers_of(run: Run) -> tuple[str, ...]:
    """The names of the scorers that score a run's replies."""
    if run.benchmark.judging:
        return (run.benchmark.judging.scorer,)
    if isinstance(run.form, FreeText):
        by_reference = ("reference_overlap", REFERENCE.scorer, "preference")
        return by_reference if run.form.reference else tuple(filter(None, [run.form.scorer]))
    return ("rating_error",) if isinstance(run.form, Rating) else ("multiple_choice",)


def sign(state: TaskState, logged: TaskMetadata, entries: Mapping[str, str]) -> None:
    """Write entries into the signature in a sample's metadata; a task of another package has none.

    The reader of logs takes the run's signature from its samples where such a solver was in the plan. logged: what the
    metadata says.
    """
    if logged.signature:
        known = state.metadata["humor_tasks"]
        state.metadata["humor_tasks"] = {**known, "signature": str(logged.signature.with_entries(entries))}
