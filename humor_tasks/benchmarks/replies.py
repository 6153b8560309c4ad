"""How a run reads a reply: with the markers of thinking that its options give; what is told of how a reply ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from humor_tasks.benchmarks.answers import UNREAD, Answer, AnswerForm
from humor_tasks.benchmarks.metric import Metric, rate
from humor_tasks.data.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.given_markers import with_known_markers
from humor_tasks.scorers.own_turn import own_turn

ENDED = "ended"
"""The key of an outcome's facts that says how its reply ended, where that is not as it should."""
THINKING, TURN = "while thinking", "at a made-up turn"
"""The beginnings of its values."""

MADE_UP_TURNS = rate("made_up_turns", "Share of replies that go on with turns that the model made up.")
CUT_OFF_THINKING = rate("cut_off_thinking", "Share of replies that were cut off while the model was thinking.")
OCCASIONAL = (MADE_UP_TURNS, CUT_OFF_THINKING)
"""Metrics that are reported only where there are such replies."""
_OF = {MADE_UP_TURNS.name: TURN, CUT_OFF_THINKING.name: THINKING}


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


def occasional(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Estimate]]:
    """The metrics of OCCASIONAL that some outcome has, as `Run.summaries`."""
    how = [str(outcome.facts.get(ENDED, "")) for outcome in outcomes]
    found: dict[str, dict[str, Estimate]] = {}
    for metric in OCCASIONAL if any(how) else ():
        values = [float(each.startswith(_OF[metric.name])) for each in how]
        if any(values):
            found[metric.name] = {metric.name: _share(metric, outcomes, values)}
    return found


def _share(metric: Metric, outcomes: Sequence[Outcome], values: Sequence[float]) -> Estimate:
    return metric.over([replace(o, values={metric.name: v}) for o, v in zip(outcomes, values, strict=True)])


def endings_warning(values: Mapping[str, float]) -> str | None:
    """The warning of a run with these values by metric, where replies ended as they should not."""
    said = []
    if share := values.get(MADE_UP_TURNS.name):
        said.append(
            f"{share:.1%} of the replies go on with turns that the model made up. Only its own turn is read. Its chat "
            "template or its stop sequences may be wrong."
        )
    if share := values.get(CUT_OFF_THINKING.name):
        said.append(
            f"{share:.1%} of the replies were cut off while the model was thinking, and are unparsed. Allow longer "
            "replies."
        )
    return " ".join(said) or None
