"""lm-eval's samples_TASK_DATE.jsonl, read one line at a time; the results file in the same folder names the model."""

from __future__ import annotations

import dataclasses
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
from humor_tasks.logs.signature import Signature, digest, settings_shown
from humor_tasks.rows.records import Outcome, Point

LOGGED = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
LOGGED |= {"doc_hash", "prompt_hash", "target_hash"}
"""The fields of a sample beside those of its metrics."""


def is_samples(path: Path) -> bool:
    """Whether the first line is a sample of lm-eval."""
    line = next((line for _, line in _lines(path)), "")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "doc" in first


def read_samples(path: Path, foreign: bool = False) -> FinishedRun:
    """The run that wrote these samples; with `foreign` also those of another package's task."""
    model, arguments, told, invocation, results = _results(path)
    first = next(_samples(path, foreign), None)
    task = _task(path)
    higher = (results.get("higher_is_better") or {}).get(task) or {}
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
        samples=_Lines(path, first, foreign),
        arguments=arguments,
        created=_stamp(path),
        invocation=invocation,
        protocol=_protocol(task, results, told, arguments) if foreign else Signature(),
        higher_is_better={name: value for name, value in higher.items() if value is not None},
    )


class _Lines:
    """The samples of a file whose first sample is already read."""

    def __init__(self, path: Path, first: _Read | None, foreign: bool = False) -> None:
        self.path, self.first, self.foreign = path, first, foreign

    def __iter__(self) -> Iterator[LoggedSample]:
        read = (each.sample for each in _samples(self.path, self.foreign, self.first))
        other = self.first is not None and self.first.sample.benchmark is None
        return _with_all_filters(read) if other else read


def _with_all_filters(samples: Iterator[LoggedSample]) -> Iterator[LoggedSample]:
    """Each document once, with the scores under all filters: lm-eval writes all documents under each filter in turn."""
    by_id: dict[str, LoggedSample] = {}
    for sample in samples:
        earlier = by_id.setdefault(sample.id, sample)
        if earlier is sample:
            continue
        if {score.scorer for score in earlier.scores} & {score.scorer for score in sample.scores}:
            raise BadInput(f"{sample.where}: holds a second reply for {sample.id}; keep one run a file.")
        by_id[sample.id] = dataclasses.replace(earlier, scores=(*earlier.scores, *sample.scores))
    yield from by_id.values()


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


def _samples(path: Path, foreign: bool = False, first: _Read | None = None) -> Iterator[_Read]:
    for where, line in _lines(path):
        if first is not None and first.sample.where == where:
            yield first
            continue
        try:
            logged = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BadInput(f"{where}: not JSON that can be read ({problem}).") from None
        try:
            yield _read(logged, where, foreign)
        except BadInput:
            raise
        except (KeyError, TypeError, IndexError, ValueError, AttributeError) as problem:
            of = "lm-eval" if foreign else "a humor-tasks task"
            raise BadInput(f"{where}: is no sample of {of} ({problem!r}).") from None


def _read(logged: Mapping[str, Any], where: str, foreign: bool = False) -> _Read:
    document, replies = logged["doc"], [_first(kept) for kept in logged["filtered_resps"]]
    other, doc = foreign and "humor_tasks" not in document, document
    if other:  # has no field of ours, but may have fields of the same names
        doc = {"id": logged["doc_id"], "choices": (), "target": str(logged["target"])}
    identity, reply = str(doc["id"]), replies[0]
    told = task_metadata({} if other else {"humor_tasks": doc["humor_tasks"]}, where)
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
        scores=_columns(logged) if other else (Scored("lm_eval", outcome.answer, outcome),) if outcome else (),
        raw=reply if len(replies) == 1 else replies,
        place=(scored or {}).get("place", logged.get("doc_id")),
        facts=told.facts,
        context=str(doc.get("context") or ""),
        media_names=(str(doc["picture"]),) if doc.get("picture") else (),
        metadata=document if other else {},
    )
    rows = doc.get("rows")
    return _Read(sample, told.signature, rows if isinstance(rows, int) else None)


def _columns(logged: Mapping[str, Any]) -> tuple[Scored, ...]:
    """The numbers of a sample of another package's task, by METRIC, or METRIC,FILTER as in lm-eval's results."""
    under = logged.get("filter", "none")
    names = logged.get("metrics") or [name for name in logged if name not in LOGGED]  # older releases do not list them
    numbers = [(name, value) for name in names if isinstance(value := logged.get(name), int | float)]
    return tuple(Scored(n if under == "none" else f"{n},{under}", None, None, value=value) for n, value in numbers)


def _first(kept: Any) -> Any:
    """The reply, or the log-likelihood and whether it is the highest; lm-eval 0.5 has a list of replies."""
    if in_parts(kept):
        return reply_text(kept)
    first = kept[0] if isinstance(kept, list) and len(kept) == 1 else kept
    return reply_text(first) if in_parts(first) or not isinstance(first, list) else first


def _results(path: Path) -> tuple[str, Mapping[str, Any], Mapping[str, Any], Invocation, Mapping[str, Any]]:
    """The model's name and arguments, the task's metadata and the command, from the results file beside the samples.

    Last the whole file; empty where there is none, or none that can be read.
    """
    try:
        name = _task(path)
        results = json.loads((path.parent / f"results_{_stamp(path)}.json").read_text(encoding="utf-8"))
        arguments = _arguments((results.get("config") or {}).get("model_args"))
        told = dict(results["configs"][name].get("metadata") or {})
        named = _model(results["model_source"], results["model_name"], arguments)
        return named, without_secrets(arguments or {}, drop=True), told, of_lm_eval(name, results), results
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return path.parent.name or "-", {}, {}, Invocation(), {}


def _task(path: Path) -> str:
    return path.stem.removeprefix("samples_").removesuffix(f"_{_stamp(path)}")


def _protocol(
    task: str, results: Mapping[str, Any], told: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Signature:
    """What the results file says of another package's task. told: its metadata, with the model's arguments."""
    config = results.get("config") or {}
    own = {name: value for name, value in told.items() if name != "version" and name not in arguments}
    entries = {
        "bench": task,
        "v": str((results.get("versions") or {}).get(task, told.get("version", "-"))),
        "arguments": settings_shown(without_secrets(own, drop=True)),
        "shots": str((results.get("n-shot") or {}).get(task, "")),
        "system_message": digest(results.get("system_instruction") or "") if results.get("system_instruction") else "",
        "chat_template": digest(results["chat_template"]) if results.get("chat_template") else "",
    }
    given = config.get("gen_kwargs")
    signed = Signature({name: value for name, value in entries.items() if value})
    return signed.with_generation(given if isinstance(given, Mapping) else {"gen_kwargs": given} if given else {})


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
