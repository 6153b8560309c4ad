"""What the sources of MOCK are read into: items, with the reasons for which others were left out."""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.mock.corpus import as_seen
from humor_tasks.data.media.picture import Picture, picture_file
from humor_tasks.data.reading import read_body
from humor_tasks.data.writing import LONE
from humor_tasks.errors import BadInput, listed

SPLITS = ("train", "validation", "test")
PUBLISHED = {
    "cartoon": {
        "detecting": (8521, 1066, 1066),
        "matching": (8681, 1085, 1085),
        "explaining": (391, 130, 130),
    },
    "post": {
        "detecting": (19815, 2410, 2410),
        "matching": (8517, 1063, 1063),
        "explaining": (2808, 351, 351),
    },
    "comedy": {
        "detecting": (4413, 552, 552),
        "matching": (4138, 517, 517),
        "explaining": (1792, 224, 224),
    },
}
"""Scene -> sub-task -> MOCK's sizes of train, validation and test."""
MISSING = ("error", "drop", "keep")
_SAFE = re.compile(r"[A-Za-z0-9][\w-]*")


@dataclass(frozen=True)
class Item:
    """One caption or dialogue of a source.

    `line` is the caption, or the last utterance of `turns` (speaker, text). `media_id` names the picture or footage,
    which other items may share; `media` has it, by sub-task where they differ. `split` is the source's own. `label` is
    yes or no where the source tells both apart; `funny` says that it is humorous or sarcastic, and so has a punchline
    to match. `others` are captions of other items that the source itself offers beside it.
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


@dataclass
class Source:
    """What was read of one source: its items, how many rows there were, and why some are no items."""

    name: str
    items: list[Item] = field(default_factory=list)
    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Media:
    """Finds the files that rows name; `missing` says what becomes of a row without its file.

    error: all of them are told at once, by `check`. drop: the row is left out and counted. keep: the row has no
    medium, which is enough for input=description.
    """

    def __init__(self, missing: str) -> None:
        self.missing = missing
        self.problems: list[str] = []

    def find(self, source: Source, folder: Path | None, name: str, where: str) -> Picture | None:
        """The file `name` of a folder; None where there is none, counted under its source."""
        if folder is not None:
            try:
                return picture_file(folder, name)
            except BadInput as problem:
                if os.path.isfile(folder / name):  # it is there, and must not be used
                    raise BadInput(f"{where}: {problem}") from None
        if folder is not None or self.missing != "keep":
            self.problems.append(f"{where}: {name}")
        if self.missing == "drop":
            source.dropped["its file is missing"] += 1
        return None

    def check(self) -> None:
        """BadInput naming the files that are missing, where that is an error."""
        if self.missing == "error" and self.problems:
            raise BadInput(
                f"{listed('missing file', self.problems)}. Restore them, or leave their rows out (--missing drop), or "
                "build for text-only models (--missing keep)."
            )


def safe_id(identity: str, where: str) -> str:
    """`identity`, which becomes part of a file's name; BadInput unless it is letters, digits, - and _."""
    if not _SAFE.fullmatch(identity):
        raise BadInput(f"{where}: {identity!r:.60} is no id; it must be letters, digits, '-' and '_'.")
    return identity


def balanced_letters(count: int, rng: random.Random) -> list[str]:
    """An answer's letter for each of `count` items: A to D, each as often as the others, give or take one."""
    letters = (rng.sample("ABCD", 4) * (count // 4 + 1))[:count]
    rng.shuffle(letters)
    return letters


def one_line(text: object, what: str, where: str) -> str:
    """A text without line breaks; BadInput where it is empty, none, or holds half a character."""
    if not isinstance(text, str) or not as_seen(text) or LONE.search(text):
        raise BadInput(f"{where}: {what} is {'empty' if text in (None, '') else f'{text!r:.60}'}; it must be text.")
    return " ".join(text.split())


def json_object(path: Path, of: str) -> dict[str, Any]:
    """The JSON object of a file; `of` says what it should hold. BadInput where it is none, or a key stands twice."""
    body = read_body(path, "utf-8-sig")
    try:
        data = json.loads(body, object_pairs_hook=_no_key_twice)
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{path}: not JSON that can be read ({problem}).") from None
    if not isinstance(data, dict):
        raise BadInput(f"{path}: must be one JSON object of {of}.")
    return data


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        raise ValueError(f"{twice[0]!r:.60} stands twice in one object")
    return found


def split_files(path: Path, names: Mapping[str, Sequence[str]]) -> dict[str, Path]:
    """Split -> file: of a folder, by the names that a split's file may have; of a file, by what its name holds."""
    if path.is_file():
        told = [split for split in names if split[:3] in path.name]
        if len(told) != 1:
            like = ", ".join(known[0] for known in names.values())
            raise BadInput(f"{path}: its name tells no split; it should be like {like}.")
        return {told[0]: path}
    if not path.is_dir():
        raise BadInput(f"{path}: there is no such file or folder.")
    found = {
        split: next(file for name in known if (file := path / name).is_file())
        for split, known in names.items()
        if any((path / name).is_file() for name in known)
    }
    if not found:
        raise BadInput(f"{path}: holds none of {', '.join(name for known in names.values() for name in known)}.")
    return found


Cell = tuple[str, str, str]
"""Scene, sub-task, split."""


@dataclass
class Built:
    """What was built: rows by cell, and what was left out of the sources and why."""

    sources: Sequence[Source]
    seed: int
    rows: dict[Cell, list[dict[str, Any]]] = field(default_factory=dict)
    left_out: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # scene, sub-task, reason
    without_media: int = 0

    def size(self, scene: str, subtask: str, split: str) -> int:
        """How many rows a cell has."""
        return len(self.rows.get((scene, subtask, split), ()))
