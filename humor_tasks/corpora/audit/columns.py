"""Which column holds what, and rows of named columns as items."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.corpora.audit.items import KINDS, Item, Items, Kind
from humor_tasks.corpora.audit.tables import Table
from humor_tasks.data.reading import missing
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.choosers.chooser import LETTERS

# Role -> the names of columns that are taken for it, the likeliest first.
NAMES = {
    "choices": ("caption_choices", "choices", "options", "candidates", "endings"),
    "answer": (
        *("label", "answer", "target", "gold", "answer_key", "correct", "sarcasm", "sarcastic", "is_sarcastic"),
        *("humor", "is_humor", "meanGrade", "mean_grade", "humor_rating", "rating", "score", "mean", "funniness"),
    ),
    "text": ("text", "caption", "utterance", "joke", "punchline", "headline", "edited", "sentence", "edit"),
    "context": (
        *("image_location", "image_description", "image_uncanny_description", "description", "context", "scene"),
        *("premise", "dialogue", "question", "prompt"),
    ),
    "group": ("contest_number", "contest", "group", "group_id", "cluster", "media_id", "original", "headline_id"),
    "id": ("instance_id", "id", "uid", "pid", "key"),
    "image": ("image", "picture", "img"),
}
_SEVERAL = ("choices", "context")
_YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class Columns:
    """Role -> its columns. `given` are the roles that the user named."""

    of: dict[str, tuple[str, ...]]
    given: frozenset[str]

    def one(self, role: str) -> str | None:
        """The column of a role that takes one."""
        return next(iter(self.of.get(role, ())), None)

    def told(self) -> str:
        """A sentence on what was given and what was recognised by its name."""
        parts = [
            f"{role} from {', '.join(names)} ({'given' if role in self.given else 'recognised by its name'})"
            for role, names in self.of.items()
        ]
        return f"Columns: {'; '.join(parts)}."


def find_columns(table: Table, named: dict[str, str | None]) -> Columns:
    """The columns of each role: those named on the command line, and for the others those known by their names.

    Raises BadInput for a column that does not exist, and where none holds the answers, or the texts.
    """
    known, where = table.columns, table.where(0)
    of: dict[str, tuple[str, ...]] = {}
    for role, names in NAMES.items():
        if said := named.get(role):
            of[role] = tuple(part.strip() for part in said.split(",")) if role in _SEVERAL else (said,)
            for name in of[role]:
                check_choice(f"{where}: --{role}: column", name, known)
            continue
        found = [name for name in names if name in known and not any(name in taken for taken in of.values())]
        if found:
            of[role] = tuple(found) if role == "context" else (found[0],)
    by_user = frozenset(role for role in NAMES if named.get(role))
    if "choices" in of and "text" not in by_user:
        of.pop("text", None)
    for role, what in (("answer", "answers"), ("text", "choices or texts")):
        if role not in of and not (role == "text" and "choices" in of):
            options = "--choices or --text" if role == "text" else "--answer"
            raise BadInput(
                f"{where}: no column is known to hold the {what}; the columns are: {', '.join(known)[:400]}. Name it "
                f"with {options}. Where these are not names but values, the file has no header: add one."
            )
    return Columns(of, by_user)


def items_of(tables: Sequence[Table], named: dict[str, str | None], dataset: str) -> Items:
    """The rows of the tables as items. Raises BadInput naming the row, its column and the remedy."""
    columns = find_columns(tables[0], named)
    places = [(table, i) for table in tables for i in range(len(table.rows))]
    rows = [table.rows[i] for table, i in places]
    wheres = [table.where(i) for table, i in places]
    choices = [_choices(row, columns.of["choices"], at) for row, at in zip(rows, wheres, strict=True)] \
        if "choices" in columns.of else [()] * len(rows)  # fmt: skip
    answer = str(columns.one("answer"))
    kind, read, told = _answers([row.get(answer) for row in rows], choices, wheres, answer)
    group, text, identity, image = (columns.one(role) for role in ("group", "text", "id", "image"))
    found = []
    for (table, i), row, at, own in zip(places, rows, wheres, choices, strict=True):
        named_id = str(row.get(identity) or "") if identity else ""
        place = f"{at} ({named_id:.60})" if named_id and named_id not in at else at
        found.append(
            Item(
                id=named_id or at,
                where=place,
                part=table.part.name,
                group=_group(row.get(group), group, at) if group else place,
                context=_words([row.get(name) for name in columns.of.get("context", ())]),
                choices=own,
                about=_text(row.get(str(text)), str(text), at) if not own else "",
                target=read(row.get(answer), own, at),
                picture=table.picture(i, image) if image else None,
            )
        )
    parts = {table.part.name: table.part for table in tables}
    lines = [f"Read as {KINDS[kind]}: {told}.", columns.told()]
    if not group:
        lines.append("No column is known to hold groups, so each row counts as independent; name one with --group.")
    return Items(dataset, kind, parts, found, group is not None, tuple(lines))


# ---- cells --------------------------------------------------------------------------------------


def _choices(row: dict[str, Any], columns: Sequence[str], where: str) -> tuple[str, ...]:
    if len(columns) > 1:
        held: Any = [row.get(name) for name in columns]
    else:
        held = row.get(columns[0])
        if isinstance(held, str) and held.lstrip().startswith("["):
            try:
                held = json.loads(held)
            except ValueError:
                raise BadInput(f"{where}: {columns[0]} is {held!r:.80}, which is no JSON list; correct it.") from None
    name = ", ".join(columns)
    if not isinstance(held, list) or len(held) < 2:
        raise BadInput(
            f"{where}: {name} is {held!r:.80}; it must be a list of two texts or more. Correct the row or leave it out."
        )
    if len(held) > len(LETTERS):
        raise BadInput(f"{where}: {name} has {len(held)} texts; at most {len(LETTERS)} have letters.")
    for i, choice in enumerate(held):
        if not isinstance(choice, str):
            raise BadInput(f"{where}: {name}: choice {LETTERS[i]} is {choice!r:.60}; it must be text. Correct the row.")
    return tuple(held)


def _text(value: Any, column: str, where: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{where}: {column} is {value!r:.60}; it must be text. Correct the row or name another --text.")
    return value


def _words(values: Sequence[Any]) -> str:
    """Texts, lists of texts and turns of a dialogue as one text."""
    found: list[str] = []
    for value in values:
        for each in value if isinstance(value, list) else [value]:
            said = each.get("text") if isinstance(each, dict) else each
            if not missing(said):
                found.append(str(said))
    return "\n".join(found)


def _group(value: Any, column: str, where: str) -> str:
    if value is None or value == "" or isinstance(value, list | dict):
        raise BadInput(f"{where}: {column} is {value!r:.60}; it must name the row's group. Correct the row.")
    return str(value)


# ---- answers ------------------------------------------------------------------------------------

Reader = Callable[[Any, tuple[str, ...], str], int | bool | float | None]


def _answers(
    values: Sequence[Any], choices: Sequence[tuple[str, ...]], wheres: Sequence[str], column: str
) -> tuple[Kind, Reader, str]:
    """What the answers are, how one is read, and in words. Empty answers are rows without a label."""
    held = [(value, own, at) for value, own, at in zip(values, choices, wheres, strict=True) if _given(value)]
    if not held:
        raise BadInput(f"{wheres[0]}: {column} is empty in every row; an audit needs answers. Name another --answer.")
    if choices[0]:
        return _of_choices(held, column)
    odd = next((each for each in held if _word(each[0]) not in _YES_NO), None)
    if odd is None:
        return "yes/no", lambda value, own, at: _YES_NO[_word(value)] if _given(value) else None, "yes or no"
    if _number(held[0][0]) is None:
        raise BadInput(
            f"{odd[2]}: {column} is {odd[0]!r:.60}; without choices it must be yes or no, true or false, 1 or 0, or a "
            "number in every row. Are the columns shifted? Otherwise name another --answer, or the --choices."
        )

    def read(value: Any, own: tuple[str, ...], at: str) -> float | None:
        if not _given(value):
            return None
        if (number := _number(value)) is None:
            raise BadInput(f"{at}: {column} is {value!r:.60}; the first row has a number. Are the columns shifted?")
        return number

    return "rating", read, "numbers"


def _of_choices(held: Sequence[tuple[Any, tuple[str, ...], str]], column: str) -> tuple[Kind, Reader, str]:
    first, own, _ = held[0]
    if isinstance(first, str) and len(first.strip()) == 1 and first.strip().upper() in LETTERS:
        return (
            "choice",
            _reader(lambda v, c: LETTERS.find(str(v).strip().upper() or " "), column, "a letter"),
            "letters",
        )
    if (number := _number(first)) is not None and number % 1 == 0 and str(first) not in own:
        numbers = [(n, len(c)) for v, c, _ in held if (n := _number(v)) is not None]
        least = min(n for n, _ in numbers)
        if least > 0 and not any(n == most for n, most in numbers):
            raise BadInput(f"{held[0][2]}: {column} counts choices, from 0 or from 1? Write letters instead.")
        start = 0 if least == 0 else 1
        reader = _reader(lambda v, c: _index(v, start), column, f"a number from {start}")
        return "choice", reader, f"answers counted from {start}"
    return "choice", _reader(lambda v, c: c.index(v) if v in c else -1, column, "one of the choices"), "answers as text"


def _reader(index: Callable[[Any, tuple[str, ...]], int], column: str, wanted: str) -> Reader:
    def read(value: Any, own: tuple[str, ...], at: str) -> int | None:
        if not _given(value):
            return None
        found = index(value, own)
        if not 0 <= found < len(own):
            raise BadInput(
                f"{at}: {column} is {value!r:.60}; it must be {wanted} (there are {len(own)} choices). Are the columns "
                "shifted? Correct the row, or name another --answer."
            )
        return found

    return read


def _index(value: Any, start: int) -> int:
    number = _number(value)
    return -1 if number is None or number % 1 else int(number) - start


def _given(value: Any) -> bool:
    return value is not None and value != "" and not (isinstance(value, float) and math.isnan(value))


def _word(value: Any) -> str:
    return str(value).strip().lower()


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
