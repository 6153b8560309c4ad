"""Reading predictions and logs: never a repeated id."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, listed

ID_FIELDS = ("instance_id", "id")
TEXT_FIELDS = ("prediction", "text", "answer", "reply")
# What records of Humicroedit carry -> what was asked; headlines rated for their pairs carry grades, too.
SUBTASKS = {"pairs": "ratings", "grades": "rating", "difference": "pairwise"}


def read_predictions(path: Path, prediction: Callable[[str], str] = str) -> dict[str, str]:
    """{instance_id: text} from a JSON object, a JSON list of records, JSON lines of records, or CSV.

    A record has its id as `instance_id` or `id` and its text as `prediction`, `text`, `answer` or
    `reply`. A CSV file has the columns id and pred, an organiser's submission format, which
    `prediction` turns into replies. Raises BadInput naming the file and line for bad JSON or CSV,
    other types, repeated ids and entries that are no prediction.
    """
    if path.suffix == ".csv":
        return _submitted(path, prediction)
    body = read_body(path)
    if path.suffix == ".jsonl":
        lines = [(i, line) for i, line in enumerate(body.split("\n"), 1) if line.strip()]
        return _collect(path, (_pair(_parse(path, line, i), f"{path}, line {i}") for i, line in lines))
    data = _parse(path, body, None)
    if isinstance(data, _Pairs):
        return _collect(path, ((str(k), _text(v, f"{path}, id {k}")) for k, v in data))
    if not isinstance(data, list):
        raise BadInput(f"{path}: holds {type(data).__name__}; it must be an object of instance_id: text.")
    return _collect(path, (_pair(item, f"{path}, record {i}") for i, item in enumerate(data, 1)))


def read_body(path: Path, encoding: str = "utf-8") -> str:
    """The file's text; BadInput where there is none. `utf-8-sig` takes a byte order mark, as spreadsheets write it."""
    try:
        return path.read_text(encoding=encoding)
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({problem}).") from None


def lines_of(path: Path, encoding: str = "utf-8") -> list[tuple[str, str]]:
    """(where, line) of every line that is not blank; as `read_body`."""
    lines = read_body(path, encoding).split("\n")
    return [(f"{path}, line {i}", line) for i, line in enumerate(lines, 1) if line.strip()]


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """(where, value) of every line of JSON lines that is not blank; BadInput names one that is no JSON."""
    for where, line in lines_of(path):
        try:
            yield where, json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BadInput(f"{where}: not JSON that can be read ({problem}).") from None


def _submitted(path: Path, prediction: Callable[[str], str]) -> dict[str, str]:
    from humor_tasks.sources import read_csv

    if not path.is_file():
        raise BadInput(f"{path}: there is no such file.")
    found = read_csv(path, ("id", "pred"))
    lines: dict[str, str] = {}
    for i, row in enumerate(found.rows):
        first = lines.setdefault(row["id"].strip(), found.where(i))
        if first != found.where(i):
            raise BadInput(f"{found.where(i)}: id {row['id'].strip()} is also that of {first}. Nothing was scored.")

    def pair(i: int, row: dict[str, str]) -> tuple[str, str]:
        try:
            return row["id"].strip(), prediction(row["pred"])
        except BadInput as problem:
            raise BadInput(f"{found.where(i)}, id {row['id']}: {problem} Nothing was scored.") from None

    return dict(pair(i, row) for i, row in enumerate(found.rows))


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


@dataclass(frozen=True)
class Logged:
    """What a log answers.

    answers: {instance_id: a letter, or a number in decimals; None where none was read}.
    letters: those of an instance ("ABCDE", "AB"); empty where it is rated or answered in text.
    about: {instance_id: what its record carries}.
    """

    answers: dict[str, str | None]
    letters: str
    about: dict[str, Mapping[str, Any]]

    @property
    def subtask(self) -> str:
        """Humicroedit's part: `rating`, `pairwise`, or `ratings` that compare pairs; empty for other benchmarks."""
        about = next(iter(self.about.values()))
        return next((task for mark, task in SUBTASKS.items() if mark in about), "")


def answers_in_log(path: Path) -> tuple[dict[str, str | None], str]:
    """{instance_id: letter, or None where none was read} and the letters of an instance ("ABCDE", "AB").

    See `read_logged`.
    """
    found = read_logged(path)
    return found.answers, found.letters


def read_logged(path: Path) -> Logged:
    """Every instance's answer.

    From an Inspect log or lm-eval samples, read by the rule the run was scored by.
    An Inspect log ends in .eval or .json; lm-eval writes samples_TASK_DATE.jsonl with --log_samples.

    Raises BadInput for a log without samples, without scores, or with several epochs.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such log.")
    return _lm_eval_answers(path) if path.suffix == ".jsonl" else _inspect_answers(path)


def _inspect_answers(path: Path) -> Logged:
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
    about: dict[str, Mapping[str, Any]] = {}
    letters = ""
    for sample in log.samples or []:
        letters = LETTERS[: len(sample.choices or [])]
        if not sample.scores:
            raise BadInput(f"{path}: sample {sample.id} has no score; finish the run with inspect eval-retry.")
        answers[str(sample.id)] = next(iter(sample.scores.values())).answer
        about[str(sample.id)] = sample.metadata
    if not answers:
        raise BadInput(f"{path}: the log holds no samples.")
    return Logged(answers, letters, about)


def _lm_eval_answers(path: Path) -> Logged:
    from humor_tasks.models.chooser import LETTERS

    answers: dict[str, str | None] = {}
    about: dict[str, Mapping[str, Any]] = {}
    letters = ""
    for i, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            sample = json.loads(line)
            doc = sample["doc"]
            letters = LETTERS[: len(doc["choices"])]
            answers[doc["id"]] = _lm_eval_answer(doc, letters, sample["filtered_resps"])
            about[doc["id"]] = doc
        except (KeyError, TypeError, IndexError, ValueError) as problem:
            raise BadInput(
                f"{path}, line {i}: is no sample of a humor-tasks task with letters or ratings ({problem})."
            ) from None
    if not answers:
        raise BadInput(f"{path}: the file holds no samples.")
    rows = next(iter(about.values())).get("rows", len(answers))
    if len(answers) != rows:
        raise BadInput(f"{path}: holds {len(answers)} of {rows} instances; run it whole (no --limit, no --samples).")
    return Logged(answers, letters, about)


def _lm_eval_answer(doc: Mapping[str, Any], letters: str, replies: list[Any]) -> str | None:
    from humor_tasks.benchmarks.humicroedit_rating import expected
    from humor_tasks.models.chooser import likeliest
    from humor_tasks.scorers.answer import read_answer
    from humor_tasks.scorers.rating import read_rating

    generated = isinstance(replies[0], str)
    if "grades" in doc:  # a headline of Humicroedit
        value = read_rating(replies[0]).value if generated else expected([float(reply[0]) for reply in replies])
        return None if value is None else repr(value)
    if generated:
        letter: str | None = read_answer(replies[0], letters, doc.get("extraction", "strict")).letter
        return letter
    return likeliest([float(reply[0]) for reply in replies], letters)
