"""Rubrics: the templates of a question for judges, and of what a judge writes before it sees what it judges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import Template as Text
from types import SimpleNamespace
from typing import Any, Literal

from humor_tasks.contract.prompts import Template, filled_turns, read_all, read_packaged, split_turns, templates_hash
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Prompt
from humor_tasks.scorers import verdict
from humor_tasks.scorers.verdict import as_data

SETS = "grader_prompts"
"""The parameter with the prompt set of judges."""
FORMS = ("verdict.tags.txt", "verdict.json.txt")
JudgeFirst = Literal["none", "commit"]
JUDGE_FIRST = (
    "What a judge writes before it sees what it judges: nothing (`none`), or its own view of the joke (`commit`), in "
    "one more request."
)
COMMIT = "commit.txt"
"""The template by which a judge writes its own view of the item, before it sees what it judges."""


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
        """The grading prompt; `material` holds the fields of the template, unescaped.

        With the template COMMIT the judge is asked for its own view first (`Prompt.first`): by the system turn of the
        question and by COMMIT, which is filled in without the fields that the question alone shows.
        """
        question, shape = self.judgement.question, FORMS[as_json]
        data = {name: as_data(text) for name, text in material.items()}
        turns = filled_turns(self.templates[question], data | {"format": self.templates[shape]}, question)
        if COMMIT not in self.templates:
            return Prompt(tuple(turns))
        known = {name: text for name, text in data.items() if name not in self.judgement.required}
        system = [turn for turn in turns[:1] if turn.role == "system"]
        first = [*system, *filled_turns(self.templates[COMMIT], known, COMMIT)]
        return Prompt((*first, *turns[len(system) :]), first=len(first))


def rubric_templates(
    family: str, judgement: Judgement = POINT, fields: Collection[str] | None = None, judge_first: str = "none"
) -> tuple[Template, ...]:
    """The templates of a family of prompts: the question and the forms of a verdict.

    fields: those that the question may show beside the form of the verdict; None does not check them.
    judge_first: with `commit` also COMMIT. Raises BadInput for a family without it.
    """

    def check(text: str, options: Any) -> None:
        if fields is not None:
            filled_turns(text, dict.fromkeys((*fields, "format"), ""), judgement.question)
        if judge_first != "none":
            role, opening = split_turns(text, judgement.question)[0]
            what = f"template {judgement.question}: its system turn"
            _check_hides(opening if role == "system" else "", judgement, what)

    question = Template(family, judgement.question, judgement.required, reader="grader would not see it", check=check)
    templates = (question, *(Template(family, name, shared=True) for name in FORMS))
    return templates if judge_first == "none" else (*templates, _commit(family, judgement))


def _commit(family: str, judgement: Judgement) -> Template:
    """COMMIT of a family. It must show what the packaged one shows."""
    packaged = read_packaged(family, COMMIT)
    if packaged is None:
        raise BadInput(
            f"judge_first=commit: there is no template {COMMIT} beside {judgement.question}, by which judges would "
            "write their own view first. Leave judge_first out."
        )

    def check(text: str, options: Any) -> None:
        _check_hides(text, judgement, f"template {COMMIT}:")
        if any(role == "system" for role, _ in split_turns(text, COMMIT)):
            raise BadInput(f"template {COMMIT}: has a system turn. Remove it; that of {judgement.question} is used.")

    return Template(
        family, COMMIT, tuple(Text(packaged).get_identifiers()), reader="grader would not see the item", check=check
    )


def _check_hides(text: str, judgement: Judgement, what: str) -> None:
    shown = set(Text(text).get_identifiers()) & set(judgement.required)
    if shown:
        raise BadInput(f"{what} shows ${', $'.join(sorted(shown))} before the judge has its own view. Remove it.")


@lru_cache(maxsize=32)
def open_rubric(
    family: str, override: str | None = None, judgement: Judgement = POINT, judge_first: str = "none"
) -> Rubric:
    """The rubric of a family of prompts.

    override: a prompt set, or a folder whose templates replace the packaged ones. judge_first: as in
    `rubric_templates`.
    """
    templates = rubric_templates(family, judgement, judge_first=judge_first)
    return Rubric(read_all(templates, SimpleNamespace(prompts=override)), judgement)
