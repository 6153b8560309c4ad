"""Judging by the reference: whether judges prefer a reply to the reference text, in both orders.

It is for every benchmark whose answer has a reference and that no other judges score, such as `explanation` (EXPAcc is
the metric `preferred`). Its metrics are those of `explanation_preference`, not those of the benchmark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from humor_tasks.benchmarks.answers import FreeText
from humor_tasks.benchmarks.contract import Benchmark, Data, Run
from humor_tasks.benchmarks.judging import ByRubric, Judging, Panel, Question, Reply
from humor_tasks.benchmarks.pair_verdicts import SIDES, VERDICTS, judged_pair, settled, win_value
from humor_tasks.benchmarks.preference import EXPLANATION_PREFERENCE, PREFERENCE, PreferenceOptions
from humor_tasks.benchmarks.rubric import Rubric
from humor_tasks.data.records import Outcome
from humor_tasks.errors import BadInput
from humor_tasks.scorers.preferred import panel_choice

PAIRS = Run(EXPLANATION_PREFERENCE, PreferenceOptions(system="-"), Data((), {}), {})
"""What reports the verdicts on pairs of texts from anywhere."""


def questions(run: Run, reply: Reply, rubrics: Sequence[Rubric]) -> list[Question]:
    """Both orders, unless the texts settle the pair."""
    reference = reply.record.target or ""
    if reply.record.choices:
        raise BadInput("its target is not a reference text.")
    if not reference.strip():
        raise BadInput("the target has no reference text to compare the reply with.")
    text = reply.outcome.answer or ""
    found = settled(text, reference, "wrong")
    texts = dict(zip(SIDES, (text, reference), strict=True))
    asked = []
    for first, second in (SIDES, SIDES[::-1]):
        material = {"context": reply.item_text, "first": texts[first], "second": texts[second]}
        about = {"first": first, "settled": found, "lengths": [len(text), len(reference)]}
        asked.append(Question(about, None if found else ByRubric(rubrics[0], material)))
    return asked


def judged(run: Run, o: Outcome, panels: Sequence[Panel]) -> Outcome:
    """The outcome of the pair; an empty reply loses, or is left out with `on_unparsed=exclude`."""
    about = panels[0].about
    left_out = about["settled"] == "against" and run.options.on_unparsed == "exclude"
    groups = {"settled": "left_out" if left_out else str(about["settled"])}
    return judged_pair(run, replace(o, groups=groups, facts={"lengths": about["lengths"]}), panels)


REFERENCE: Judging[Run] = Judging(
    scorer="reference_preference",
    questions=questions,
    outcome=judged,
    value=win_value,
    panel=panel_choice,
    verdicts=VERDICTS,
    rubrics=(("preference", PREFERENCE),),
)


def judging_of(run: Run[Any]) -> Judging[Any] | None:
    """How replies of a run can be judged: as its benchmark says, otherwise by the reference, if there is one."""
    by_reference = isinstance(run.form, FreeText) and run.form.reference
    return run.benchmark.judging or (REFERENCE if by_reference else None)


def judging_of_replies(benchmark: Benchmark[Any]) -> Judging[Any] | None:
    """How the logged replies of a benchmark can be judged, also by their reference."""
    judging = benchmark.judging or judging_of(Run(benchmark, benchmark.options(), Data((), {}), {}))
    return judging if judging and judging.judges_replies else None


def reporting(run: Run[Any]) -> Run[Any]:
    """The run whose metrics the judged outcomes of a run have."""
    return PAIRS if judging_of(run) is REFERENCE else run
