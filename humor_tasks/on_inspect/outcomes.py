"""Outcomes <-> Inspect scores, and the metrics over them.

A scorer reads what it needs from the sample (its metadata names the benchmark and how to read a
reply), so `inspect score LOG --scorer humor_tasks/multiple_choice` works on any log of these tasks,
and the scorers work in other people's tasks too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Target, Value, metric
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.answers import Choice
from humor_tasks.benchmarks.contract import Data, Run
from humor_tasks.data.logs.inspect_logs import outcome_in
from humor_tasks.data.logs.metadata import about
from humor_tasks.data.records import Outcome, Record
from humor_tasks.models.choosers.chooser import LETTERS
from humor_tasks.scorers.estimate import Estimate

REASONS = {"unparsed": "invalid_response_format", "refused": "refusal", "empty": "no_response"}


@metric(scores="unreduced")
def benchmark_metrics(benchmark: str = "matching") -> Metric:
    """Every metric of the sample's benchmark with standard error and interval, over all epochs.

    Works on unreduced scores: a reducer would keep only the first epoch's unparsed replies.

    Args:
        benchmark: Whose metrics to report for samples of other people's tasks.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:
            return {}
        run = run_of(scores[0].sample_metadata or {}, benchmark)
        return flat(run.metrics([outcome_of(score) for score in scores]))

    return compute


def flat(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """Estimates as named numbers: `x`, `x_stderr`, `x_ci_low`, `x_ci_high`."""
    values: dict[str, float] = {}
    for name, estimate in estimates.items():
        values |= {name: estimate.value, f"{name}_stderr": estimate.stderr}
        values |= {f"{name}_ci_low": estimate.low, f"{name}_ci_high": estimate.high}
    return values


def run_of(metadata: Mapping[str, Any], benchmark: str, choices: int = 0, **changes: str | None) -> Run:
    """A run without data, rebuilt from a sample's metadata: enough to read and score replies.

    A sample of somebody else's task has no such metadata: it is scored like `benchmark`, with as
    many letters as it has choices.
    """
    told = about(metadata)
    definition = find_benchmark(told.benchmark or benchmark)
    settings = dict(told.options) | {name: value for name, value in changes.items() if value is not None}
    options = definition.options(**settings)
    form = definition.form(options)
    if isinstance(form, Choice) and choices and choices != len(form.letters):
        definition = dataclasses.replace(definition, answer=dataclasses.replace(form, letters=LETTERS[:choices]))
    return Run(definition, options, Data((), {}), {})


def read_reply(run: Run, state: TaskState, target: Target) -> Outcome:
    """The outcome of a sample's reply."""
    identity = str(state.sample_id)
    cluster = str(state.metadata.get("cluster", identity))
    record = Record(identity, cluster, {}, "", (), target.text or None, about(state.metadata).groups)
    refused = state.output.stop_reason == "content_filter" if state.output.choices else False
    return run.outcome(record, state.output.completion, refused)


def score_of(outcome: Outcome, value: Value, explanation: str | None = None, **more: Any) -> Score:
    """The score that keeps an outcome; `more` is kept beside it."""
    return Score(
        value=value,
        answer=outcome.answer,
        explanation=explanation,
        reason=REASONS.get(outcome.status),
        metadata={"status": outcome.status, "target": outcome.target, "values": dict(outcome.values), **more},
    )


def outcome_of(sample_score: SampleScore) -> Outcome:
    """The outcome that a score keeps."""
    identity = str(sample_score.sample_id)
    if "values" not in (sample_score.score.metadata or {}):
        raise ValueError(f"sample {identity}: benchmark_metrics reads scores of humor_tasks' own scorers only.")
    return outcome_in(sample_score.score, identity, sample_score.sample_metadata or {})
