"""How a run reads a reply: with the markers of thinking that its options give; what is told of how a reply ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from humor_tasks.contract.answers import UNREAD, Answer, AnswerForm
from humor_tasks.contract.metric import rate
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.given_markers import with_known_markers
from humor_tasks.scorers.own_turn import own_turn

ENDED = "ended"
"""The key of an outcome's facts that says how its reply ended, where that is not as it should."""
THINKING, TURN = "while thinking", "at a made-up turn"
"""The beginnings of its values."""

MADE_UP_TURNS = rate("made_up_turns", "Share of replies that go on with turns that the model made up.")
"""It is reported only where there are such replies."""


def answer_in(
    form: AnswerForm, reply: str, thinking: str | None, refused: bool = False, cut_off: bool = False
) -> Answer:
    """The answer in a reply. thinking: markers as in `Options.thinking`; the others as in `Run.outcome`."""
    if cut_off and form.whole:
        return UNREAD
    return form.read(reply if form.literal else with_known_markers(reply, thinking), refused)


def ended(form: AnswerForm, reply: str, thinking: str | None) -> dict[str, str]:
    """How the reply ended, as a fact of its outcome; nothing where it ended as it should, or is read literally."""
    if form.literal:
        return {}
    own = own_turn(with_known_markers(reply, thinking))
    if own.text is None:
        return {ENDED: THINKING}
    return {ENDED: f"{TURN}: {own.turn}"} if own.turn else {}


def told(outcome: Outcome, fact: Mapping[str, str]) -> Outcome:
    """The outcome with how its reply ended, in the place of what an earlier reading has found."""
    if not fact and ENDED not in outcome.facts:
        return outcome
    facts: dict[str, Any] = {name: value for name, value in outcome.facts.items() if name != ENDED}
    return replace(outcome, facts={**facts, **fact})


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
