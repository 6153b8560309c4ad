"""Human votes, one per row, from this project's files or other tools' exports, with validation.

A vote names the option of an item that an annotator chose. Labels are those of the item's file (A is its first option),
independent of the order that the annotator saw.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from humor_tasks.data.reading import missing, parse_line, read_body
from humor_tasks.data.rows import read_csv
from humor_tasks.data.writing import as_table, cell_text, write_text
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.people.vote import TIE, Vote, utc
from humor_tasks.people.vote_imports import Export, is_export, read_export

REQUIRED = ("item", "rater", "choice", "time")
COLUMNS = (*REQUIRED, "reason", "order")
PREFERENCE = ("A", "B", TIE)
TWICE = ("error", "last")


@dataclass(frozen=True)
class Votes:
    """The valid votes, in the order of the file; `left_out` counts the others by reason."""

    votes: tuple[Vote, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        items, raters = len({v.item for v in self.votes}), len({v.rater for v in self.votes})
        left = ", ".join(f"{n} {why}" for why, n in self.left_out.items() if n)
        return f"{len(self.votes)} votes on {items} items by {raters} annotators{f'; left out: {left}' if left else ''}"


def read_votes(
    path: Path,
    known_items: Collection[str] | None = None,
    twice: str = "error",
    choices: Collection[str] | Mapping[str, Collection[str]] | None = PREFERENCE,
    **export: Any,
) -> Votes:
    """The votes of a CSV or JSON-lines file, or of an export of Label Studio or Argilla, recognised by its content.

    known_items: votes on other items are refused. twice: repeated votes of an annotator on an item are refused
    ("error"), or the last by time, then row, counts ("last"). choices: the allowed labels, for all items or by item;
    None allows any. `export`: the fields of vote_imports.Export.

    Raises BadInput naming the rows where any vote is invalid.
    """
    check_choice("twice", twice, TWICE)
    rows = _rows(path)
    if rows is None:
        found = read_csv(path, REQUIRED)
        votes = [vote_of(row, found.where(i), stripped) for i, row in enumerate(found.rows)]
        left_out: Mapping[str, int] = {}
    elif any(set(REQUIRED) & set(row) for _, row in rows) and not is_export(rows):
        votes, left_out = [vote_of(row, where) for where, row in rows], {}
    else:
        votes, left_out = read_export(path, rows, Export(**export))
    return checked(path, votes, known_items, twice, choices, left_out)


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
        rows = ({name: getattr(vote, name) for name in COLUMNS} for vote in given)
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        write_text(path, "".join(f"{line}\n" for line in lines))
    else:
        write_text(path, csv_text(given))


def csv_text(votes: Iterable[Vote]) -> str:
    """The votes as CSV with a header, in which a spreadsheet finds no formula (`as_table`)."""
    return as_table(COLUMNS, ([getattr(vote, name) for name in COLUMNS] for vote in votes))


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


def _refuse(what: str, found: Sequence[str], remedy: str, most: int = 5) -> None:
    if found:
        more = f" and {len(found) - most} more" if len(found) > most else ""
        raise BadInput(f"{what}: {', '.join(found[:most])}{more}. {remedy}")


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


# ---- files --------------------------------------------------------------------------------------


def _rows(path: Path) -> list[tuple[str, dict[str, Any]]] | None:
    """(location, object) of each row of a JSON or JSON-lines file; None for a file that is not JSON."""
    body = read_body(path)
    if body.lstrip()[:1] not in ("[", "{"):
        return None
    rows = [(where, row) for where, row in read_json_rows(path, body)]
    if not rows:
        raise BadInput(f"{path}: there are no rows.")
    return rows


def read_json_rows(path: Path, body: str) -> list[tuple[str, dict[str, Any]]]:
    """(location, object) of a JSON list of objects, of JSON lines, or of one object that holds columns or rows."""
    try:
        data = json.loads(body)
    except json.JSONDecodeError:
        lines = [(f"{path}, line {i}", line) for i, line in enumerate(body.split("\n"), 1) if line.strip()]
        rows = [(where, parse_line(line, where)) for where, line in lines]
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{path}: not JSON ({problem}).") from None
    else:
        rows = [(f"{path}, row {i}", row) for i, row in enumerate(_listed(data), 1)]
    for where, row in rows:
        if not isinstance(row, dict):
            raise BadInput(f"{where}: is {type(row).__name__}; a row must be an object.")
    return rows


def _listed(data: Any) -> list[Any]:
    """The rows: a list as it is; Argilla's dict of columns transposed, its dict of rows without the keys."""
    if isinstance(data, list):
        return data
    values = list(data.values()) if isinstance(data, dict) else []
    if values and all(isinstance(value, dict) for value in values):
        return values
    if values and all(isinstance(value, list) for value in values) and len(set(map(len, values))) == 1:
        return [dict(zip(data, cells, strict=True)) for cells in zip(*values, strict=True)]
    return [data]
