"""Prediction files: JSON, JSON lines or CSV, with unique ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, listed
from humor_tasks.files.csv_files import claim, read_csv
from humor_tasks.files.reading import parse_json, parse_line, read_body
from humor_tasks.logs.record import FinishedRun, LoggedSample
from humor_tasks.logs.signature import Signature

ID_FIELDS = ("instance_id", "id")
TEXT_FIELDS = ("prediction", "text", "answer", "reply")


def read_predictions(path: Path, prediction: Callable[[str], Any] = str) -> dict[str, Any]:
    """{instance_id: text} from a JSON object, a JSON list of records, JSON lines of records, or CSV.

    A record has its id as `instance_id` or `id` and its text as `prediction`, `text`, `answer` or `reply`. A CSV file
    has the columns id and pred, the organisers' submission format; `prediction` converts a pred into an answer. Raises
    BadInput naming file and line for invalid JSON or CSV, other types, repeated ids and entries that are not
    predictions.
    """
    if path.suffix.lower() == ".csv":
        return _read_csv_predictions(path, prediction)
    body = read_body(path)
    if path.suffix == ".jsonl":
        lines = [(f"{path}, line {i}", line) for i, line in enumerate(body.split("\n"), 1) if line.strip()]
        return _collect(path, (_pair(parse_line(line, at, object_pairs_hook=_Pairs), at) for at, line in lines))
    data = parse_json(path, body, object_pairs_hook=_Pairs)
    if isinstance(data, _Pairs):
        return _collect(path, ((str(k), _text(v, f"{path}, id {k}")) for k, v in data))
    if not isinstance(data, list):
        raise BadInput(f"{path}: holds {type(data).__name__}; it must be an object of instance_id: text.")
    return _collect(path, (_pair(item, f"{path}, record {i}") for i, item in enumerate(data, 1)))


def _read_csv_predictions(path: Path, prediction: Callable[[str], Any]) -> dict[str, Any]:
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file.")
    table = read_csv(path, ("id", "pred"), ids=("id",), numbers=("pred",))
    places: dict[str, str] = {}
    for i, row in enumerate(table.rows):
        claim(places, row["id"].strip(), table.where(i), "Nothing was scored.")

    def pair(i: int, row: dict[str, str]) -> tuple[str, Any]:
        try:
            return row["id"].strip(), prediction(row["pred"])
        except BadInput as problem:
            raise BadInput(f"{table.where(i)}, id {row['id']}: {problem} Nothing was scored.") from None

    return dict(pair(i, row) for i, row in enumerate(table.rows))


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as key-value pairs; unlike a dict it keeps repeated keys."""


def _pair(item: Any, where: str) -> tuple[str, str]:
    if not isinstance(item, _Pairs):
        raise BadInput(f"{where}: must be an object with an id and a text.")
    record = dict(item)
    texts = [name for name, _ in item if name in TEXT_FIELDS]
    if len(record) < len(item) or len(texts) > 1:
        raise BadInput(f"{where}: has more than one prediction ({', '.join(name for name, _ in item)}).")
    identity = next((record[name] for name in ID_FIELDS if name in record), None)
    field = next((name for name in TEXT_FIELDS if name in record), None)
    if identity is None or field is None:
        missing = " or ".join(ID_FIELDS if identity is None else TEXT_FIELDS)
        raise BadInput(f"{where}: has no {missing}; it has {', '.join(record) or 'nothing'}.")
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        raise BadInput(f"{where}: the id is {identity!r}; it must be text.")
    return str(identity), _text(record[field], where)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{where}: the prediction is {value!r}; it must be text.")
    return value


def _collect(path: Path, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    result: dict[str, str] = {}
    repeated: list[str] = []
    for identity, text in pairs:
        if identity in result:
            repeated.append(identity)
        result[identity] = text
    if repeated:
        raise BadInput(f"{path}: {listed('repeated id', repeated)}. Nothing was scored.")
    return result


def read_texts(path: Path) -> FinishedRun:
    """The predictions as replies; the model's name is the file name. See `read_predictions` for the formats."""
    samples = [
        LoggedSample(
            where=f"{path}, id {identity}",
            id=identity,
            epoch=1,
            cluster=identity,
            groups={},
            benchmark=None,
            version=None,
            options={},
            choices=(),
            fields={},
            points=(),
            prompt="",
            reply=text,
            raw=text,
        )
        for identity, text in read_predictions(path).items()
    ]
    return FinishedRun(
        path,
        "predictions",
        None,
        version="-",
        signature=Signature(),
        model=path.stem,
        instances=len(samples),
        samples=samples,
    )
