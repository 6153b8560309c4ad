"""Inspect's logs. An .eval is read one sample at a time; a .json is loaded as a whole, as Inspect does."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalPlanStep, EvalSample, read_eval_log, read_eval_log_sample
from inspect_ai.model import GenerateConfig, ModelUsage
from inspect_ai.scorer import Score
from pydantic_core import from_json

from humor_tasks.errors import BadInput
from humor_tasks.files.secrets import without_secrets
from humor_tasks.logs import invocation
from humor_tasks.logs.record import (
    MEAN,
    TOOL_CALL,
    FinishedRun,
    LoggedSample,
    Scored,
    Usage,
    model_wrote,
    task_metadata,
    template_entry,
)
from humor_tasks.logs.signature import Signature, digest, settings_shown
from humor_tasks.rows.records import Outcome, Point

# Members of the archive: a sample in one file, or a sample that Inspect stores in several.
MEMBER = re.compile(r"^samples/(?P<id>.+)_epoch_(?P<epoch>\d+)(?:\.json|/sample\.json)$", re.DOTALL)
NO_TEXTS: Mapping[str, Any] = {"input": "", "output": {}}  # what a score does not need
NOT_READ = {"events", "events_data", "messages", "store", "attachments", "timelines"}  # most of a sample's size


def read_log(path: Path) -> FinishedRun:
    """The run of an .eval or .json; raises BadInput for a file that is not a log."""
    try:
        if path.suffix == ".json":
            return from_log(read_eval_log(str(path)), path)
        header = read_eval_log(str(path), header_only=True)
        samples = _Archive(path, header)
        return _run(header, path, samples, samples.held)
    except BadInput:
        raise
    except Exception as problem:
        raise _no_log(path, problem) from None


def headers_in(folder: Path) -> tuple[list[EvalLog], list[Path]]:
    """The headers of the .eval logs in a folder, and the logs that cannot be read, such as those that are cut off."""
    headers, damaged = [], []
    for path in sorted(folder.glob("*.eval")):
        try:
            headers.append(read_eval_log(str(path), header_only=True))
        except Exception:  # whatever the content makes its reader raise
            damaged.append(path)
    return headers, damaged


def from_log(log: EvalLog, path: Path | None = None) -> FinishedRun:
    """The run of a log that is already in memory."""
    samples = log.samples or []
    return _run(log, path or Path(log.location), samples, len({sample.id for sample in samples}))


def _no_log(path: Path, problem: Exception) -> BadInput:
    # Inspect raises many kinds of error for a file that is not a log, including long schema validation errors.
    why = "it is no .eval or .json that Inspect wrote"
    if isinstance(problem, OSError):
        why = f"{problem}"
    elif path.suffix == ".eval" and (
        isinstance(problem, zipfile.BadZipFile | zlib.error) or not zipfile.is_zipfile(path)
    ):
        why = "it is truncated or damaged, or no .eval"
    return BadInput(f"{path}: cannot be read as an Inspect log ({why}).")


class _Archive:
    """The samples of an .eval in Inspect's order, one at a time.

    Inspect's reader of single samples reads the archive's directory again for each sample, so N samples take O(N²)
    time.
    """

    def __init__(self, path: Path, header: EvalLog) -> None:
        self.path = path
        numbers = {str(i) for i in header.eval.dataset.sample_ids or [] if not isinstance(i, str)}
        with zipfile.ZipFile(path) as archive:
            found = (MEMBER.match(name) for name in archive.NameToInfo)
            named = {member[0]: (int(member["epoch"]), member["id"]) for member in found if member}
        self.held = len({identity for _, identity in named.values()})
        self.numbers = numbers
        # The order of `read_eval_log`: by epoch, then by id as text, with numeric ids in numeric order.
        self.names = sorted(named, key=lambda name: (named[name][0], self._padded(named[name][1])))

    def _padded(self, identity: str) -> str:
        return identity.zfill(20) if identity in self.numbers else identity

    def __iter__(self) -> Iterator[EvalSample]:
        return self.read()

    def read(self, instead: Mapping[str, Any] | None = None) -> Iterator[EvalSample]:
        """The samples, with other fields `instead` of the logged ones, which saves the time to validate those."""
        try:
            archive = zipfile.ZipFile(self.path)
        except (OSError, zipfile.BadZipFile) as problem:  # removed or replaced since it was opened
            raise _no_log(self.path, problem) from None
        with archive:
            for name in self.names:
                try:
                    if name.endswith("/sample.json") and (member := MEMBER.match(name)):
                        number = int(member["id"]) if member["id"] in self.numbers else member["id"]
                        epoch = int(member["epoch"])
                        sample = read_eval_log_sample(str(self.path), number, epoch, exclude_fields=set(NOT_READ))
                    else:
                        data = _parsed(archive.read(name))
                        kept = {field: value for field, value in data.items() if field not in NOT_READ}
                        sample = EvalSample.model_validate({**kept, **(instead or {})})
                except Exception as problem:
                    raise _no_log(self.path, problem) from None
                yield sample


def _parsed(text: bytes) -> Any:
    """The JSON, by Inspect's parser, which is twice as fast; it rejects lone surrogates, which are legal JSON."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


# ---- a run --------------------------------------------------------------------------------------


def _run(log: EvalLog, path: Path, samples: Iterable[EvalSample], held: int) -> FinishedRun:
    told = log.eval.metadata or {}
    source = told.get("source")
    source = source if isinstance(source, Mapping) else {}
    rows = source.get("rows")
    rows = rows * source.get("asked", 1) if isinstance(rows, int) else None
    first = next(iter(samples), None)
    known = task_metadata(first.metadata, f"{path}: sample {first.id}") if first else None
    roles = log.eval.model_roles or {}
    models = {role: b if isinstance(b, list) else [b] for role, b in roles.items()}
    bound = {role: tuple(c.model for c in each) for role, each in models.items()}
    settings = {role: tuple(generation(c.config) for c in each) for role, each in models.items()}
    replayed = told.get("explainer")
    return FinishedRun(
        path=path,
        harness="inspect",
        benchmark=known.benchmark if known else None,
        version=str(log.eval.task_version),
        signature=signature_of(log, samples),
        model=log.eval.model,
        instances=held,
        samples=_Samples(samples, path, log.eval.dataset.sample_ids or []),
        rows=rows,
        status=log.status,
        error=log.error.message if log.error else None,
        options=known.options if known else {},
        source=source,
        models={model: _usage(usage) for model, usage in log.stats.model_usage.items()},
        roles={role: _usage(usage) for role, usage in log.stats.role_usage.items()},
        role_models=bound,
        settings=settings,
        replayed=str(replayed) if replayed else None,
        arguments=invocation.arguments_of(log),
        scorers={score.name: score.params for score in (log.results.scores if log.results else [])},
        identity=log.eval.eval_id,
        task=log.eval.task_id,
        created=log.eval.created,
        epochs=log.eval.config.epochs or 1,
        invocation=invocation.of_inspect(log, _chosen(log), first.output.model if first else ""),
        protocol=Signature() if known and known.benchmark else _protocol(log),
        reduced=invocation.reduced(log, path) if invocation.reducer(log) != MEAN else {},
    )


def _usage(usage: ModelUsage) -> Usage:
    cached = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    return Usage(usage.input_tokens, usage.output_tokens, *cached, usage.total_cost)


# ---- a sample -----------------------------------------------------------------------------------


class _Samples:
    """ids: those of the run's rows, in their order, in which Inspect computes metrics."""

    def __init__(self, samples: Iterable[EvalSample], path: Path, ids: Iterable[int | str]) -> None:
        self.samples, self.path = samples, path
        self.places = {str(identity): place for place, identity in enumerate(ids)}

    def __iter__(self) -> Iterator[LoggedSample]:
        return self._of(self.samples)

    def scored(self) -> Iterator[LoggedSample]:
        return self._of(self.samples.read(NO_TEXTS) if isinstance(self.samples, _Archive) else self.samples)

    def _of(self, samples: Iterable[EvalSample]) -> Iterator[LoggedSample]:
        return (_sample(sample, self.path, self.places.get(str(sample.id))) for sample in samples)


def _sample(sample: EvalSample, path: Path, place: int | None) -> LoggedSample:
    identity = str(sample.id)
    where = f"{path}: sample {identity}"
    metadata = task_metadata(sample.metadata, where)
    replied = bool(sample.output.choices)
    wrote, refused = model_wrote(sample.output)
    turns = [] if isinstance(sample.input, str) else sample.input
    texts = [sample.input] if isinstance(sample.input, str) else [turn.text for turn in turns]
    asked = (turns[-1].metadata or {}) if turns else {}  # what the last message tells a model beside its text
    own = sample.metadata if metadata.benchmark else {}
    scores = tuple(
        Scored(
            scorer=name,
            answer=score.answer,
            outcome=outcome_in(score, identity, f"{where}: {name}"),
            details=score.metadata or {},
            explanation=score.explanation,
            value=score.value,
        )
        for name, score in (sample.scores or {}).items()
    )
    called = any(TOOL_CALL in score.outcome.facts for score in scores if score.outcome)
    called = called or (replied and not scores and bool(sample.output.message.tool_calls))
    return LoggedSample(
        where=where,
        id=identity,
        epoch=sample.epoch,
        cluster=str(sample.metadata.get("cluster", identity)),
        groups=metadata.groups,
        benchmark=metadata.benchmark,
        version=metadata.version,
        options=metadata.options,
        choices=tuple(sample.choices or ()),
        fields=(own.get("fields") or asked.get("fields") or {}) if own else {},
        points=tuple(Point(p["id"], p["text"]) for p in own.get("points") or ()),
        prompt="\n\n".join(texts),
        reply=None if not replied else "" if called else wrote,
        question=texts[-1] if texts else "",
        target=(sample.target if isinstance(sample.target, str) else "".join(sample.target)) or None,
        stop=None if not replied else "content_filter" if refused else sample.output.stop_reason,
        error=sample.error.message if sample.error else None,
        scores=scores,
        place=place if metadata.place is None else metadata.place,  # of a part: its place in the whole
        facts=metadata.facts,
        context=str(asked.get("context", "")) if metadata.benchmark else "",
        media_names=tuple(str(picture["where"]) for picture in own.get("pictures") or ()),
        metadata={} if metadata.benchmark else sample.metadata,
    )


def outcome_in(score: Score, identity: str, where: str) -> Outcome | None:
    """The outcome stored in a score of this package; None for a score of another one.

    Raises BadInput, with `where` in the message, for an outcome that cannot be read.
    """
    kept = {**(score.metadata or {}), "answer": score.answer}
    if "values" not in kept:
        return None
    try:
        if score.history and score.value in ("C", "I"):  # edited by hand: the edited value counts
            edited = {name: float(score.value == "C") for name in kept["values"] if "accuracy" in name}
            kept["values"] = {**kept["values"], **edited}
        return Outcome.of(identity, kept)
    except (KeyError, TypeError, ValueError) as problem:
        raise BadInput(
            f"{where} is no score of humor-tasks ({problem!r}). It was edited, or written by another version of "
            "humor-tasks; run the task again."
        ) from None


# ---- pictures -----------------------------------------------------------------------------------

ATTACHMENT = "attachment://"


def logged_pictures(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, list[bytes]]]:
    """Sample id and the encoded pictures of its question, for the samples among `wanted` whose log holds them.

    The question is the last user message with pictures; those before it are worked examples.
    """
    try:
        found = _whole_log(path, wanted) if path.suffix == ".json" else _members(path, wanted)
        for identity, messages, attachments in found:
            pictures = [decoded for uri in _last_shown(messages) if (decoded := _decoded(uri, attachments))]
            if pictures:
                yield identity, pictures
    except BadInput:
        raise
    except Exception as problem:
        raise _no_log(path, problem) from None


_Messages = list[Mapping[str, Any]]


def _whole_log(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, _Messages, Mapping[str, str]]]:
    for sample in read_eval_log(str(path)).samples or []:
        if str(sample.id) in wanted:
            yield str(sample.id), [message.model_dump() for message in sample.messages], sample.attachments


def _members(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, _Messages, Mapping[str, str]]]:
    header = read_eval_log(str(path), header_only=True)
    numbers = {str(i) for i in header.eval.dataset.sample_ids or [] if not isinstance(i, str)}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            member = MEMBER.match(name)
            if not member or member["epoch"] != "1" or member["id"] not in wanted:
                continue
            identity = member["id"]
            if name.endswith("/sample.json"):
                number = int(identity) if identity in numbers else identity
                sample = read_eval_log_sample(str(path), number, 1)
                yield identity, [message.model_dump() for message in sample.messages], sample.attachments
            else:
                data = _parsed(archive.read(name))
                yield identity, data.get("messages") or [], data.get("attachments") or {}


def _last_shown(messages: _Messages) -> list[str]:
    for message in reversed(messages):
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, list):
            shown = [str(part["image"]) for part in content if part.get("type") == "image"]
            if shown:
                return shown
    return []


def _decoded(uri: str, attachments: Mapping[str, str]) -> bytes | None:
    """The bytes of a `data:` URI; None for any other address, and where the log was written without pictures."""
    if uri.startswith(ATTACHMENT):
        uri = attachments.get(uri.removeprefix(ATTACHMENT), "")
    head, _, encoded = uri.partition(";base64,")
    if not head.startswith("data:image/"):
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None


# ---- the signature of a run ------------------------------------------------------------------------


OURS = "humor_tasks/"
CHANGING = (f"{OURS}chain_of_task", f"{OURS}describe_first")
"""The solvers of this package that change the question; its others are steps of its tasks."""
EXPECTED = f"{OURS}expected_answer"
"""The solver of `estimate=expected`, which reads another answer from the same question."""
UNSEEN = {
    *("max_connections", "adaptive_connections", "max_retries", "timeout", "attempt_timeout", "batch"),
    *("cache", "cache_prompt", "logprobs", "top_logprobs", "system_message", "fallback_models"),
}
"""Settings on which no answer depends, and the system message, which has an entry of its own."""


def signature_of(log: EvalLog, samples: Iterable[EvalSample]) -> Signature:
    """The signature of the run, with entries for all that the plan and the settings change of the plain task.

    The entries are `solver` (names of steps with the digest of their arguments), `system_message` (its digest),
    `generation` (settings that the task does not prescribe) and `chat_template`. A plain run has none of them.
    """
    metadata = log.eval.metadata or {}
    plain = Signature.parse(str(metadata.get("signature", "")))
    if not plain:
        return plain
    changing = any(step.solver in CHANGING for step in log.plan.steps)
    written = (task_metadata(sample.metadata).signature or plain for sample in samples) if changing else iter(())
    signature = next(
        (signed for signed in written if signed != plain), plain
    )  # a sample may have failed before its solver
    steps = list(_steps(log, signature, known=signature != plain))
    solvers = [signature["solver"]] if "solver" in signature else []
    entries = {"solver": "+".join((*solvers, *steps))} if steps else {}
    config = log.plan.config.merge(log.eval.model_generate_config)
    entries |= {"system_message": digest(config.system_message)} if config.system_message else {}
    entries |= template_entry(log.eval.model, (sample.output for sample in samples))
    return signature.with_entries(entries).with_generation(_chosen(log))


def _protocol(log: EvalLog) -> Signature:
    """What a log of another package's task says of the task. The whole plan is its `solver`."""
    said = log.plan.config.merge(log.eval.model_generate_config).system_message
    entries = {
        "bench": log.eval.task,
        "v": str(log.eval.task_version),
        "arguments": settings_shown(without_secrets(log.eval.task_args, drop=True)),
        "solver": "+".join(_steps(log, Signature(), known=False)),
        "system_message": digest(said) if said else "",
        "reducer": invocation.reducer(log),
    }
    return Signature({name: value for name, value in entries.items() if value}).with_generation(_chosen(log))


def _chosen(log: EvalLog) -> dict[str, Any]:
    """The settings of the run's model that answers depend on and that the task does not prescribe."""
    prescribed = (log.eval.metadata or {}).get("generation")
    prescribed = prescribed if isinstance(prescribed, Mapping) else {}
    config = generation(log.plan.config.merge(log.eval.model_generate_config))
    return {name: value for name, value in config.items() if prescribed.get(name) != value}


def _steps(log: EvalLog, signed: Signature, known: bool) -> Iterator[str]:
    """The steps of the plan that are not the task's own. known: whether samples tell what our solvers changed."""
    steps = [*log.plan.steps, *([log.plan.finish] if log.plan.finish else [])]
    expected = signed.get("estimate") == "expected"
    asks = [step for step in steps[:-1] if not step.solver.startswith(OURS) or _generates(step)]
    if steps and not expected and not asks and _is_plain(steps[-1]):
        steps.pop()
    for step in steps:
        if step.solver in CHANGING:
            if not known:
                yield f"{step.solver.removeprefix(OURS)}-{digest(step.params)}"
        elif step.solver == EXPECTED:
            if not expected:
                yield "expected_answer"
        elif _is_plain(step):
            yield "generate"
        elif not step.solver.startswith(OURS):
            params = {name: value for name, value in step.params.items() if value is not None}
            yield f"{step.solver}-{digest(params)}" if params else step.solver


def _is_plain(step: EvalPlanStep) -> bool:
    return step.solver in ("generate", "inspect_ai/generate") and not step.params.keys() - {"tool_calls", "cache"}


def _generates(step: EvalPlanStep) -> bool:
    """Whether a solver of this package that changes the question also asks it."""
    return step.solver in CHANGING and step.params.get("generates") is not False


def generation(config: GenerateConfig) -> dict[str, Any]:
    """The settings that answers depend on."""
    return config.model_dump(exclude_none=True, exclude=UNSEEN)
