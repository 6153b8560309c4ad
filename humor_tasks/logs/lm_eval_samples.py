"""lm-eval's samples_TASK_DATE.jsonl, read one line at a time; the results file in the same folder names the model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import read_body
from humor_tasks.files.secrets import without_secrets
from humor_tasks.logs.contents import in_parts, reply_text
from humor_tasks.logs.invocation import of_lm_eval
from humor_tasks.logs.record import FinishedRun, Invocation, LoggedSample, Scored, task_metadata
from humor_tasks.logs.signature import Signature
from humor_tasks.rows.records import Outcome, Point


def is_samples(path: Path) -> bool:
    """Whether the first line is a sample of lm-eval."""
    line = next((line for _, line in _lines(path)), "")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "doc" in first


def read_samples(path: Path) -> FinishedRun:
    """The run that wrote these samples."""
    model, arguments, told, invocation = _results(path)
    first = next(_samples(path), None)
    source = told.get("source")
    signature = first.signature if first else Signature()
    return FinishedRun(
        path=path,
        harness="lm_eval",
        benchmark=first.sample.benchmark if first else None,
        version=str((first and first.sample.version) or told.get("version", "-")),
        signature=signature or Signature.parse(told.get("signature") or ""),  # is older than lm-eval's flags
        model=model,
        instances=sum(1 for _ in _lines(path)),
        rows=first.rows if first else None,
        options=first.sample.options if first else {},
        source=source if isinstance(source, Mapping) else {},
        samples=_Lines(path, first),
        arguments=arguments,
        created=_stamp(path),
        invocation=invocation,
    )


class _Lines:
    """The samples of a file whose first sample is already read."""

    def __init__(self, path: Path, first: _Read | None) -> None:
        self.path, self.first = path, first

    def __iter__(self) -> Iterator[LoggedSample]:
        return (each.sample for each in _samples(self.path, self.first))


class _Read:
    """A sample, with the fields of its document that describe the whole run."""

    def __init__(self, sample: LoggedSample, signature: Signature, rows: int | None) -> None:
        self.sample, self.signature, self.rows = sample, signature, rows


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """(where, line) of every line that is not blank, read lazily."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for i, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}, line {i}", line
    except (OSError, UnicodeDecodeError):
        read_body(path)  # says what the file is instead
        raise


def _samples(path: Path, first: _Read | None = None) -> Iterator[_Read]:
    for where, line in _lines(path):
        if first is not None and first.sample.where == where:
            yield first
            continue
        try:
            logged = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BadInput(f"{where}: not JSON that can be read ({problem}).") from None
        try:
            yield _read(logged, where)
        except BadInput:
            raise
        except (KeyError, TypeError, IndexError, ValueError, AttributeError) as problem:
            raise BadInput(f"{where}: is no sample of a humor-tasks task ({problem!r}).") from None


def _read(logged: Mapping[str, Any], where: str) -> _Read:
    doc, replies = logged["doc"], [_first(kept) for kept in logged["filtered_resps"]]
    identity, reply = str(doc["id"]), replies[0]
    told = task_metadata({"humor_tasks": doc["humor_tasks"]}, where)
    scored = logged.get("outcome", doc.get("outcome"))  # lm-eval 0.5 logs it apart from the document
    asked = logged.get("arguments")
    prompt = str(asked["gen_args_0"]["arg_0"]) if isinstance(asked, Mapping) and "gen_args_0" in asked else ""
    outcome = None if scored is None else Outcome.of(identity, scored)  # none of a run with --predict_only
    sample = LoggedSample(
        where=where,
        id=identity,
        epoch=1,
        cluster=str(doc.get("cluster", identity)),
        groups=told.groups,
        benchmark=told.benchmark,
        version=told.version,
        options=told.options,
        choices=tuple(doc["choices"]),
        fields=doc.get("fields") or {},
        points=tuple(Point(point["id"], point["text"]) for point in doc.get("points") or ()),
        prompt=prompt,
        reply=reply if isinstance(reply, str) else None,
        question=str(doc.get("question") or prompt),
        target=doc.get("target"),
        scores=(Scored("lm_eval", outcome.answer, outcome),) if outcome else (),
        raw=reply if len(replies) == 1 else replies,
        place=(scored or {}).get("place", logged.get("doc_id")),
        facts=told.facts,
        context=str(doc.get("context") or ""),
        media_names=(str(doc["picture"]),) if doc.get("picture") else (),
    )
    rows = doc.get("rows")
    return _Read(sample, told.signature, rows if isinstance(rows, int) else None)


def _first(kept: Any) -> Any:
    """The reply, or the log-likelihood and whether it is the highest; lm-eval 0.5 has a list of replies."""
    if in_parts(kept):
        return reply_text(kept)
    first = kept[0] if isinstance(kept, list) and len(kept) == 1 else kept
    return reply_text(first) if in_parts(first) or not isinstance(first, list) else first


def _results(path: Path) -> tuple[str, Mapping[str, Any], Mapping[str, Any], Invocation]:
    """The model's name and arguments, the task's metadata and the command, from the results file beside the samples."""
    try:
        name = path.stem.removeprefix("samples_").removesuffix(f"_{_stamp(path)}")
        results = json.loads((path.parent / f"results_{_stamp(path)}.json").read_text(encoding="utf-8"))
        arguments = _arguments((results.get("config") or {}).get("model_args"))
        told = dict(results["configs"][name]["metadata"])
        named = _model(results["model_source"], results["model_name"], arguments)
        return named, without_secrets(arguments or {}, drop=True), told, of_lm_eval(name, results)
    except (OSError, ValueError, KeyError, TypeError):
        return path.parent.name or "-", {}, {}, Invocation()


def _stamp(path: Path) -> str:
    """The time in the names of samples and results; lm-eval writes hyphens for colons."""
    return path.stem.rsplit("_", 1)[-1]


def _arguments(given: Any) -> dict[str, Any] | None:
    """--model_args, which older releases record as one text; None where it is not recorded."""
    if isinstance(given, str):
        return dict(part.partition("=")[::2] for part in given.split(",") if part)
    return None if given is None else dict(given)


def _model(source: str, name: str | None, arguments: Mapping[str, Any] | None) -> str:
    """The model's name; where no argument holds it, lm-eval invents one, and the arguments tell models apart."""
    if name and (arguments is None or any(str(value) == name for value in arguments.values())):
        return name
    return " ".join([source, *(f"{key}={value}" for key, value in without_secrets(arguments or {}, drop=True).items())])
