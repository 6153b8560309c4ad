"""Rows of a benchmark as training files in a provider's chat format (JSON lines), and the folder that holds them.

The files are checked against the provider's limits before they are written.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import Run
from humor_tasks.contract.options import parameters_of
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import json_object, missing
from humor_tasks.files.writing import LONE, replacing, write_bytes, write_json
from humor_tasks.lab.training.hosted.limits import Counter, Limits, TrainedModel, default_epochs
from humor_tasks.parameters import opened
from humor_tasks.rows import trained_on
from humor_tasks.rows.records import Record
from humor_tasks.rows.table import Absent
from humor_tasks.rows.trained_on import check_disjoint

Message = dict[str, Any]
"""A chat message: `role` and `content`."""

SPLITS = ("train", "validation", "test")
FIXED = {"cot": "false", "shots": "0"}
"""Parameters of every exported prompt: the target has no reasoning, and the prompt no worked examples."""


def fixed(task: str) -> dict[str, str]:
    """The part of `FIXED` that the benchmark has as parameters."""
    known = parameters_of(find_benchmark(task, "task").options)
    return {name: value for name, value in FIXED.items() if name in known}


def open_splits(task: str, given: Sequence[str] = (), **named: str | None) -> dict[str, Run]:
    """The runs of train, validation and, where the dataset has one, test; `given` and `named` as in `opened`.

    Raises BadInput where train or validation is missing, a row has no target, or two splits share a contest.
    """
    if taken := [pair for pair in given if pair.partition("=")[0] in (*FIXED, "split", "shard")]:
        raise BadInput(f"-T {taken[0]}: leave it out; this command sets split, shots, cot and shard.")
    runs: dict[str, Run] = {}
    for split in SPLITS:
        try:
            runs[split] = opened(task, given, split=split, **fixed(task), **named)
        except Absent:
            if split != "test":
                raise
    for split, run in runs.items():
        if run.ways.number > 1:
            raise BadInput(f"{task}: prompts=all and order=rotated are for evaluations; train with one prompt set.")
        lacking = [record.id for record in run.records if not record.target]
        if lacking and split != "test":
            raise BadInput(f"{task}, split {split}: {listed('row', lacking, most=3)}: they have no answer to train on.")
    check_disjoint(task, {split: {record.cluster for record in run.records} for split, run in runs.items()})
    return runs


def messages_of(run: Run, record: Record) -> list[Message]:
    """The benchmark's own prompt for a record, as both harnesses send it. Raises BadInput where it shows a picture."""
    prompt = run.prompt(record)
    if prompt.media:
        raise BadInput(
            f"{run.benchmark.name}, row {record.id}: the prompt shows a picture or a clip, and only text can be "
            "exported. Use --setting description or caption_only; for the tasks of MOCK -T input=description."
        )
    return [{"role": turn.role, "content": turn.text} for turn in prompt.turns]


def answer_of(run: Run, target: str | None) -> str:
    """The reply that the prompt asks for, such as "Answer: B"."""
    return run.form.written(target)


# ---- files ---------------------------------------------------------------------------------------

MOST_PROBLEMS = 5
"""Problems that one message names."""
KEYS = {"role", "content", "weight"}


@dataclass(frozen=True)
class TrainingFile:
    """A checked file: `part` is train, validation or joined, `tokens` those of all its rows."""

    part: str
    data: bytes
    rows: int
    tokens: int

    @property
    def name(self) -> str:
        """The file's name in the export folder."""
        return f"{self.part}.jsonl"

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, as hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()

    def about(self) -> dict[str, Any]:
        """For a manifest."""
        return {"rows": self.rows, "tokens": self.tokens, "bytes": len(self.data), "sha256": self.sha256}


def example(run: Run, record: Any) -> dict[str, Any]:
    """One line of a file: the prompt's messages and the answer.

    An assistant's turn of the prompt has weight 0, which is the provider's key for "no loss on this message".
    """
    prompt = [
        {**message, "weight": 0} if message["role"] == "assistant" else message for message in messages_of(run, record)
    ]
    return {"messages": [*prompt, {"role": "assistant", "content": answer_of(run, record.target)}]}


def examples(run: Run) -> tuple[list[str], list[str]]:
    """The lines and the ids of all records of a run."""
    lines = [json.dumps(example(run, record), ensure_ascii=False) for record in run.records]
    return lines, [record.id for record in run.records]


def checked(
    part: str,
    lines: Sequence[str],
    ids: Sequence[str],
    limits: Limits,
    models: Sequence[TrainedModel],
    counter: Counter,
) -> TrainingFile:
    """The file of these lines. Raises BadInput naming the rows that break a limit, the limit, and the remedy.

    ids: the rows' names in messages. models: their smallest context is the limit of a row.
    """
    context = min(model.context for model in models)
    problems: list[str] = []
    tokens = 0
    for i, (line, identity) in enumerate(zip(lines, ids, strict=True), 1):
        messages, why = _messages(line, limits)
        if not why:
            why = _too_long(messages, context, counter)
            tokens += counter.count(messages)
        problems += [f"row {i} ({identity}): {why}"] if why else []
    if part != "validation" and len(lines) < limits.least_rows:
        problems.append(
            f"{len(lines)} rows; {limits.provider} needs at least {limits.least_rows}. Use a dataset with more rows."
        )
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    if len(data) > limits.most_bytes:
        problems.append(
            f"{len(data):,} bytes; {limits.provider} takes at most {limits.most_bytes:,}. Use a setting with shorter "
            "prompts, or a dataset with fewer rows."
        )
    if problems:
        more = f" And {len(problems) - MOST_PROBLEMS} more." if len(problems) > MOST_PROBLEMS else ""
        raise BadInput(f"{part}.jsonl: {' '.join(problems[:MOST_PROBLEMS])}{more} Nothing was written.")
    return TrainingFile(part, data, len(lines), tokens)


def check_apart(train: Sequence[str], validation: Sequence[str], ids: Sequence[str]) -> None:
    """Raise BadInput for a row of validation, named by `ids`, that is also one of train, which the provider forbids."""
    known = set(train)
    for line, identity in zip(validation, ids, strict=True):
        if line in known:
            raise BadInput(
                f"validation.jsonl, row {identity}: train.jsonl has the same row, which the provider does not take. "
                "Remove it from the dataset's validation split. Nothing was written."
            )


def _messages(line: str, limits: Limits) -> tuple[list[dict[str, Any]], str]:
    """The messages of a line, and what is wrong with it."""
    try:
        content = json.loads(line)
    except ValueError as problem:
        return [], f"is not JSON ({problem}); write one object a line."
    if LONE.search(line) or LONE.search(json.dumps(content, ensure_ascii=False)):
        return [], "has half of a surrogate pair, which is no character; correct the dataset's text."
    messages = content.get("messages") if isinstance(content, dict) else None
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        return [], 'has no list of messages; write {"messages": [{"role": ..., "content": ...}]}.'
    for number, message in enumerate(messages, 1):
        if why := _message(message, limits):
            return [], f"message {number}: {why}"
    if messages[-1]["role"] != "assistant" or messages[-1].get("weight") == 0:
        return [], "does not end with an assistant's message to learn; put the answer last."
    return messages, ""


def _message(message: Mapping[str, Any], limits: Limits) -> str:
    if unknown := sorted(message.keys() - KEYS):
        return f"has the key {unknown[0]!r}; allowed are {', '.join(sorted(KEYS))}."
    if message.get("role") not in limits.roles:
        return f"role is {message.get('role')!r}; it must be one of {', '.join(limits.roles)}."
    if why := missing(message.get("content")):
        return f"content is {why}; it must be text."
    if "weight" in message and (message["role"] != "assistant" or message["weight"] not in (0, 1)):
        return f"weight is {message['weight']!r} of {message['role']}; only an assistant's message has 0 or 1."
    return ""


def _too_long(messages: Sequence[Mapping[str, Any]], context: int, counter: Counter) -> str:
    longest = counter.most(messages)
    if longest <= context:
        return ""
    cut = f"and an example has at most {context:,}: the provider cuts its end, where the answer is. Shorten its texts."
    if counter.exact:
        return f"has {longest:,} tokens, {cut}"
    return (
        f"may have up to {longest:,} tokens, {cut} Or run where tiktoken can load {counter.name}, which counts exactly."
    )


# ---- the export ----------------------------------------------------------------------------------

MANIFEST = "finetune.json"
STATE = "submission.json"


@dataclass(frozen=True)
class Export:
    """A benchmark's training files.

    parameters: what the prompts were made with, as NAME=VALUE, so that an evaluation shows the same ones. source: the
    dataset's resolved revision and the fingerprint of each split's rows. prompts: hash of the templates. training: see
    `rows.trained_on`.
    """

    task: str
    parameters: tuple[str, ...]
    source: Mapping[str, Any]
    prompts: str
    files: tuple[TrainingFile, ...]
    counter: Counter
    training: Mapping[str, Any]

    @property
    def trained(self) -> TrainingFile:
        """The file that is trained on."""
        return self.files[0]

    def settings(self) -> dict[str, Any]:
        """What must be equal for a second export into the same folder."""
        parts = [file.part for file in self.files]
        return {"format": 1, "task": self.task, "parameters": list(self.parameters), "parts": parts}

    def manifest(self) -> dict[str, Any]:
        """The content of finetune.json."""
        rule = f"counted with {self.counter.name}" if self.counter.exact else "estimated: 4 characters a token"
        files = {file.name: file.about() for file in self.files}
        made = {"tokens": rule, "files": files, "source": dict(self.source), "prompts": self.prompts}
        return self.settings() | made | {"humor_tasks": __version__}

    def evaluation(self, model: str, base_url: str | None) -> str:
        """The command that evaluates a fine-tuned model with the prompts that it was trained on."""
        command = ["inspect", "eval", f"humor_tasks/{self.task}", "--model", f"openai/{model}"]
        command += ["--model-base-url", base_url] if base_url else []
        return shlex.join(command + [part for pair in self.parameters for part in ("-T", pair)])


def make_export(
    task: str,
    given: Sequence[str],
    named: Mapping[str, str | None],
    joined: bool,
    limits: Limits,
    models: Sequence[TrainedModel],
    counter: Counter,
) -> Export:
    """The checked files of a task; `given` and `named` as in `open_splits`. With `joined`, one file of both splits."""
    runs = open_splits(task, given, **named)
    train, ids = examples(runs["train"])
    validation, validation_ids = examples(runs["validation"])
    check_apart(train, validation, validation_ids)
    parts = {"train": (train, ids), "validation": (validation, validation_ids)}
    if joined:
        parts = {"joined": (train + validation, ids + validation_ids)}
    files = tuple(checked(part, *rows, limits, models, counter) for part, rows in parts.items())
    chosen = fixed(task) | {name: value for name, value in named.items() if value is not None}
    parameters = (*(f"{name}={value}" for name, value in chosen.items()), *given)
    units = {split: run.units for split, run in runs.items()}
    fold = str(getattr(runs["train"].options, "fold", ""))
    training = trained_on.training(task, runs["train"].data.provenance, fold, units)
    return Export(task, parameters, _source(runs), runs["train"].prompts_hash, files, counter, training)


def _source(runs: Mapping[str, Run]) -> dict[str, Any]:
    provenance = {split: run.data.provenance for split, run in runs.items()}
    rows = {split: source["fingerprint"][:12] for split, source in provenance.items()}
    return {"dataset": provenance["train"]["dataset"], "revision": provenance["train"]["revision"], "rows": rows}


def write_export(folder: Path, export: Export) -> None:
    """Write the export into a new folder, atomically, or over one with the same settings.

    Raises BadInput where the folder holds something else, or other rows than those that were submitted from it.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"{folder}: is not a folder.")
        with replacing(folder.resolve()) as temporary:
            _write(temporary, export)
        return
    if not (folder / MANIFEST).is_file():
        raise BadInput(f"{folder}: is not empty and holds no export; choose another folder.")
    there = json_object(folder / MANIFEST)
    if differences := differing(export.settings(), there):
        raise BadInput(f"{folder}: holds another export ({differences}); choose another folder.")
    paths = {folder / file.name: file.data for file in export.files}
    same = all(path.is_file() and path.read_bytes() == data for path, data in paths.items())
    if (folder / STATE).is_file() and not same:
        raise BadInput(
            f"{folder}: its files differ from the rows of this command, and were submitted; choose another folder."
        )
    if not same or there != export.manifest():
        _write(folder, export)


def _write(folder: Path, export: Export) -> None:
    for file in export.files:
        write_bytes(folder / file.name, file.data)
    write_json(folder / MANIFEST, export.manifest())
    trained_on.write(folder, export.training)


def differing(here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    """The settings that differ, for a message; "" where none does."""
    return ", ".join(
        f"{name}={there.get(name)} there, {value} here" for name, value in here.items() if there.get(name) != value
    )


def costs(export: Export, models: Sequence[TrainedModel], epochs: int | None) -> str:
    """The estimated cost with each model: epochs x tokens x price."""
    file, about = export.trained, "" if export.counter.exact else "about "
    passes = epochs or default_epochs(file.rows)
    chosen = "" if epochs else ", the provider's documented choice for so many rows"
    lines = [f"Estimated cost of training on {file.tokens:,} tokens in {passes} epochs{chosen}:"]
    for model in models:
        price = f"${model.training:g} per million tokens, {model.as_of}, {model.source}"
        lines.append(f"  {model.name}: {about}${model.cost(file.tokens, passes):,.2f} ({price})")
    return "\n".join(lines)
