"""Grouping of votes by question, from the files of votes and the items of PAIRS.

A question is one row of a table: two systems' explanations, or human accuracy on a benchmark. It is given by a column
`question` of the votes, by the fields `question` and `systems` (the names of the two systems) of an item of PAIRS (see
`annotate.pairs`), and otherwise by the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.data.reading import read_body
from humor_tasks.data.rows import read_csv
from humor_tasks.errors import BadInput, listed
from humor_tasks.people.pairs import Item, choices_of, read_pairs
from humor_tasks.people.vote import Vote
from humor_tasks.people.votes import REQUIRED, Votes, checked, read_json_rows, read_votes, stripped, vote_of

PREFERENCE = "preference"


@dataclass(frozen=True)
class Question:
    """The votes on one question.

    `items` are all its items, with or without votes; empty without PAIRS. `systems` are the authors of options A and B,
    where PAIRS name them.
    """

    name: str
    votes: tuple[Vote, ...]
    kind: str = PREFERENCE
    systems: tuple[str, str] | None = None
    items: Mapping[str, Item] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def cluster(self, item: str) -> str:
        """The item's cluster, such as its contest; the item's id where the cluster is unknown."""
        return (self.items[item].cluster if item in self.items else "") or item


Key = tuple[str, str, tuple[str, str] | None]  # question, kind and systems of an item


def read_questions(votes: Sequence[Path], pairs: Sequence[Path] = (), twice: str = "error") -> list[Question]:
    """The questions of these files, in their order.

    One file of `pairs` applies to all votes, which are then pooled; several files apply to the files of votes in the
    same order. Raises BadInput for a repeated file, another number of `pairs`, and as `read_votes` and `read_pairs`.
    """
    if len({path.resolve() for path in votes}) < len(votes):
        raise BadInput("a file of votes is given twice; give each file once.")
    if not pairs:
        return [question for path in votes for question in _without_items(path, twice)]
    if len(pairs) not in (1, len(votes)):
        raise BadInput(
            f"--items is given {len(pairs)} times and there are {len(votes)} files of votes; give it once for all, "
            "or once for each in the same order."
        )
    files: dict[Path, list[Path]] = {}
    for i, path in enumerate(votes):
        files.setdefault(pairs[i % len(pairs)], []).append(path)
    return [question for path, own in files.items() for question in _with_items(path, own, twice)]


def _without_items(path: Path, twice: str) -> list[Question]:
    return [
        Question(name or path.stem, found.votes, left_out=found.left_out)
        for name, found in _read(path, None, twice).items()
    ]


def _with_items(pairs: Path, paths: Sequence[Path], twice: str) -> list[Question]:
    items = read_pairs(pairs)
    if forms := [item.id for item in items if item.form]:
        raise BadInput(f"{pairs}: {listed('item', forms, 3)} to fill in; agreement is of votes (see collect).")
    stem = paths[0].stem if len(paths) == 1 else pairs.stem
    allowed, about = choices_of(items), _about(pairs)
    unanswered = all(not item.answer and len(item.options) == 2 for item in items)
    groups: dict[Key, dict[str, Item]] = {}
    for item in items:
        question, systems = about[item.id]
        kind = PREFERENCE if unanswered else item.kind  # also for ranking items without an answer
        groups.setdefault((question, kind, systems), {})[item.id] = item
    read = [_read(path, allowed, twice) for path in paths]
    found = []
    for name in dict.fromkeys(name for each in read for name in each):
        parts = [each[name] for each in read if name in each]
        one = checked(paths[0], [v for part in parts for v in part.votes], twice=twice, choices=None)
        left_out = dict(one.left_out)
        for why, n in (pair for part in parts for pair in part.left_out.items()):
            left_out[why] = left_out.get(why, 0) + n
        for (question, kind, systems), own in groups.items():
            given = tuple(vote for vote in one.votes if vote.item in own)
            if given or not name:
                told = name or question or (" vs ".join(systems) if systems and len(groups) > 1 else stem)
                found.append(Question(told, given, kind, systems, own, left_out))
                left_out = {}  # reported once
    return found


def _read(path: Path, allowed: Mapping[str, Collection[str]] | None, twice: str) -> dict[str, Votes]:
    """The votes by the value of their column `question`; all under "" without this column."""
    rows, text = _rows(path)
    choices: dict[str, Any] = {} if allowed is None else {"choices": allowed}
    if not any({*REQUIRED, "question"} <= set(row) for _, row in rows):
        return {"": read_votes(path, allowed, twice, **choices)}
    groups: dict[str, list[Vote]] = {}
    for where, row in rows:
        groups.setdefault(_text(row.get("question"), "question", where), []).append(vote_of(row, where, text))
    return {name: checked(path, given, allowed, twice, **choices) for name, given in groups.items()}


def _rows(path: Path) -> tuple[list[tuple[str, dict[str, Any]]], Callable[[str], str]]:
    """(location, row) of each row, and what reads the texts of its columns."""
    body = read_body(path)
    if body.lstrip()[:1] in ("[", "{"):
        return read_json_rows(path, body), str.strip
    found = read_csv(path, REQUIRED)
    return [(found.where(i), dict(row)) for i, row in enumerate(found.rows)], stripped


def _about(pairs: Path) -> dict[str, tuple[str, tuple[str, str] | None]]:
    """Item id -> its question and systems, fields not shown to annotators; `read_pairs` reads the other fields."""
    found: dict[str, tuple[str, tuple[str, str] | None]] = {}
    for where, row in read_json_rows(pairs, read_body(pairs)):
        question = row.get("question")
        systems = row.get("systems")
        if systems is not None and not (isinstance(systems, list) and len(systems) == 2):
            raise BadInput(f"{where}: systems is {systems!r}; it must list the authors of options A and B.")
        named = (_text(systems[0], "systems", where), _text(systems[1], "systems", where)) if systems else None
        found[str(row["id"]).strip()] = _text(question, "question", where) if question is not None else "", named
    return found


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where}: {name} holds {value!r}; it must be text.")
    return value.strip()
