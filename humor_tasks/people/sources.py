"""Items to fill in or to rate: cartoons to describe, pictures of MOCK, and headlines to edit or to rate."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.card import RATING
from humor_tasks.benchmarks.humicroedit.corpus import headlines
from humor_tasks.benchmarks.mock import describing
from humor_tasks.data.contests.contest_csv import contest_files
from humor_tasks.data.media.picture import Picture, picture_file
from humor_tasks.data.rows import read_csv
from humor_tasks.errors import BadInput
from humor_tasks.people.forms import DESCRIPTION, EDITING, LINKS, LITERAL, MARK
from humor_tasks.people.making import copy_picture

PICTURES = (".jpg", ".jpeg", ".png")
GRADES = ("Not funny", "Slightly funny", "Moderately funny", "Funny")
"""The scale of SemEval-2020 Task 7, from 0."""
Rows = list[dict[str, Any]]


def cartoons(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The cartoons of a folder with NUMBER.jpg or .png."""
    found = {str(number): path for number, path in sorted(contest_files(source, PICTURES).items())}
    shown = {number: picture_file(source, found[number].name) for number in sampled(list(found), size, seed)}
    images = _copied(shown, output)
    return [
        {"id": f"{number}-{kind}", "kind": kind, "cluster": number, "image": image} for number, image in images.items()
    ]


def pictures(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The pictures of a MOCK folder; those that have a description begin with it."""
    shown = describing.pictures(source)
    images = _copied({name: shown[name].picture for name in sampled(sorted(shown), size, seed)}, output)
    return [
        {"id": name, "kind": kind, "cluster": shown[name].scene, "image": image}
        | ({"draft": {"description": shown[name].description}} if shown[name].description else {})
        for name, image in images.items()
    ]


def _copied(shown: Mapping[str, Picture], output: Path) -> dict[str, str]:
    """Name -> path of the picture's copy. All pictures are checked before the first is copied."""
    for picture in shown.values():
        picture.read()
    return {name: copy_picture(picture, output) for name, picture in shown.items()}


def to_edit(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The headlines of a CSV file with the column `original`, in which the words that may be replaced are marked.

    Rows that mark other words of one headline are one item, in which all are marked.
    """
    found = read_csv(source, ("original",))
    marked: dict[str, dict[int, str]] = {}
    for i, row in enumerate(found.rows):
        parts = MARK.split(" ".join(row["original"].split()))
        if len(parts) < 3:
            raise BadInput(f"{found.where(i)}: no word is marked; write <word/> for those that may be replaced.")
        plain = "".join(parts)
        starts = [sum(map(len, parts[:at])) for at in range(1, len(parts), 2)]
        own = marked.setdefault(plain, {})
        taken = {at for start, word in own.items() for at in range(start, start + len(word))}
        own |= {at: word for at, word in zip(starts, parts[1::2], strict=True) if at not in taken}
    return [
        {"id": hashlib.sha256(text.encode()).hexdigest()[:8], "kind": kind, "headline": _with_marks(text, marked[text])}
        for text in sampled(list(marked), size, seed)
    ]


def _with_marks(text: str, words: Mapping[int, str]) -> str:
    for start in sorted(words, reverse=True):
        end = start + len(words[start])
        text = f"{text[:start]}<{words[start]}/>{text[end:]}"
    return text


def to_rate(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The edited headlines of a CSV file with id, original and edit, such as that of `editing`."""
    found = read_csv(source, ("id", "original", "edit"))
    rows = dict(zip((h.id for h in headlines(found)), found.rows, strict=True))
    edited = {h.id: " ".join(x for x in (h.before, f"<{h.edit}/>", h.after) if x) for h in headlines(found)}
    return [
        {
            "id": name,
            "kind": kind,
            "options": list(GRADES),
            "headline": edited[name],
            "original": rows[name]["original"],
            "edit": rows[name]["edit"],
        }
        for name in sampled(list(rows), size, seed)
    ]


KINDS: Mapping[str, Callable[[str, Path, int | None, int, Path], Rows]] = {
    DESCRIPTION.kind: cartoons,
    LINKS.kind: cartoons,
    LITERAL.kind: pictures,
    EDITING.kind: to_edit,
    RATING.kind: to_rate,
}
"""Kind of item -> function of (kind, source, size, seed, output) that returns the rows of the file `output`."""


def sampled(names: Sequence[str], size: int | None, seed: int) -> list[str]:
    """A random sample of `size` in the original order; all where there are fewer."""
    if size is None or size >= len(names):
        return list(names)
    places = sorted(random.Random(seed).sample(range(len(names)), size))
    return [names[i] for i in places]
