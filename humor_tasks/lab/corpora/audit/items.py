"""What every check takes and returns: the plain rows, whatever they were read from, and findings."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from humor_tasks.files.reading import as_seen
from humor_tasks.models.choosers.chooser import LETTERS
from humor_tasks.rows.contests.captions import key_of

Kind = Literal["choice", "yes/no", "rating", "text"]
ANSWERS: dict[Kind, str] = {
    "choice": "multiple choice",
    "yes/no": "yes or no",
    "rating": "ratings",
    "text": "texts with a reference",
}


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
    about: the text that is rated or asked about, or the reference; "" in multiple choice.
    target: the index of the right choice, True for yes, or the rating; None for a row without a label, or with a
    reference.
    picture: a `humor_tasks.rows.media.picture.Picture`, or None.
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

    def compared(self, what: str) -> tuple[str, ...]:
        """What is compared with other rows: the texts ("text"), or the scene ("scene")."""
        return self.texts if what == "text" else (self.context,)

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

    task: the benchmark that reads it, if one does. grouped: whether rows have groups. read_as: how the dataset was
    read, sentence by sentence. told: what its reader warned about.
    """

    dataset: str
    kind: Kind
    parts: Mapping[str, Part]
    items: Sequence[Item]
    grouped: bool
    read_as: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    task: str | None = None

    def of(self, part: str) -> list[Item]:
        """The rows of one part."""
        return [item for item in self.items if item.part == part]

    def folds(self) -> dict[str, list[Part]]:
        """Fold -> its parts."""
        by_fold: dict[str, list[Part]] = {}
        for part in self.parts.values():
            by_fold.setdefault(part.fold, []).append(part)
        return by_fold


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


Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
MOST_ROWS = 20
"""Rows that a finding names."""

KINDS: dict[str, str] = {
    "duplicate_choice": "the same choice stands twice in a row",
    "empty_text": "a choice or a text that nobody sees",
    "duplicate_id": "the same id twice in one split, or in two splits of one fold",
    "contradiction": "the same question with another answer",
    "row_in_two_splits": "the same row in two splits of one fold",
    "group_in_two_splits": "a group in two splits of one fold",
    "picture_in_two_splits": "the same picture in two splits of one fold",
    "unreadable_picture": "a picture that cannot be read",
    "shortcut": "a rule without understanding is right more often than chance",
    "imbalance": "answers are not equally frequent",
    "duplicate_row": "the same row twice in one split",
    "text_in_two_splits": "the same text in two splits of one fold",
    "near_duplicate_in_two_splits": "almost the same text in two splits of one fold",
    "near_duplicate": "almost the same text in two groups of one split",
    "picture_in_two_groups": "the same picture in two groups",
    "similar_picture": "almost the same picture in two groups",
    "control_character": "a text with control characters",
    "text_elsewhere": "a text that stands in another dataset, too",
    "shared_between_folds": "groups that are trained on in one fold and evaluated in another",
    "no_canary": "a file of a built dataset without its canary",
    "unlabelled": "rows without a label",
}
"""Kind -> what it means."""


@dataclass(frozen=True)
class Finding:
    """One finding; `count` is that of its rows, pairs or values, `rows` names the first of them."""

    kind: str
    severity: Severity
    count: int
    what: str
    rows: tuple[str, ...] = ()


def finding(kind: str, severity: Severity, noun: str, what: str, rows: Iterable[str]) -> list[Finding]:
    """One finding, which says how many rows (or what `noun` is) and `what` they are; none where there are no rows."""
    named = list(rows)
    if not named:
        return []
    return [Finding(kind, severity, len(named), f"{counted(len(named), noun)} {what}", tuple(named[:MOST_ROWS]))]


def fails(findings: Sequence[Finding], kinds: Sequence[str]) -> bool:
    """Whether the audit fails: for a finding of these kinds, or without kinds for one that is an error."""
    return any(one.kind in kinds if kinds else one.severity == "error" for one in findings)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, then in the order of KINDS."""
    return sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), [*KINDS].index(one.kind)))


def counted(number: int, noun: str) -> str:
    """ "1 row", "2 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
