"""What is told of replies that did not end as they should: cut off, or going on with turns that the model made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from humor_tasks.contract.answers import ENDED, LIMIT, THINKING, TURN
from humor_tasks.contract.metric import rate
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate

MADE_UP_TURNS = rate("made_up_turns", "Share of replies that go on with turns that the model made up.")
CUT_OFF = rate("cut_off", "Share of replies that ended at the limit of their length, or while thinking.")
ENDINGS = {MADE_UP_TURNS: (TURN,), CUT_OFF: (THINKING, LIMIT)}
"""Metric -> how the replies ended that it counts. Each is reported only where there are such replies."""
_WARNINGS = {
    MADE_UP_TURNS.name: "go on with turns that the model made up. Only its own turn is read. Its chat template or its "
    "stop sequences may be wrong.",
    CUT_OFF.name: "were cut off at the limit of their length, or while thinking. Give a higher limit: in Inspect "
    "--max-tokens, in lm-eval --gen_kwargs max_gen_toks=N.",
}


def endings(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Estimate]]:
    """ENDINGS as in `Run.summaries`, those of which there are replies."""
    found = {}
    for metric, beginnings in ENDINGS.items():
        ends = [float(str(outcome.facts.get(ENDED, "")).startswith(beginnings)) for outcome in outcomes]
        if any(ends):
            of_metric = [replace(o, values={metric.name: e}) for o, e in zip(outcomes, ends, strict=True)]
            found[metric.name] = {metric.name: metric.over(of_metric)}
    return found


def endings_warning(values: Mapping[str, float]) -> str | None:
    """The warning of a run with these values by metric, where replies did not end as they should."""
    told = (f"{values[name]:.1%} of the replies {what}" for name, what in _WARNINGS.items() if values.get(name))
    return " ".join(told) or None
