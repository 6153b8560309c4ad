"""Files of votes: this project's own, and exports of Label Studio (JSON, JSON_MIN) and Argilla 2.

The format of an export is recognised by its structure. Label Studio: a task has `annotations` (`completions` before
1.0) with `result`, where a choice is `value.choices` and a pairwise choice `value.selected`; JSON_MIN has one row per
annotation. Argilla: `responses: {question: [{user_id, value}]}`, or flat `question.responses`, `.users` and `.status`.
Only submitted responses count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import parse_line, read_body, without_repeats
from humor_tasks.rows import read_csv
from humor_tasks.studies.people.votes import (
    COLUMNS,
    PREFERENCE,
    REQUIRED,
    TWICE,
    Vote,
    Votes,
    checked,
    stripped,
    utc,
    vote_of,
)

ITEM_FIELDS = ("item", "instance_id", "item_id", "id")
QUESTIONS = ("choice", "preference")
REASON = "reason"
SIDES = {"left": "A", "right": "B"}
SUBMITTED = "submitted"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Export:
    """The names used in an export; None means to detect the name, where it is unambiguous.

    item_field: the field with the item's id. question: the control (Label Studio) or question (Argilla) that holds the
    vote; one called `reason` holds reasons. labels: the export's label -> our label; in a pairwise choice left is A and
    right is B. without_status: count the responses of an export without submission status.
    """

    item_field: str | None = None
    question: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    without_status: bool = False


@dataclass(frozen=True)
class _Response:
    """One annotator's answers to one item: question -> answer. `fields` are the fields that may hold the item's id."""

    where: str
    fields: Row
    rater: Any
    answers: Row
    status: str | None = SUBMITTED
    time: str = ""


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
    None allows any. `export`: the fields of Export.

    Raises BadInput naming the rows where any vote is invalid.
    """
    check_choice("twice", twice, TWICE)
    rows, text = read_rows(path)
    if text is stripped:  # a CSV file
        return checked(path, [vote_of(row, where, text) for where, row in rows], known_items, twice, choices)
    read = next((read for is_shape, read in _SHAPES if any(is_shape(row) for _, row in rows)), None)
    if read is None and any(set(REQUIRED) & set(row) for _, row in rows):
        return checked(path, [vote_of(row, where) for where, row in rows], known_items, twice, choices)
    if read is None:
        raise BadInput(
            f"{path}: is neither votes (item, rater, choice, time) nor an export of Label Studio (annotations, or "
            f"annotation_id and annotator) nor of Argilla (responses); a row has: {_names(rows[0][1])}."
        )
    votes, left_out = _read_export(path, rows, read, Export(**export))
    return checked(path, votes, known_items, twice, choices, left_out)


def read_rows(path: Path) -> tuple[list[tuple[str, Row]], Callable[[str], str]]:
    """(location, row) of each row of a JSON, JSON-lines or CSV file, and what reads the texts of its columns."""
    body = read_body(path)
    if body.lstrip()[:1] not in ("[", "{"):
        table = read_csv(path, REQUIRED, known=COLUMNS, ids=("item", "rater"))
        return [(table.where(i), row) for i, row in enumerate(table.rows)], stripped
    rows = read_json_rows(path, body)
    if not rows:
        raise BadInput(f"{path}: there are no rows.")
    return [*rows], str.strip


def read_json_rows(path: Path, body: str) -> list[tuple[str, dict[str, Any]]]:
    """(location, object) of a JSON list of objects, of JSON lines, or of one object that holds columns or rows."""
    try:
        data = json.loads(body, object_pairs_hook=without_repeats)
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


# ---- exports ------------------------------------------------------------------------------------


def _read_export(
    path: Path, rows: Sequence[tuple[str, Row]], read: Callable[[str, Row], Iterator[_Response]], export: Export
) -> tuple[list[Vote], dict[str, int]]:
    """The votes, and the number of answers left out by reason."""
    responses: list[_Response] = []
    for where, row in rows:
        try:
            responses += read(where, row)
        except (AttributeError, TypeError, ValueError, KeyError) as problem:
            if isinstance(problem, BadInput):
                raise
            raise BadInput(
                f"{where}: has another structure than the rest of this export ({problem}). Export it again."
            ) from None
    left_out = Counter(response.status for response in responses if response.status not in (None, SUBMITTED))
    counted = [response for response in responses if response.status in (None, SUBMITTED)]
    unknown = [response for response in counted if response.status is None]
    if unknown and not export.without_status:
        raise BadInput(
            f"{unknown[0].where}: the export does not say which responses were submitted. Argilla's "
            "records.to_list(flatten=True) does; or count them all (--without-status)."
        )
    question = _vote_question(path, counted, export)
    voted = [response for response in counted if response.answers.get(question) is not None]
    left_out["without an answer"] += len(counted) - len(voted)
    if not voted:
        why = ", ".join(f"{n} {why}" for why, n in left_out.items() if n)
        raise BadInput(f"{path}: holds no submitted vote{f'; there are: {why}' if why else ''}.")
    return [_vote(response, question, export) for response in voted], {str(k): n for k, n in left_out.items() if n}


def _vote_question(path: Path, responses: Sequence[_Response], export: Export) -> str:
    """The question that holds the vote, among all answered questions."""
    answered = dict.fromkeys(name for response in responses for name in response.answers if name != REASON)
    if export.question:
        if responses and export.question not in answered:
            raise BadInput(f"{path}: no answer to '{export.question}'; there are: {', '.join(answered) or 'none'}.")
        return export.question
    sides = {name for response in responses for name, answer in response.answers.items() if _is_side(answer)}
    candidates = [name for name in answered if name in QUESTIONS or name in sides]
    if len(answered) > 1 and len(candidates) != 1:
        raise BadInput(f"{path}: name the question that holds the vote (--question); there are: {', '.join(answered)}.")
    return next(iter(candidates or answered), "")


def _vote(response: _Response, question: str, export: Export) -> Vote:
    where = response.where
    names = (export.item_field,) if export.item_field else ITEM_FIELDS
    item = next((text for text in (_id(response.fields.get(name)) for name in names) if text), None)
    if item is None:
        raise BadInput(
            f"{where}: has no item id as {' or '.join(names)}; name the field (--item-field). "
            f"There are: {_names(response.fields)}."
        )
    rater = response.rater
    if isinstance(rater, Mapping):
        rater = rater.get("email") or rater.get("id")
    if not _id(rater):
        raise BadInput(f"{where}: the annotator is {response.rater!r}; a vote needs an annotator.")
    choice = _label(response.answers[question], export.labels, where)
    return Vote(item, _id(rater), choice, utc(response.time, where), _texts(response.answers.get(REASON)), where=where)


def _label(value: Any, labels: Mapping[str, str], where: str) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping) and "selected" in value:
        value, labels = value["selected"], SIDES | dict(labels)
    if not _id(value):
        raise BadInput(f"{where}: the answer is {value!r}; a vote must be one label.")
    return labels.get(_id(value), _id(value))


def _id(value: Any) -> str:
    """A string or whole number as text; empty for anything else."""
    if isinstance(value, float) and value.is_integer():  # tables with an empty cell have their numbers so
        value = int(value)
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _texts(value: Any) -> str:
    texts = value if isinstance(value, list) else [value]
    return " ".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def _names(row: Row) -> str:
    return ", ".join(list(row)[:12]) or "nothing"


# ---- Label Studio -------------------------------------------------------------------------------


def _annotations(row: Row) -> Any:
    return row.get("annotations", row.get("completions"))


def _is_task(row: Row) -> bool:
    return isinstance(_annotations(row), list) and isinstance(row.get("data"), Mapping)


def _task(where: str, task: Row) -> Iterator[_Response]:
    if not _is_task(task):
        raise BadInput(f"{where}: is not a Label Studio task; it must have annotations and data.")
    for draft in task.get("drafts") or ():
        yield _Response(where, task["data"], draft, {}, "draft")
    for n, annotation in enumerate(_annotations(task), 1):
        skipped = annotation.get("was_cancelled") or annotation.get("skipped")
        answers = {result["from_name"]: _value(result["value"]) for result in annotation.get("result") or ()}
        status = "cancelled" if skipped else SUBMITTED
        at, time = f"{where}, annotation {n}", str(annotation.get("created_at") or "")
        yield _Response(at, task["data"], annotation.get("completed_by"), answers, status, time)


def _value(value: Row) -> Any:
    return value if "selected" in value else value.get("choices", value.get("text"))


def _is_min(row: Row) -> bool:
    return "annotation_id" in row and "annotator" in row


def _min(where: str, row: Row) -> Iterator[_Response]:
    # The data's fields and the answers share one object, in which `id` is the task's number, not a field of the data.
    fields = {name: value for name, value in row.items() if name != "id"}
    status = SUBMITTED if row["annotation_id"] is not None else "not annotated"
    yield _Response(where, fields, row["annotator"], fields, status, str(row.get("created_at") or ""))


def _is_side(value: Any) -> bool:
    only = value[0] if isinstance(value, list) and len(value) == 1 else value
    return isinstance(only, Mapping) and "selected" in only


# ---- Argilla ------------------------------------------------------------------------------------


def _by_annotator(where: str, fields: Row, responses: Mapping[str, Sequence[Row]]) -> Iterator[_Response]:
    """One response per annotator, from question -> [{user_id, value, status}]."""
    by_annotator: dict[str, tuple[str | None, dict[str, Any]]] = {}
    for question, answers_to_it in responses.items():
        for answer in answers_to_it or ():
            by_annotator.setdefault(answer["user_id"], (answer.get("status"), {}))[1][question] = answer["value"]
    for rater, (status, answers) in by_annotator.items():
        yield _Response(where, fields, rater, answers, status)


def _is_nested(row: Row) -> bool:
    return isinstance(row.get("responses"), Mapping)


def _nested(where: str, row: Row) -> Iterator[_Response]:
    fields = {**(row.get("fields") or {}), **(row.get("metadata") or {}), **row}
    return _by_annotator(where, fields, row["responses"] or {})


def _is_flat(row: Row) -> bool:
    return any(name.endswith(".responses") for name in row)


def _flat(where: str, row: Row) -> Iterator[_Response]:
    responses: dict[str, list[Row]] = {}
    for name in row:
        if name.endswith(".responses"):
            values = row[name] or []
            users, states = (row.get(f"{name}.{part}") or [None] * len(values) for part in ("users", "status"))
            responses[name.removesuffix(".responses")] = [
                {"user_id": user, "value": value, "status": status}
                for user, value, status in zip(users, values, states, strict=True)
            ]
    return _by_annotator(where, row, responses)


_SHAPES: tuple[tuple[Callable[[Row], bool], Callable[[str, Row], Iterator[_Response]]], ...] = (
    (_is_task, _task),
    (_is_min, _min),
    (_is_nested, _nested),
    (_is_flat, _flat),
)
