"""The plain rows that every check takes, whatever they were read from."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from humor_tasks.benchmarks.mock.corpus import as_seen
from humor_tasks.data.contests.captions import key_of
from humor_tasks.models.choosers.chooser import LETTERS

Kind = Literal["choice", "yes/no", "rating"]
KINDS: dict[Kind, str] = {"choice": "multiple choice", "yes/no": "yes or no", "rating": "ratings"}


@dataclass(frozen=True)
class Part:
    """One split of one fold. Parts of a fold are trained on and evaluated together, so they must share nothing."""

    name: str
    fold: str
    split: str


@dataclass(frozen=True, slots=True)
class Item:
    """One row.

    where: its place, such as "row 31 (2305a8cc) of validation". part: the name of its part.
    group: the unit that rows share, such as a contest; the row's own place where the dataset has no groups.
    context: the scene as text, "" where there is none. choices: empty for yes or no and for ratings.
    about: the text that is rated or asked about; "" in multiple choice.
    target: the index of the right choice, True for yes, or the rating; None where the row has no label.
    picture: a `humor_tasks.data.media.picture.Picture`, or None.
    """

    id: str
    where: str
    part: str
    group: Hashable
    context: str = ""
    choices: tuple[str, ...] = ()
    about: str = ""
    target: int | bool | float | None = None
    picture: Any = field(default=None, compare=False, repr=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that the question is about: the choices, or the text that is rated or asked about."""
        return self.choices or (self.about,)

    @property
    def answer(self) -> str:
        """The label in words: the right choice's text, yes or no, or the rating."""
        if self.target is None:
            return ""
        if self.choices:
            return self.choices[int(self.target)]
        return ("no", "yes")[self.target] if isinstance(self.target, bool) else repr(self.target)

    @property
    def label(self) -> str:
        """The label as it stands in the dataset: a letter, yes or no, or the rating."""
        return LETTERS[int(self.target)] if self.choices and self.target is not None else self.answer


@dataclass(frozen=True)
class Items:
    """A dataset to audit.

    grouped: whether rows have groups. read_as: how the dataset was read, sentence by sentence. told: what its reader
    warned about.
    """

    dataset: str
    kind: Kind
    parts: Mapping[str, Part]
    items: Sequence[Item]
    grouped: bool
    read_as: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    def of(self, part: str) -> list[Item]:
        """The rows of one part."""
        return [item for item in self.items if item.part == part]

    def folds(self) -> dict[str, list[Part]]:
        """Fold -> its parts."""
        found: dict[str, list[Part]] = {}
        for part in self.parts.values():
            found.setdefault(part.fold, []).append(part)
        return found


@lru_cache(maxsize=1_000_000)
def key(text: str) -> str:
    """A text as a reader compares it: letters and digits without case; where it has none, the text as it is seen."""
    return key_of(text) or as_seen(text)


def one_line(text: str) -> str:
    """The text with white space collapsed; a text that differs only in it is the same text."""
    return " ".join(text.split())


def unseen(text: str) -> list[str]:
    """The control characters in a text but tab and line feed, and lone surrogates, as U+001B."""
    if text.isprintable():
        return []
    odd = (c for c in text if c not in "\t\n\r" and unicodedata.category(c) in ("Cc", "Cs"))
    return [f"U+{ord(c):04X}" for c in dict.fromkeys(odd)]
