"""Replies of usual form and length: a plan counts their tokens, and what judges are asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.questions import ByAnswer, ByRubric, OwnPrompt, Question, Reply
from humor_tasks.contract.judging.rubrics import Rubric
from humor_tasks.rows.records import Outcome, Prompt, Record

TEXT = (
    "The joke turns on two readings of the same words. In the picture everything looks like an ordinary scene, but "
    "one thing does not belong there, and the caption speaks as if nobody had noticed it. It takes a phrase that "
    "people use every day and lets it mean what is drawn, so that a polite remark becomes an absurd one. The reader "
    "sees the gap between the calm voice and the strange situation, and fills in what must have happened before."
)
"""A text of 80 words, as replies that explain or reason."""


def typical_reply(run: Run[Any], record: Record) -> str:
    """A reply to an item: its reasoning where the prompt asks for it, and an answer in the benchmark's form."""
    if run.form.labels:
        target = record.target if record.target in run.form.labels else run.form.labels[0]
        written = run.form.written(target)
        return f"{TEXT}\n\n{written}" if getattr(run.options, "reasons", False) else written
    return run.benchmark.typical or TEXT


def questions_about(run: Run[Any], record: Record, rubrics: Sequence[Rubric]) -> Sequence[Question]:
    """What judges are asked about the typical reply, or about the item where no reply is judged."""
    judging = run.benchmark.judging
    if judging is None:
        return ()
    if judging.judges_replies:
        outcome = run.outcome(record, typical_reply(run, record))
    else:
        outcome = Outcome(record.id, record.cluster, record.groups, "answered", None, None, {}, record.facts)
    asked = run.prompt(record).turns[-1].text
    return judging.questions(run, Reply(outcome, record, asked, asked), rubrics)


def prompt_of(put: ByRubric | ByAnswer | OwnPrompt, run: Run[Any], record: Record, structured: bool) -> Prompt:
    """The prompt of a question to a judge."""
    if isinstance(put, ByRubric):
        return put.rubric.ask(put.material, structured)
    return put.prompt if isinstance(put, ByAnswer) else run.prompt(record)
