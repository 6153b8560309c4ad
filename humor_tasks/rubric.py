"""How a grader is asked whether an answer contains a point, once for every harness.

The answer, its context and the point are material: shown between tags, escaped, so that nothing in
them can close a tag or stand for the grader's verdict (`scorers.verdict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from humor_tasks.benchmark import Prompt, Role, Turn, templates_hash
from humor_tasks.prompts import check_shows, fill, read_templates, split_turns
from humor_tasks.scorers.verdict import as_data

FILES = ("grade.txt", "verdict.tags.txt", "verdict.json.txt")


@dataclass(frozen=True)
class Rubric:
    """The grading templates of one family of prompts (`coverage` for any task, `humorbench`)."""

    templates: Mapping[str, str] = field(repr=False)

    @property
    def hash(self) -> str:
        """First 8 hex digits of the SHA-256 over the templates."""
        return templates_hash(self.templates)

    def ask(self, material: Mapping[str, str], as_json: bool = False) -> Prompt:
        """The question for one point; `material` holds answer, point and what the template shows beside them."""
        shape = "verdict.json.txt" if as_json else "verdict.tags.txt"
        fields = {name: as_data(text) for name, text in material.items()} | {"format": self.templates[shape]}
        turns = split_turns(self.templates["grade.txt"], "grade.txt")
        return Prompt(tuple(Turn(cast(Role, role), fill(text, fields, "grade.txt")) for role, text in turns))


def open_rubric(family: str, override: str | None = None) -> Rubric:
    """The rubric of a family, its templates replaced by those of the folder `override`."""
    templates = read_templates(family, FILES, override)
    check_shows(templates["grade.txt"], "grade.txt", ("answer", "point", "format"), "grader would not see it")
    return Rubric(templates)
