"""Groups of captions for models that score single captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from humor_tasks.data.records import Grouped
from humor_tasks.errors import check_choice
from humor_tasks.models.choosers.chooser import Chooser, Question

COMBINED: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda scores: sum(scores) / len(scores),
    "max": max,
}
"""How the score of a group follows from those of its captions."""


def scores(chooser: Chooser, questions: Sequence[Question]) -> list[list[float]]:
    """A chooser's scores of each question's choices.

    Where each choice is a group of captions, the chooser scores these as single choices. A chooser that reads the
    prompt (`reads_prompt`) gets the question as it is.
    """
    if getattr(chooser, "reads_prompt", False):
        return chooser.score(questions)
    flat = [
        replace(q, choices=tuple(chain.from_iterable(q.grouped.captions)), grouped=None) if q.grouped else q
        for q in questions
    ]
    found = chooser.score(flat)
    return [_combined(row, q.grouped) if q.grouped else row for q, row in zip(questions, found, strict=True)]


def _combined(row: Sequence[float], grouped: Grouped) -> list[float]:
    combine, captions = COMBINED[check_choice("combine", grouped.combine, COMBINED)], iter(row)
    return [combine([next(captions) for _ in group]) for group in grouped.captions]
