"""Scorers that need no grader."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks.caption_contest import brainstorm
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.hooks import warn_when_tasks_end
from humor_tasks.on_inspect.outcomes import read_reply, run_of, run_scored_by, score_of
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.fields import read_fields
from humor_tasks.scorers.given_markers import with_known_markers

NO_TARGET = "no_target"
"""The reason of a score without a value for an answer that can be read; Inspect has no word for it."""


def choice_scorer(extraction: str | None, on_unparsed: str | None) -> Scorer:
    """See `humor_tasks.on_inspect.parts.multiple_choice`."""
    try:
        run_of({}, "matching", extraction=extraction, on_unparsed=on_unparsed)
    except BadInput as problem:
        cannot_run(f"multiple_choice: {problem}")

    async def score(state: TaskState, target: Target) -> Score:
        run = run_scored_by("multiple_choice", state, "matching", extraction=extraction, on_unparsed=on_unparsed)
        outcome = read_reply(run, state, target)
        return _score(outcome, _letter(outcome))

    return score


def overlap_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.reference_overlap`."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("reference_overlap", state, "explanation"), state, target)
        return _score(outcome, outcome.values.get("rouge_l"))

    return score


def agreement_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.judge_agreement`."""
    warn_when_tasks_end()

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("judge_agreement", state, "humorbench_autograder"), state, target)
        return _score(outcome, _letter(outcome))

    return score


def rating_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.rating_error`."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("rating_error", state, "humicroedit_rating"), state, target)
        return score_of(outcome, "N" if outcome.answer is None else float(outcome.answer))

    return score


def brainstorm_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.brainstormed`."""

    async def score(state: TaskState, target: Target) -> Score:
        run = run_scored_by("brainstormed", state, "brainstorm")
        outcome = read_reply(run, state, target)
        reply = with_known_markers(state.output.completion, run.options.thinking)
        texts = read_fields(reply, brainstorm.labels_of(run)).texts if outcome.answer else {}
        return score_of(outcome, outcome.values["parsed"], texts.get("Explanation"), fields=dict(texts))

    return score


def texts_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.texts_written`."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("texts_written", state, "humor_writing"), state, target)
        return score_of(outcome, outcome.values["written"])

    return score


def recitation_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.recited`."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("recited", state, "recitation"), state, target)
        exact = next((value for name, value in outcome.values.items() if name.startswith("exact_")), None)
        return _score(outcome, None if exact is None else "C" if exact else "I")

    return score


def _score(outcome: Outcome, value: str | float | None) -> Score:
    """The score, N where the outcome has no value. No reason is given where the benchmark leaves the row out itself."""
    score = score_of(outcome, "N" if value is None else value)
    if value is None and score.reason is None and outcome.target is None:
        score.reason = NO_TARGET
    return score


def _letter(outcome: Outcome) -> str | None:
    correct = outcome.values.get("accuracy")
    return None if correct is None else "C" if correct else "I"
