"""The common representation of MOCK's sources: items, and the reasons for which rows were left out."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import missing
from humor_tasks.files.writing import LONE
from humor_tasks.lab.corpora.mock.shortcuts import Cell, Estimates
from humor_tasks.rows.media.names import near_miss
from humor_tasks.rows.media.picture import Picture, picture_file

SPLITS = ("train", "validation", "test")
MISSING = ("error", "drop", "keep")
_SAFE = re.compile(r"[A-Za-z0-9][\w-]*")


@dataclass(frozen=True)
class Item:
    """One caption or dialogue of a source.

    `line` is the caption, or the last utterance of `turns` (speaker, text). `media_id` identifies the picture or
    footage, which items may share; `media` holds it, by sub-task where they differ. `split` is that of the source.
    `label` is yes or no where the source has labels. `funny` is True for humorous or sarcastic items, which have a
    punchline to match. `others` are captions of other items that the source provides as distractors.
    """

    id: str
    scene: str
    source: str
    media_id: str
    line: str
    turns: tuple[tuple[str, str], ...] = ()
    split: str | None = None
    label: str | None = None
    funny: bool = False
    explanation: str | None = None
    description: str | None = None
    others: tuple[str, ...] = ()
    media: Mapping[str, Picture] = field(default_factory=dict)

    @property
    def subtasks(self) -> list[str]:
        """The sub-tasks that it can be used for."""
        usable = {
            "detecting": self.label is not None,
            "matching": self.funny,
            "explaining": self.explanation is not None,
        }
        return [subtask for subtask, is_usable in usable.items() if is_usable]

    @property
    def shown_with_options(self) -> str:
        """The text that is shown with its options: description and dialogue but for the last utterance."""
        return "\n".join([self.description or "", *(spoken for _, spoken in self.turns[:-1])]).strip()

    def medium(self, subtask: str) -> Picture | None:
        """Its picture or clip for a sub-task."""
        return self.media.get(subtask) or self.media.get("")


@dataclass
class Source:
    """The items read from one source, its number of rows, the reasons for dropped rows, and sentences for the card."""

    name: str
    items: list[Item] = field(default_factory=list)
    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


class Media:
    """Finds the files that rows name; `missing` controls rows whose file is missing.

    error: `check` reports all missing files at once. drop: the row is left out and counted. keep: the row has no
    medium, which is sufficient for input=description.
    """

    def __init__(self, missing: str) -> None:
        self.missing = missing
        self.problems: list[str] = []

    def find(self, source: Source, folder: Path | None, name: str, where: str) -> Picture | None:
        """The file `name` of a folder; None where it is missing, which is recorded."""
        if folder is not None:
            try:
                return picture_file(folder, name)
            except BadInput as problem:
                if os.path.isfile(folder / name):  # it exists, but outside the folder
                    raise BadInput(f"{where}: {problem}") from None
        if folder is not None or self.missing != "keep":
            near = near_miss(folder, name) if folder is not None else ""
            self.problems.append(f"{where}: {name}" + (f" ({near})" if near else ""))
        if self.missing == "drop":
            source.dropped["its file is missing"] += 1
        return None

    def check(self) -> None:
        """Raise BadInput naming the missing files, if `missing` is error."""
        if self.missing == "error" and self.problems:
            raise BadInput(
                f"{listed('missing file', self.problems)}. Restore them, or leave their rows out (--missing drop), or "
                "build for text-only models (--missing keep)."
            )


def safe_id(identity: str, where: str) -> str:
    """`identity`, which becomes part of a file name. Raises BadInput unless it is letters, digits, - and _."""
    if not _SAFE.fullmatch(identity):
        raise BadInput(f"{where}: {identity!r:.60} is not a valid id; use letters, digits, '-' and '_'.")
    return identity


def balanced_letters(count: int, rng: random.Random) -> list[str]:
    """The answers' letters of `count` items, A to D, balanced up to one, in random order."""
    letters = (rng.sample("ABCD", 4) * (count // 4 + 1))[:count]
    rng.shuffle(letters)
    return letters


def one_line(text: object, what: str, where: str) -> str:
    """A text without line breaks. Raises BadInput where it is empty, not text, or contains a lone surrogate."""
    if why := missing(text):
        raise BadInput(f"{where}: {what} is {why:.60}; it must be text.")
    if LONE.search(str(text)):
        raise BadInput(f"{where}: {what} is {text!r:.60}; it must be text.")
    return " ".join(str(text).split())


def split_files(path: Path, names: Mapping[str, Sequence[str]]) -> dict[str, Path]:
    """Split -> file: in a folder by the splits' file names, for a single file by its name."""
    if path.is_file():
        matching = [split for split in names if split[:3] in path.name]
        if len(matching) != 1:
            like = ", ".join(known[0] for known in names.values())
            raise BadInput(f"{path}: its name must contain the split, as in {like}.")
        return {matching[0]: path}
    if not path.is_dir():
        raise BadInput(f"{path}: there is no such file or folder.")
    files = {
        split: next(file for name in known if (file := path / name).is_file())
        for split, known in names.items()
        if any((path / name).is_file() for name in known)
    }
    if not files:
        raise BadInput(f"{path}: holds none of {', '.join(name for known in names.values() for name in known)}.")
    return files


@dataclass
class Built:
    """The built rows by cell, the number of items left out by reason, and the shortcut baselines."""

    sources: Sequence[Source]
    seed: int
    post_splits: str = "paper"
    rows: dict[Cell, list[dict[str, Any]]] = field(default_factory=dict)
    left_out: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # scene, sub-task, reason
    without_media: int = 0
    unseen: int = 0
    shortcuts: Estimates = field(default_factory=dict)
