"""The scorers that need no grader, and the score of an outcome, which all scorers make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks.caption_contest import brainstorm
from humor_tasks.contract.answers import ENDED, TURN
from humor_tasks.errors import BadInput
from humor_tasks.logs.record import TOOL_CALL
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.outcomes import opened, opened_for
from humor_tasks.on_inspect.replies import read_reply
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.fields import read_fields
from humor_tasks.scorers.given_markers import with_known_markers

REASONS = {"unparsed": "invalid_response_format", "refused": "refusal", "empty": "no_response"}
NO_TARGET = "no_target"
"""The reason of a score without a value for an answer that can be read; Inspect has no word for it."""


def _right(share: float | None) -> str | None:
    """C or I, as Inspect writes right and wrong; None where the item does not count."""
    return None if share is None else "C" if share else "I"


VALUES: Mapping[str, Callable[[Outcome], float | str | None]] = {
    "multiple_choice": lambda o: _right(o.values.get("accuracy")),
    "judge_agreement": lambda o: _right(o.values.get("accuracy")),
    "recited": lambda o: _right(next((x for name, x in o.values.items() if name.startswith("exact_")), None)),
    "reference_overlap": lambda o: o.values.get("rouge_l"),
    "rating_error": lambda o: None if o.answer is None else float(o.answer),
    "texts_written": lambda o: o.values["written"],
}
"""Scorer -> the value of its score; None where the item does not count."""


def reply_scorer(name: str, like: str, **changes: str | None) -> Scorer:
    """A scorer of VALUES. like: as in `opened`. changes: of the options by which a reply is read."""
    try:
        opened({}, like, 0, **changes)
    except BadInput as problem:
        cannot_run(f"{name}: {problem}")

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(*opened_for(name, state, like, **changes), state, target)
        # no reason where the benchmark leaves a row with a target out itself
        return score_of(outcome, VALUES[name](outcome), missing=NO_TARGET if outcome.target is None else None)

    return score


def brainstorm_scorer() -> Scorer:
    """See `humor_tasks.on_inspect.parts.brainstormed`."""

    async def score(state: TaskState, target: Target) -> Score:
        run, logged = opened_for("brainstormed", state, "brainstorm")
        outcome = read_reply(run, logged, state, target)
        reply = with_known_markers(state.output.completion, run.options.thinking)
        texts = read_fields(reply, brainstorm.labels_of(run)).texts if outcome.answer else {}
        return score_of(outcome, outcome.values["parsed"], texts.get("Explanation"), fields=dict(texts))

    return score


# ---- the score ------------------------------------------------------------------------------------


def score_of(
    outcome: Outcome,
    value: float | str | None,
    explanation: str | None = None,
    missing: str | None = None,
    **more: Any,
) -> Score:
    """The score that stores an outcome in its metadata, together with `more`; N without a value.

    explanation: by default how the reply ended. missing: why there is no value, where the reply's status does not say.
    """
    how = str(outcome.facts.get(ENDED, ""))
    said = "ended" if how.startswith(TURN) else "was cut off"
    if called := outcome.facts.get(TOOL_CALL):
        explanation = f"The reply ends with a call of a tool ({called:.60})."
    return Score(
        value="N" if value is None else value,
        answer=outcome.answer,
        explanation=explanation or (f"The reply {said} {how}." if how else None),
        reason=REASONS.get(outcome.status) or (missing if value is None else None),
        metadata={**outcome.as_dict(), **more},
    )
