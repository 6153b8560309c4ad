"""Groups of captions for models that score single captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from humor_tasks.errors import check_choice
from humor_tasks.models.choosers.chooser import Chooser, Question

COMBINED: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda scores: sum(scores) / len(scores),
    "max": max,
}
"""How the score of a group follows from those of its captions."""


def scores(chooser: Chooser, questions: Sequence[Question]) -> list[list[float]]:
    """A chooser's scores of each question's choices.

    Where a question says how its captions combine, each choice is a group: captions divided by line breaks, which the
    chooser scores as single choices. A chooser that reads the prompt (`reads_prompt`) gets the question as it is.
    """
    if getattr(chooser, "reads_prompt", False):
        return chooser.score(questions)
    groups = [[choice.split("\n") for choice in q.choices] if q.combine else [] for q in questions]
    flat = [
        replace(q, choices=tuple(caption for group in held for caption in group), combine="") if held else q
        for q, held in zip(questions, groups, strict=True)
    ]
    found = chooser.score(flat)
    return [
        _combined(row, held, q.combine) if held else row for q, held, row in zip(questions, groups, found, strict=True)
    ]


def _combined(row: Sequence[float], groups: Sequence[Sequence[str]], how: str) -> list[float]:
    combine = COMBINED[check_choice("combine", how, COMBINED)]
    captions = iter(row)
    return [combine([next(captions) for _ in group]) for group in groups]
