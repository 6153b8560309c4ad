"""The dataset that a command names, as items: through a benchmark's own loader, or rows of named columns."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.answers import Choice, FreeText, Rating, YesNo
from humor_tasks.contract.definition import Run
from humor_tasks.contract.options import parameters_of
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import missing
from humor_tasks.lab.corpora.audit.items import ANSWERS, Item, Items, Kind, Part
from humor_tasks.lab.corpora.audit.tables import Table, read_tables
from humor_tasks.models.choosers.chooser import LETTERS
from humor_tasks.parameters import opened
from humor_tasks.rows import Absent
from humor_tasks.rows.records import Record

FORMS: dict[type, Kind] = {Choice: "choice", YesNo: "yes/no", Rating: "rating", FreeText: "text"}


def open_items(
    dataset: str,
    task: str | None,
    given: Sequence[str],
    configs: Sequence[str],
    splits: Sequence[str],
    columns: dict[str, str | None],
) -> Items:
    """The dataset's items. Raises BadInput where it cannot be read, and for options that do not apply."""
    named = [f"--{role}" for role, column in columns.items() if column]
    if task is None:
        if dataset == "sample" or given:
            raise BadInput("'sample' and -T belong to a benchmark: name it with --task, such as --task matching.")
        return items_of(read_tables(dataset, configs, splits), columns, dataset)
    if named or configs:
        wrong = ", ".join([*named, *(["--config"] if configs else [])])
        raise BadInput(f"{wrong}: the benchmark {task} knows its columns; leave out this or --task.")
    return _of_benchmark(dataset, task, given, splits)


def _of_benchmark(dataset: str, task: str, given: Sequence[str], splits: Sequence[str]) -> Items:
    """Every split of every fold that the dataset has, through the benchmark's own loader."""
    known = parameters_of(find_benchmark(task, "task").options)
    fixed = {setting.partition("=")[0] for setting in given}
    if "split" in fixed:
        raise BadInput("-T split: choose the splits with --split, which may be repeated.")
    every = splits or known["split"].choices
    folds = [None] if "fold" not in known or "fold" in fixed else [f for f in known["fold"].choices if f != "all"]
    runs: list[tuple[Part, Run]] = []
    absent: dict[str, Absent] = {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        for fold in folds:
            for split in every:
                part = Part(split if fold is None else f"{split} of fold {fold}", fold or "", split)
                try:
                    runs.append((part, opened(task, given, dataset=dataset, split=split, fold=fold)))
                except Absent as problem:
                    absent[split] = problem
    for split in every:
        if all(part.split != split for part, _ in runs) and (splits or not runs):
            raise absent[split]
    notes = tuple(dict.fromkeys(str(one.message) for one in heard if issubclass(one.category, UserWarning)))
    return _items_of_runs(dataset, task, runs, notes)


def _items_of_runs(dataset: str, task: str, runs: Sequence[tuple[Part, Run]], notes: tuple[str, ...]) -> Items:
    form = runs[0][1].form
    kind = next((name for form_class, name in FORMS.items() if isinstance(form, form_class)), None)
    if kind is None or (isinstance(form, FreeText) and not form.reference):
        raise BadInput(
            f"{task} has free-text answers; an audit needs choices, yes or no, ratings, or a reference text."
        )
    items = [_item(record, kind, part, i, run) for part, run in runs for i, record in enumerate(run.records)]
    lines = [f"Read as {ANSWERS[kind]} by the benchmark {task}; groups are its clusters."]
    if dropped := sum(len(run.data.dropped) for _, run in runs):
        lines.append(f"Rows without an answer that the benchmark leaves out: {dropped:,}.")
    return Items(dataset, kind, {part.name: part for part, _ in runs}, items, True, tuple(lines), notes, task)


def _item(record: Record, kind: Kind, part: Part, i: int, run: Run) -> Item:
    row = f"row {i} ({record.id:.60})" if not run.data.dropped else f"row {record.id:.60}"
    about = "" if kind == "choice" else record.fields.get("punchline", record.context)
    if kind == "text":
        about = record.target or ""
    read: dict[Kind, Callable[[str], Any]] = {"choice": LETTERS.index, "yes/no": lambda t: t == "yes", "rating": float}
    return Item(
        id=record.id,
        where=f"{row} of {part.name}",
        part=part.name,
        group=record.cluster,
        context=record.context if about != record.context else "",
        choices=record.choices if kind == "choice" else (),
        about=about,
        target=None if record.target is None or kind == "text" else read[kind](record.target),
        picture=record.picture,
    )


# ---- columns ------------------------------------------------------------------------------------

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

    def in_words(self) -> str:
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
        if by_user := named.get(role):
            of[role] = tuple(part.strip() for part in by_user.split(",")) if role in _SEVERAL else (by_user,)
            for name in of[role]:
                check_choice(f"{where}: --{role}: column", name, known)
        elif free := [name for name in names if name in known and not any(name in taken for taken in of.values())]:
            of[role] = tuple(free) if role == "context" else (free[0],)
    named_roles = frozenset(role for role in NAMES if named.get(role))
    if "choices" in of and "text" not in named_roles:
        of.pop("text", None)
    for role, what in (("answer", "answers"), ("text", "choices or texts")):
        if role not in of and not (role == "text" and "choices" in of):
            options = "--choices or --text" if role == "text" else "--answer"
            raise BadInput(
                f"{where}: no column is known to hold the {what}; the columns are: {', '.join(known)[:400]}. Name it "
                f"with {options}. Where these are not names but values, the file has no header: add one."
            )
    return Columns(of, named_roles)


def items_of(tables: Sequence[Table], named: dict[str, str | None], dataset: str) -> Items:
    """The rows of the tables as items. Raises BadInput naming the row, its column and the remedy."""
    columns = find_columns(tables[0], named)
    places = [(table, i, table.where(i)) for table in tables for i in range(len(table.rows))]
    answer, group, text, identity, image = map(columns.one, ("answer", "group", "text", "id", "image"))
    options = columns.of.get("choices")
    choices = [_choices(table.rows[i], options, where) if options else () for table, i, where in places]
    cells = [
        Cell(table.rows[i].get(str(answer)), row_choices, str(answer), where)
        for (table, i, where), row_choices in zip(places, choices, strict=True)
    ]
    kind, read, in_words = _answers(cells)
    items = []
    for (table, i, where), cell in zip(places, cells, strict=True):
        row = table.rows[i]
        row_id = str(row.get(identity) or "") if identity else ""
        place = f"{where} ({row_id:.60})" if row_id and row_id not in where else where
        items.append(
            Item(
                id=row_id or where,
                where=place,
                part=table.part.name,
                group=_group(row.get(group), group, where) if group else place,
                context=_words([row.get(name) for name in columns.of.get("context", ())]),
                choices=cell.choices,
                about=_text(row.get(str(text)), str(text), where) if not cell.choices else "",
                target=read(cell) if cell.is_labelled else None,
                picture=table.picture(i, image) if image else None,
            )
        )
    lines = [f"Read as {ANSWERS[kind]}: {in_words}.", columns.in_words()]
    if not group:
        lines.append("No column is known to hold groups, so each row counts as independent; name one with --group.")
    parts = {table.part.name: table.part for table in tables}
    return Items(dataset, kind, parts, items, group is not None, tuple(lines))


# ---- cells --------------------------------------------------------------------------------------


def _choices(row: dict[str, Any], columns: Sequence[str], where: str) -> tuple[str, ...]:
    cell: Any = row.get(columns[0]) if len(columns) == 1 else [row.get(name) for name in columns]
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except ValueError:
            raise BadInput(f"{where}: {columns[0]} is {cell!r:.80}, which is no JSON list; correct it.") from None
    name = ", ".join(columns)
    if not isinstance(cell, list) or len(cell) < 2:
        raise BadInput(
            f"{where}: {name} is {cell!r:.80}; it must be a list of two texts or more. Correct the row or leave it out."
        )
    if len(cell) > len(LETTERS):
        raise BadInput(f"{where}: {name} has {len(cell)} texts; at most {len(LETTERS)} have letters.")
    for letter, choice in zip(LETTERS, cell, strict=False):
        if not isinstance(choice, str):
            raise BadInput(f"{where}: {name}: choice {letter} is {choice!r:.60}; it must be text. Correct the row.")
    return tuple(cell)


def _text(value: Any, column: str, where: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{where}: {column} is {value!r:.60}; it must be text. Correct the row or name another --text.")
    return value


def _words(values: Sequence[Any]) -> str:
    """Texts, lists of texts and turns of a dialogue as one text."""
    parts = [part for value in values for part in (value if isinstance(value, list) else [value])]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(str(text) for text in texts if not missing(text))


def _group(value: Any, column: str, where: str) -> str:
    if value is None or value == "" or isinstance(value, list | dict):
        raise BadInput(f"{where}: {column} is {value!r:.60}; it must name the row's group. Correct the row.")
    return str(value)


# ---- answers ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A row's answer as it stands, with the row's choices, its column and its place."""

    value: Any
    choices: tuple[str, ...]
    column: str
    where: str

    @property
    def is_labelled(self) -> bool:
        """Whether there is an answer; an empty one is that of a row without a label."""
        missing = self.value is None or self.value == ""
        return not missing and not (isinstance(self.value, float) and math.isnan(self.value))

    @property
    def word(self) -> str:
        """The value as a word in lower case."""
        return str(self.value).strip().lower()

    @property
    def number(self) -> float | None:
        """The value as a finite number; None for another."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float | str):
            return None
        try:
            number = float(self.value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None


Reader = Callable[[Cell], int | bool | float | None]


def _answers(cells: Sequence[Cell]) -> tuple[Kind, Reader, str]:
    """What the answers are, how one is read, and in words."""
    labelled = [cell for cell in cells if cell.is_labelled]
    if not labelled:
        first = cells[0]
        raise BadInput(
            f"{first.where}: {first.column} is empty in every row; an audit needs answers. Name another --answer."
        )
    if cells[0].choices:
        return _of_choices(labelled)
    odd = next((cell for cell in labelled if cell.word not in _YES_NO), None)
    if odd is None:
        return "yes/no", lambda cell: _YES_NO[cell.word], "yes or no"
    if labelled[0].number is None:
        raise BadInput(
            f"{odd.where}: {odd.column} is {odd.value!r:.60}; without choices it must be yes or no, true or false, 1 "
            "or 0, or a number in every row. Are the columns shifted? Otherwise name another --answer, or the "
            "--choices."
        )
    return "rating", _rating, "numbers"


def _rating(cell: Cell) -> float:
    if cell.number is None:
        raise BadInput(
            f"{cell.where}: {cell.column} is {cell.value!r:.60}; the first row has a number. Are the columns shifted?"
        )
    return cell.number


def _of_choices(labelled: Sequence[Cell]) -> tuple[Kind, Reader, str]:
    first = labelled[0]
    letter = first.value.strip().upper() if isinstance(first.value, str) else ""
    if len(letter) == 1 and letter in LETTERS:
        return "choice", _reader(lambda c: LETTERS.find(str(c.value).strip().upper() or " "), "a letter"), "letters"
    if first.number is not None and first.number % 1 == 0 and str(first.value) not in first.choices:
        numbers = [(cell.number, len(cell.choices)) for cell in labelled if cell.number is not None]
        least = min(number for number, _ in numbers)
        if least > 0 and not any(number == most for number, most in numbers):
            raise BadInput(f"{first.where}: {first.column} counts choices, from 0 or from 1? Write letters instead.")
        start = 0 if least == 0 else 1

        def index(cell: Cell) -> int:
            return -1 if cell.number is None or cell.number % 1 else int(cell.number) - start

        return "choice", _reader(index, f"a number from {start}"), f"answers counted from {start}"
    by_text = _reader(lambda c: c.choices.index(c.value) if c.value in c.choices else -1, "one of the choices")
    return "choice", by_text, "answers as text"


def _reader(index: Callable[[Cell], int], wanted: str) -> Reader:
    def read(cell: Cell) -> int:
        place = index(cell)
        if not 0 <= place < len(cell.choices):
            raise BadInput(
                f"{cell.where}: {cell.column} is {cell.value!r:.60}; it must be {wanted} (there are "
                f"{len(cell.choices)} choices). Are the columns shifted? Correct the row, or name another --answer."
            )
        return place

    return read
