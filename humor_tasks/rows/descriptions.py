"""The questions for models that describe a cartoon, and the parsing of their answers.

The four questions are those that Hessel et al. (ACL 2023, arXiv 2209.06293) fine-tuned OFA-Huge on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import is_visible
from humor_tasks.scorers.refusal import is_refusal

QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "location": "Where does this take place?",
        "description": "Describe this image.",
        "uncanny": "What's unusual about this image?",
        "entities": "What entities are there?",
    }
)
UNUSABLE = {
    "empty": "empty answer",
    "refused": "refused answer",
    "cut off": "cut-off answer",
    "only thinking": "thinking-only answer",
    "a call of a tool": "tool-calling answer",
}
"""Why an answer is no description -> such an answer, for messages."""
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):])\s+")


class Said(NamedTuple):
    """A model's answer to a question, without thinking. why: one of `UNUSABLE` where it is no description."""

    text: str
    why: str = ""

    @classmethod
    def of(cls, text: str) -> Said:
        """A whole answer without thinking, which may still be empty or decline."""
        return cls(text, "refused" if is_refusal(text) else "" if is_visible(text) else "empty")

    @property
    def description(self) -> str:
        """The text; "" where it is none."""
        return "" if self.why else self.text

    def lacks(self, question: str) -> bool:
        """Whether the answer to this question cannot be used: a picture may show no entities."""
        return bool(self.why) and not (self.why == "empty" and question == QUESTIONS["entities"])


def unusable(answers: Iterable[tuple[Said, str]]) -> str:
    """The unusable answers among these, each with its place: by kind, counted and named."""
    places: dict[str, list[str]] = {}
    for said, where in answers:
        places.setdefault(said.why, []).append(where)
    return "; ".join(listed(named, places[why], 3) for why, named in UNUSABLE.items() if why in places)


@dataclass(frozen=True)
class Description:
    """A cartoon's description: one line each for three questions, and the names of the entities."""

    location: str
    description: str
    uncanny: str
    entities: tuple[str, ...]

    @classmethod
    def of(cls, answers: Mapping[str, str], where: str) -> Description:
        """The description from the answers to `QUESTIONS`, by field. Raises BadInput where an answer except the last
        has no visible text.
        """
        lines = {name: " ".join(answers[name].split()) for name in ("location", "description", "uncanny")}
        for name, line in lines.items():
            if not is_visible(line):
                raise BadInput(f"{where}: there is no answer to '{QUESTIONS[name]}'.")
        return cls(**lines, entities=entity_names(answers["entities"]))


def entity_names(answer: str) -> tuple[str, ...]:
    """The distinct names in an answer, in order: separated by commas, semicolons or line breaks, without bullets.

    A name that contains a comma becomes two names, because it cannot be told from two.
    """
    names: dict[str, None] = {}
    for line in answer.splitlines():
        for part in re.split(r"[,;]", _BULLET.sub("", line)):
            name = re.sub(r"^(?:and|or)\s+", "", " ".join(part.split()), flags=re.I).rstrip(".")
            if is_visible(name):
                names.setdefault(name)
    return tuple(names)
