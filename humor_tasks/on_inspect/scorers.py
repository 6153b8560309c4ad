"""Outcomes -> Inspect scores and metrics.

A scorer reads what it needs from the sample (its metadata names the benchmark and how to read a
reply), so `inspect score LOG --scorer humor_tasks/multiple_choice` works on any log of these tasks,
and the scorers work in other people's tasks too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from humor_tasks.benchmark import Data, Outcome, Record, Run
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.errors import BadInput
from humor_tasks.models.chooser import LETTERS
from humor_tasks.scorers.estimate import Estimate

REASONS = {"unparsed": "invalid_response_format", "refused": "refusal", "empty": "no_response"}


@metric(scores="unreduced")
def benchmark_metrics() -> Metric:
    """Every metric of the sample's benchmark with standard error and interval, over all epochs.

    Works on unreduced scores: a reducer would keep only the first epoch's unparsed replies.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:
            return {}
        run = _run(scores[0].sample_metadata or {})
        return flat(run.metrics([_outcome(score) for score in scores]))

    return compute


def flat(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """Estimates as named numbers: `x`, `x_stderr`, `x_ci_low`, `x_ci_high`."""
    values: dict[str, float] = {}
    for name, estimate in estimates.items():
        values |= {name: estimate.value, f"{name}_stderr": estimate.stderr}
        values |= {f"{name}_ci_low": estimate.low, f"{name}_ci_high": estimate.high}
    return values


@scorer(metrics=[benchmark_metrics()])
def multiple_choice(extraction: str | None = None, on_unparsed: str | None = None) -> Scorer:
    """A letter read from the reply, compared with the target.

    Args:
        extraction: How to read it; by default as the task says, else `strict`.
        on_unparsed: What an unreadable reply counts as; by default as the task says, else `wrong`.
    """

    try:
        _run({}, extraction=extraction, on_unparsed=on_unparsed)
    except BadInput as problem:
        raise PrerequisiteError(f"multiple_choice: {problem}") from None

    async def score(state: TaskState, target: Target) -> Score:
        run = _run(state.metadata, len(state.choices), extraction=extraction, on_unparsed=on_unparsed)
        outcome = _read(run, state, target)
        correct = outcome.values.get("accuracy")
        return _score(outcome, "N" if correct is None else "C" if correct else "I")

    return score


@scorer(metrics=[benchmark_metrics()])
def reference_overlap() -> Scorer:
    """ROUGE-L of the reply's explanation with the reference; BLEU-4 over the corpus as a metric."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = _read(_run(state.metadata, benchmark="explanation"), state, target)
        return _score(outcome, outcome.values.get("rouge_l", "N"))

    return score


def _run(metadata: Mapping[str, Any], choices: int = 0, benchmark: str = "matching", **changes: str | None) -> Run:
    """A run without data, rebuilt from a sample's metadata: enough to read and score replies.

    A sample of somebody else's task has no such metadata: it is scored like `benchmark`, with as
    many letters as it has choices.
    """
    settings = dict(metadata.get("humor_tasks", {}))
    definition = BENCHMARKS[settings.pop("benchmark", benchmark)]
    if choices and choices != len(definition.letters):
        definition = dataclasses.replace(definition, letters=LETTERS[:choices])
    settings |= {name: value for name, value in changes.items() if value is not None}
    return Run(definition, definition.options(**settings), Data((), {}, lambda fold: {}), {})


def _read(run: Run, state: TaskState, target: Target) -> Outcome:
    identity = str(state.sample_id)
    cluster = str(state.metadata.get("cluster", identity))
    record = Record(identity, cluster, {}, "", (), target.text or None, _groups(state.metadata))
    refused = state.output.stop_reason == "content_filter" if state.output.choices else False
    return run.outcome(record, state.output.completion, refused)


def _score(outcome: Outcome, value: Value) -> Score:
    return Score(
        value=value,
        answer=outcome.answer,
        reason=REASONS.get(outcome.status),
        metadata={"status": outcome.status, "target": outcome.target, "values": dict(outcome.values)},
    )


def _outcome(sample_score: SampleScore) -> Outcome:
    about, score = sample_score.sample_metadata or {}, sample_score.score
    result, identity = score.metadata or {}, str(sample_score.sample_id)
    if "values" not in result:
        raise ValueError(f"sample {identity}: benchmark_metrics reads scores of humor_tasks' own scorers only.")
    values = dict(result["values"])
    if score.history and score.value in ("C", "I"):  # edited by hand: what it was edited to counts
        values |= {name: float(score.value == "C") for name in values if "accuracy" in name}
    cluster = str(about.get("cluster", identity))
    return Outcome(identity, cluster, _groups(about), result["status"], score.answer, result["target"], values)


def _groups(metadata: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in metadata.items() if name in ("fold", "winner_source")}
