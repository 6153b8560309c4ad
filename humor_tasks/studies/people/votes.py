"""Human votes: one vote, its validation, and CSV and JSON lines.

A vote names the option of an item that an annotator chose. Labels are those of the item's file (A is its first option),
independent of the order that the annotator saw. `vote_files` reads files.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files import tables
from humor_tasks.files.reading import missing
from humor_tasks.files.tables import cell_text
from humor_tasks.files.writing import write_json_lines, write_text

TIE = "tie"
REQUIRED = ("item", "rater", "choice", "time")
COLUMNS = (*REQUIRED, "reason", "order")
PREFERENCE = ("A", "B", TIE)
TWICE = ("error", "last")


@dataclass(frozen=True)
class Vote:
    """One vote.

    time: ISO 8601 in UTC, such as 2026-01-31T12:00:00Z; empty where the tool does not record it. order: the labels in
    the order in which they were shown, such as BA; empty where unknown. where: file and row, for messages.
    """

    item: str
    rater: str
    choice: str
    time: str = ""
    reason: str = ""
    order: str = ""
    where: str = field(default="", compare=False)


def utc(text: str, where: str = "") -> str:
    """An ISO 8601 time in UTC; empty stays empty. Raises BadInput for another format or a missing time zone."""
    if not text:
        return ""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{where}: time is {text!r}; write it as 2026-01-31T12:00:00Z.") from None
    if time.tzinfo is None:
        raise BadInput(f"{where}: time {text!r} has no time zone; write it in UTC, with a Z at the end.")
    seconds, _, fraction = time.astimezone(UTC).isoformat().removesuffix("+00:00").partition(".")
    return f"{seconds}{f'.{fraction}'.rstrip('0').rstrip('.')}Z"


@dataclass(frozen=True)
class Votes:
    """The valid votes, in the order of the file; `left_out` counts the others by reason."""

    votes: tuple[Vote, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        items, raters = len({v.item for v in self.votes}), len({v.rater for v in self.votes})
        left = ", ".join(f"{n} {why}" for why, n in self.left_out.items() if n)
        return f"{len(self.votes)} votes on {items} items by {raters} annotators{f'; left out: {left}' if left else ''}"


def checked(
    path: Path,
    votes: Sequence[Vote],
    known_items: Collection[str] | None = None,
    twice: str = "error",
    choices: Collection[str] | Mapping[str, Collection[str]] | None = PREFERENCE,
    left_out: Mapping[str, int] | None = None,
) -> Votes:
    """`votes` of the file `path` after the checks of `read_votes`; annotators' names are normalised (Unicode NFC).

    A vote's order is empty or contains each of its item's labels once. If `choices` does not give the labels by item,
    the order must be distinct capitals that include the choice, unless that is a tie.
    """
    votes = [replace(vote, rater=unicodedata.normalize("NFC", vote.rater)) for vote in votes]
    if known_items is not None:
        known = set(known_items)
        unknown = [f"{vote.item!r} ({vote.where})" for vote in votes if vote.item not in known]
        _refuse(f"{path}: votes for unknown items", unknown, f"There are {len(known)} known items.")
    if choices is not None:
        wrong = [
            f"{vote.choice!r:.60} ({vote.where})"
            for vote in votes
            if vote.choice not in (choices.get(vote.item, ()) if isinstance(choices, Mapping) else choices)
        ]
        allowed = (
            "an option's label, or the fields of its form"
            if isinstance(choices, Mapping)
            else f"one of {', '.join(choices)}"
        )
        _refuse(f"{path}: choices that do not exist", wrong, f"A choice must be {allowed}.")
    invalid = [f"{vote.order!r} ({vote.where})" for vote in votes if vote.order and not _is_order(vote, choices)]
    _refuse(
        f"{path}: orders that do not exist",
        invalid,
        "Write the item's labels in the order shown, such as BA, or leave it empty.",
    )
    counting = _without_repeats(path, votes, twice)
    replaced = {"replaced by a later vote": len(votes) - len(counting)} if len(counting) < len(votes) else {}
    return Votes(tuple(counting), dict(left_out or {}) | replaced)


def _is_order(vote: Vote, choices: Collection[str] | Mapping[str, Collection[str]] | None) -> bool:
    if isinstance(choices, Mapping):
        return sorted(vote.order) == sorted(choice for choice in choices[vote.item] if choice != TIE)
    letters = set(vote.order)
    return len(letters) == len(vote.order) and letters <= set(ascii_uppercase) and vote.choice in {*letters, TIE}


def votes_table(votes: Votes | Iterable[Vote]) -> tuple[list[str], list[str], list[list[str | None]]]:
    """(items, raters, rows) for the agreement functions: a row per item, a column per annotator, None for no vote.

    Items and annotators are in the order of their first votes. Raises BadInput for repeated votes.
    """
    given = list(votes.votes if isinstance(votes, Votes) else votes)
    choice = {(vote.item, vote.rater): vote.choice for vote in given}
    if len(choice) < len(given):
        raise BadInput("an annotator has two votes on one item; read them with --twice last or remove one.")
    items, raters = (list(dict.fromkeys(names)) for names in ([v.item for v in given], [v.rater for v in given]))
    return items, raters, [[choice.get((item, rater)) for rater in raters] for item in items]


def write_votes(path: Path, votes: Votes | Iterable[Vote]) -> None:
    """Write the votes as .csv or .jsonl (one JSON object per line), atomically."""
    if path.suffix not in (".csv", ".jsonl"):
        raise BadInput(f"{path}: the name of a file of votes must end in .csv or .jsonl.")
    given = votes.votes if isinstance(votes, Votes) else votes
    if path.suffix == ".jsonl":
        write_json_lines(path, ({name: getattr(vote, name) for name in COLUMNS} for vote in given))
    else:
        write_text(path, csv_text(given))


def csv_text(votes: Iterable[Vote]) -> str:
    """The votes as CSV with a header, in which a spreadsheet finds no formula (`tables.csv_text`)."""
    return tables.csv_text(COLUMNS, ([getattr(vote, name) for name in COLUMNS] for vote in votes))


def stripped(cell: str) -> str:
    """The text of a cell of `csv_text`; a cell of another program's file without outer whitespace."""
    text = cell_text(cell)
    return text if text != cell else cell.strip()


def vote_of(row: Mapping[str, Any], where: str, text: Callable[[str], str] = str.strip) -> Vote:
    """One vote from a row's columns; other columns are ignored. Raises BadInput for missing or empty ones.

    text: reads a column's text; `stripped` for a row of a CSV file.
    """
    without = [name for name in REQUIRED if name not in row]
    if without:
        raise BadInput(f"{where}: has no {', '.join(without)}; a vote has {', '.join(REQUIRED)}.")
    texts = {name: text(_text(row[name], name, where)) for name in COLUMNS if name in row}
    for name in ("item", "rater", "choice"):
        if why := missing(texts[name]):
            raise BadInput(f"{where}: {name} is {why}.")
    return Vote(**texts | {"time": utc(texts["time"], where)}, where=where)


def _text(value: Any, name: str, where: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str | None):
        raise BadInput(f"{where}: {name} is {value!r}; it must be text.")
    return value or ""


def _refuse(what: str, wrong: Sequence[str], remedy: str, most: int = 5) -> None:
    if wrong:
        more = f" and {len(wrong) - most} more" if len(wrong) > most else ""
        raise BadInput(f"{what}: {', '.join(wrong[:most])}{more}. {remedy}")


def _without_repeats(path: Path, votes: Sequence[Vote], twice: str) -> list[Vote]:
    """The votes without those that their annotator replaced later."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, vote in enumerate(votes):
        groups.setdefault((vote.item, vote.rater), []).append(i)
    if twice == "error":
        repeated = [
            f"{rater} on {item} ({', '.join(votes[i].where for i in rows)})"
            for (item, rater), rows in groups.items()
            if len(rows) > 1
        ]
        _refuse(f"{path}: voted more than once", repeated, "Remove all but one, or read with --twice last.")

    def last(rows: list[int]) -> int:
        timed = all(votes[i].time for i in rows)  # unknown times cannot be ordered
        return max(rows, key=lambda i: (datetime.fromisoformat(votes[i].time) if timed else 0, i))

    return [votes[i] for i in sorted(last(rows) for rows in groups.values())]
