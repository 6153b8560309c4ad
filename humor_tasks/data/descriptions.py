"""The questions for models that describe a cartoon, and the parsing of their answers.

The four questions are those that Hessel et al. (ACL 2023, arXiv 2209.06293) fine-tuned OFA-Huge on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from humor_tasks.data.reading import is_visible
from humor_tasks.errors import BadInput

QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "location": "Where does this take place?",
        "description": "Describe this image.",
        "uncanny": "What's unusual about this image?",
        "entities": "What entities are there?",
    }
)
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):])\s+")


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
