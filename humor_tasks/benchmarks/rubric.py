"""Grading prompts for every harness: whether an answer contains a point, which of two texts is better, or a rating.

Graded texts are shown between tags and escaped, so that they cannot close a tag or imitate the grader's verdict
(`scorers.verdict`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from humor_tasks.benchmarks.prompts import Template, filled_turns, read_all, templates_hash
from humor_tasks.data.records import Prompt
from humor_tasks.scorers import verdict
from humor_tasks.scorers.verdict import as_data

FORMS = ("verdict.tags.txt", "verdict.json.txt")


@dataclass(frozen=True, eq=False)
class Judgement:
    """A kind of judgement: the template of its question, the fields that it must show, the values of the verdict."""

    question: str
    required: tuple[str, ...]
    words: Mapping[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema for structured output."""
        schema: dict[str, Any] = verdict.schema_of(self.words)
        return schema


POINT = Judgement("grade.txt", ("answer", "point", "format"), verdict.WORDS)


@dataclass(frozen=True)
class Rubric:
    """The grading templates of one family of prompts (`coverage` for any task, `humorbench`, `preference`)."""

    templates: Mapping[str, str] = field(repr=False)
    judgement: Judgement = POINT

    @property
    def hash(self) -> str:
        """First 8 hex digits of the SHA-256 over the templates."""
        return templates_hash(self.templates)

    def ask(self, material: Mapping[str, str], as_json: bool = False) -> Prompt:
        """The grading prompt; `material` holds the fields of the template, unescaped."""
        question, shape = self.judgement.question, FORMS[as_json]
        fields = {name: as_data(text) for name, text in material.items()} | {"format": self.templates[shape]}
        return Prompt(tuple(filled_turns(self.templates[question], fields, question)))


def rubric_templates(
    family: str, judgement: Judgement = POINT, fields: Collection[str] | None = None
) -> tuple[Template, ...]:
    """The templates of a family of prompts: the question and the forms of a verdict.

    fields: those that the question may show beside the form of the verdict; None does not check them.
    """

    def check(text: str, options: Any) -> None:
        if fields is not None:
            filled_turns(text, dict.fromkeys((*fields, "format"), ""), judgement.question)

    question = Template(family, judgement.question, judgement.required, reader="grader would not see it", check=check)
    return (question, *(Template(family, name) for name in FORMS))


@dataclass(frozen=True)
class Override:
    """In the place of options: the folder whose templates replace packaged ones, or None."""

    prompts: str | None


@lru_cache(maxsize=8)
def open_rubric(family: str, override: str | None = None, judgement: Judgement = POINT) -> Rubric:
    """The rubric of a family of prompts; templates in the folder `override` replace the packaged ones."""
    return Rubric(read_all(rubric_templates(family, judgement), Override(override)), judgement)
