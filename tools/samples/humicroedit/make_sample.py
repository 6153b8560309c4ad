"""Builds the packaged sample of Humicroedit and FunLines: task-1/ and task-2/ in the organisers' layout.

    python tools/samples/humicroedit/make_sample.py [OUTPUT_FOLDER]

Everything comes from `headlines.toml`, so the same checkout always gives the same files. Without a folder the files
of the card are replaced. README.md is written by hand.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).parent
CARD = HERE.parents[2] / "datasets_cards" / "humicroedit"
SPLITS = ("train", "train_funlines", "dev", "test")
FIRST_ID = 900001  # far above any real one
RATING = ("id", "original", "edit", "grades", "meanGrade")
PAIRWISE = ("id", *(f"{column}{n}" for n in (1, 2) for column in RATING[1:]), "label")


@dataclass(frozen=True)
class Edit:
    """One edited headline: the row of task 1."""

    id: int
    original: str
    word: str
    grades: str

    @property
    def points(self) -> int:
        """The sum of the grades; with five judges everywhere it orders edits as their means do."""
        return sum(map(int, self.grades))

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in the row after the id."""
        return self.original, self.word, self.grades, f"{self.points / len(self.grades):.1f}"


def marked(text: str, word: str) -> str:
    """The headline with `word` as <word/>, with a blank on both sides, also at either end, as in the corpus."""
    padded = f" {text} "
    if padded.count(f" {word} ") != 1:
        raise ValueError(f"{text!r} must hold {word!r} exactly once, between blanks")
    before, after = padded.split(f" {word} ")
    return f"{before.strip()} <{word}/> {after.strip()}"


def in_mixed_order(edits: Iterable[Edit]) -> list[Edit]:
    """An order that says nothing about how funny an edit is, and is the same everywhere."""
    return sorted(edits, key=lambda edit: hashlib.sha256(f"{edit.original} {edit.word}".encode()).digest())


def read_headline(text: str, entries: Sequence[Sequence[str]], first_id: int) -> list[Edit]:
    """The edits of one headline with their ids. Grades are sorted, highest first, as in the corpus."""
    edits = []
    for word, edit, grades in entries:
        if not re.fullmatch(r"\S+", edit) or not re.fullmatch(r"[0-3]{5}", grades):
            raise ValueError(f"{text!r}: {edit!r} must be one word and {grades!r} five digits from 0 to 3")
        edits.append(Edit(0, marked(text, word), edit, "".join(sorted(grades, reverse=True))))
    return [Edit(first_id + i, e.original, e.word, e.grades) for i, e in enumerate(in_mixed_order(edits))]


def pair_row(first: Edit, second: Edit) -> tuple[str, ...]:
    """A row of task 2: label 1 or 2 is the funnier edit, 0 a tie."""
    label = 0 if first.points == second.points else 1 if first.points > second.points else 2
    return f"{first.id}-{second.id}", *first.cells, *second.cells, str(label)


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A CSV file; the bytes are the same on every platform."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.getvalue().encode())


def main(out: Path) -> None:
    """Write every file of the sample under `out`."""
    source = tomllib.loads((HERE / "headlines.toml").read_text(encoding="utf-8"))
    next_id = FIRST_ID
    for split in SPLITS:
        groups = []
        for headline in source[split]:
            groups.append(read_headline(headline["text"], headline["edits"], next_id))
            next_id += len(groups[-1])
        edits = in_mixed_order(edit for group in groups for edit in group)
        write_rows(out / "task-1" / f"{split}.csv", RATING, ((str(edit.id), *edit.cells) for edit in edits))
        pairs = [pair for group in groups for pair in combinations(group, 2)]
        write_rows(out / "task-2" / f"{split}.csv", PAIRWISE, (pair_row(*pair) for pair in pairs))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CARD)
