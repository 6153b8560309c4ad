"""Reading Inspect logs, and what graders left in them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.scorer import SampleScore, Score

from humor_tasks.data.records import Outcome
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.outcomes import outcome_of

COVERAGE, FORM = "element_coverage", "explanation_form"


def read_log(path: Path) -> EvalLog:
    """The log with its samples; BadInput for a file that is none."""
    try:
        return read_eval_log(str(path))
    except Exception as problem:  # whatever Inspect raises on a file that is no log, its schema's pages of text too
        why = f"{problem}" if isinstance(problem, OSError) else "it is no .eval or .json that Inspect wrote"
        raise BadInput(f"{path}: cannot be read as an Inspect log ({why}).") from None


def coverage_of(sample: EvalSample) -> Score | None:
    """What graders said of a sample, the last of them where it was graded again; None where none was asked."""
    found = [s for name, s in (sample.scores or {}).items() if name.rsplit("/", 1)[-1].startswith(COVERAGE)]
    return next((s for s in reversed(found) if "points" in (s.metadata or {})), None)


def signature_in(sample: EvalSample) -> str | None:
    """What made a sample's verdicts."""
    score = coverage_of(sample)
    return (score.metadata or {}).get("signature") if score else None


def outcome_with_verdicts(sample: EvalSample) -> Outcome:
    """A sample's outcome, with its graders' verdicts where they gave any.

    Unlike Inspect's metrics, which leave unscored samples out, this also sees samples that every
    grader failed on.
    """
    score, form = coverage_of(sample), (sample.scores or {}).get(FORM)
    values: dict[str, float] = {}
    for part in (form, score):
        values |= (part.metadata or {}).get("values", {}) if part else {}
    if score:
        values |= (score.metadata or {}).get("failed", {})
    kept = score or form or Score(value=0)
    sample_score = SampleScore(score=kept, sample_id=sample.id, sample_metadata=sample.metadata)
    return dataclasses.replace(outcome_of(sample_score), values=values)
