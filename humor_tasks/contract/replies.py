"""What is told of replies that go on with turns that the model made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from humor_tasks.contract.answers import ENDED, TURN
from humor_tasks.contract.metric import rate
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate

MADE_UP_TURNS = rate("made_up_turns", "Share of replies that go on with turns that the model made up.")
"""It is reported only where there are such replies."""


def made_up_turns(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Estimate]]:
    """MADE_UP_TURNS as in `Run.summaries`, where an outcome's reply has such turns."""
    ends = [float(str(outcome.facts.get(ENDED, "")).startswith(TURN)) for outcome in outcomes]
    if not any(ends):
        return {}
    name = MADE_UP_TURNS.name
    return {
        name: {name: MADE_UP_TURNS.over([replace(o, values={name: e}) for o, e in zip(outcomes, ends, strict=True)])}
    }


def turns_warning(values: Mapping[str, float]) -> str | None:
    """The warning of a run with these values by metric, where replies go on with made-up turns."""
    share = values.get(MADE_UP_TURNS.name)
    if not share:
        return None
    return (
        f"{share:.1%} of the replies go on with turns that the model made up. Only its own turn is read. Its chat "
        "template or its stop sequences may be wrong."
    )
