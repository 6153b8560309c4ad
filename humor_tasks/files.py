"""Reading predictions and logs: never a repeated id."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, listed

ID_FIELDS = ("instance_id", "id")
TEXT_FIELDS = ("prediction", "text", "answer", "reply")


def read_predictions(path: Path, prediction: Callable[[str], str] = str) -> dict[str, str]:
    """{instance_id: text} from a JSON object, a JSON list of records, JSON lines of records, or CSV.

    A record has its id as `instance_id` or `id` and its text as `prediction`, `text`, `answer` or
    `reply`. A CSV file has the columns id and pred, an organiser's submission format, which
    `prediction` turns into replies. Raises BadInput naming the file and line for bad JSON or CSV,
    other types, repeated ids and entries that are no prediction.
    """
    if path.suffix == ".csv":
        return _submitted(path, prediction)
    try:
        body = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({problem}).") from None
    if path.suffix == ".jsonl":
        lines = [(i, line) for i, line in enumerate(body.split("\n"), 1) if line.strip()]
        return _collect(path, (_pair(_parse(path, line, i), f"{path}, line {i}") for i, line in lines))
    data = _parse(path, body, None)
    if isinstance(data, _Pairs):
        return _collect(path, ((str(k), _text(v, f"{path}, id {k}")) for k, v in data))
    if not isinstance(data, list):
        raise BadInput(f"{path}: holds {type(data).__name__}; it must be an object of instance_id: text.")
    return _collect(path, (_pair(item, f"{path}, record {i}") for i, item in enumerate(data, 1)))


def _submitted(path: Path, prediction: Callable[[str], str]) -> dict[str, str]:
    from humor_tasks.sources import read_csv

    if not path.is_file():
        raise BadInput(f"{path}: there is no such file.")
    found = read_csv(path, ("id", "pred"))

    def pair(i: int, row: dict[str, str]) -> tuple[str, str]:
        try:
            return row["id"].strip(), prediction(row["pred"])
        except BadInput as problem:
            raise BadInput(f"{found.where(i)}, id {row['id']}: {problem}") from None

    return _collect(path, (pair(i, row) for i, row in enumerate(found.rows)))


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as pairs, which unlike a dict still shows a repeated key."""


def _parse(path: Path, text: str, line: int | None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as problem:
        at = f"line {line if line is not None else problem.lineno}, column {problem.colno}"
        raise BadInput(f"{path}, {at}: not JSON ({problem.msg}).") from None
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{path}{f', line {line}' if line else ''}: not JSON that can be read ({problem}).") from None


def _pair(item: Any, where: str) -> tuple[str, str]:
    if not isinstance(item, _Pairs):
        raise BadInput(f"{where}: is not an object with an id and a text.")
    record = dict(item)
    texts = [name for name, _ in item if name in TEXT_FIELDS]
    if len(record) < len(item) or len(texts) > 1:
        raise BadInput(f"{where}: says twice what the prediction is ({', '.join(name for name, _ in item)}).")
    identity = next((record[name] for name in ID_FIELDS if name in record), None)
    field = next((name for name in TEXT_FIELDS if name in record), None)
    if identity is None or field is None:
        missing = " or ".join(ID_FIELDS if identity is None else TEXT_FIELDS)
        raise BadInput(f"{where}: has no {missing}; it has {', '.join(record) or 'nothing'}.")
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


def answers_in_log(path: Path) -> tuple[dict[str, str | None], str]:
    """{instance_id: letter, or None where none was read} and the letters of an instance ("ABCDE", "AB").

    From an Inspect log or lm-eval samples, read by the rule the run was scored by.
    An Inspect log ends in .eval or .json; lm-eval writes samples_TASK_DATE.jsonl with --log_samples.

    Raises BadInput for a log without samples, without scores, or with several epochs.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such log.")
    return _lm_eval_answers(path) if path.suffix == ".jsonl" else _inspect_answers(path)


def _inspect_answers(path: Path) -> tuple[dict[str, str | None], str]:
    from humor_tasks.models.chooser import LETTERS
    from humor_tasks.on_inspect.logs import read_log

    log = read_log(path)
    if any(sample.epoch > 1 for sample in log.samples or []):
        raise BadInput(f"{path}: holds several epochs; a submission has one answer an instance (--epochs 1).")
    rows = (log.eval.metadata or {}).get("source", {}).get("rows")
    held = len(log.samples or [])
    if log.status != "success" or (rows is not None and held not in (0, rows)):
        raise BadInput(
            f"{path}: holds {held} of {rows} instances, status {log.status}; run it whole (no --limit, or "
            "inspect eval-retry)."
        )
    answers: dict[str, str | None] = {}
    letters = ""
    for sample in log.samples or []:
        letters = LETTERS[: len(sample.choices or [])]
        if not sample.scores:
            raise BadInput(f"{path}: sample {sample.id} has no score; finish the run with inspect eval-retry.")
        answers[str(sample.id)] = next(iter(sample.scores.values())).answer
    if not answers:
        raise BadInput(f"{path}: the log holds no samples.")
    return answers, letters


def _lm_eval_answers(path: Path) -> tuple[dict[str, str | None], str]:
    from humor_tasks.models.chooser import LETTERS, likeliest
    from humor_tasks.scorers.answer import read_answer

    answers: dict[str, str | None] = {}
    letters = ""
    for i, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            sample = json.loads(line)
            doc, replies = sample["doc"], sample["filtered_resps"]
            letters = LETTERS[: len(doc["choices"])]
            if isinstance(replies[0], str):
                answers[doc["id"]] = read_answer(replies[0], letters, doc.get("extraction", "strict")).letter
            else:
                answers[doc["id"]] = likeliest([float(reply[0]) for reply in replies], letters)
        except (KeyError, TypeError, IndexError, ValueError) as problem:
            raise BadInput(
                f"{path}, line {i}: is no sample of a humor-tasks multiple choice task ({problem})."
            ) from None
    if not answers:
        raise BadInput(f"{path}: the file holds no samples.")
    return answers, letters
