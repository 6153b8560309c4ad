"""How a run reads a reply: with the markers of thinking that its options give; what is told of how a reply ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

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
    """The answer in a reply, with the fact ENDED where the reply did not end as it should.

    thinking: markers as in `Options.thinking`; the others as in `Run.outcome`. A reply that is read literally has no
    such fact.
    """
    if form.literal:
        return UNREAD if cut_off and form.whole else form.read(reply, refused)
    reply = with_known_markers(reply, thinking)
    answer = UNREAD if cut_off and form.whole else form.read(reply, refused)
    own = own_turn(reply)
    if own.text is not None and not own.turn:
        return answer
    ended = THINKING if own.text is None else f"{TURN}: {own.turn}"
    return replace(answer, facts={**answer.facts, ENDED: ended})


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
