"""`humor-tasks export finetune`: a benchmark's rows as files for hosted fine-tuning, and the folder that holds them.

A file is JSON lines of chat examples, `{"messages": [...]}`, as OpenAI, Together and Fireworks read them. Rows are
checked before anything is written. The provider's own tools upload the files and start the job (docs/finetuning.md).
"""

from __future__ import annotations

import hashlib
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from humor_tasks._version import __version__
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import Run
from humor_tasks.contract.options import parameters_of
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import json_object, missing
from humor_tasks.files.writing import LONE, replacing, write_bytes, write_json
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
        if run.variations.number > 1:
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
LEAST_ROWS = 10
"""Rows to train on that OpenAI asks for, the most of the providers in docs/finetuning.md
(https://developers.openai.com/api/docs/guides/supervised-fine-tuning)."""
CHARACTERS = 4
"""Characters of English text a token, by OpenAI's rule of thumb
(https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them)."""


@dataclass(frozen=True)
class TrainingFile:
    """A checked file: `part` is train, validation or joined.

    longest, characters: the id of the row with the most text, and the number of its characters. whole: the characters
    of all rows.
    """

    part: str
    data: bytes
    rows: int
    longest: str
    characters: int
    whole: int

    @property
    def name(self) -> str:
        """The file's name in the export folder."""
        return f"{self.part}.jsonl"

    @property
    def warning(self) -> str:
        """What a provider may refuse; "" for nothing."""
        if self.part == "validation" or self.rows >= LEAST_ROWS:
            return ""
        return f"{self.name} has fewer rows ({self.rows}) than the {LEAST_ROWS} that OpenAI asks for"

    def __str__(self) -> str:
        size = f"{self.characters:,} characters, about {math.ceil(self.characters / CHARACTERS):,} tokens"
        whole = f"about {math.ceil(self.whole / CHARACTERS):,} tokens"
        return f"{self.rows:,} row{'s' * (self.rows != 1)} of {whole}; the longest, {self.longest}, has {size}"

    def about(self) -> dict[str, Any]:
        """For a manifest."""
        longest = {"row": self.longest, "characters": self.characters}
        sha256 = hashlib.sha256(self.data).hexdigest()
        return {"rows": self.rows, "bytes": len(self.data), "sha256": sha256, "longest": longest}


class Example(NamedTuple):
    """A row's id, and the messages of its prompt and its answer."""

    row: str
    messages: list[Message]


def examples(run: Run) -> list[Example]:
    """All rows of a run.

    An assistant's turn of the prompt has weight 0, the providers' key for "no loss on this message".
    """
    made = []
    for record in run.records:
        prompt = [
            {**message, "weight": 0} if message["role"] == "assistant" else message
            for message in messages_of(run, record)
        ]
        answer = {"role": "assistant", "content": answer_of(run, record.target)}
        made.append(Example(record.id, [*prompt, answer]))
    return made


def checked(part: str, rows: Sequence[Example]) -> TrainingFile:
    """The file of these rows. Raises BadInput naming the rows that a provider cannot read, and the remedy."""
    problems = [f"row {row.row}: {why}" for row in rows if (why := _problem(row.messages))]
    if problems:
        more = f" And {len(problems) - MOST_PROBLEMS} more." if len(problems) > MOST_PROBLEMS else ""
        raise BadInput(f"{part}.jsonl: {' '.join(problems[:MOST_PROBLEMS])}{more} Nothing was written.")
    longest = max(rows, key=_characters)
    return TrainingFile(
        part,
        "".join(map(_line, rows)).encode(),
        len(rows),
        longest.row,
        _characters(longest),
        sum(map(_characters, rows)),
    )


def _problem(messages: Sequence[Message]) -> str:
    """What is wrong with an example; "" for nothing."""
    for number, message in enumerate(messages, 1):
        if LONE.search(message["content"]):
            return f"message {number} has half of a surrogate pair, which is no character; correct the dataset's text."
        if why := missing(message["content"]):
            return f"message {number} of the {message['role']} is {why}; correct the dataset's text."
    return ""


def _characters(example: Example) -> int:
    return sum(len(message["content"]) for message in example.messages)


def _line(example: Example) -> str:
    return f"{json.dumps({'messages': example.messages}, ensure_ascii=False)}\n"


def check_apart(train: Sequence[Example], validation: Sequence[Example]) -> None:
    """Raise BadInput for an example of validation that is also one of train, which OpenAI forbids."""
    known = set(map(_line, train))
    for example in validation:
        if _line(example) in known:
            raise BadInput(
                f"validation.jsonl, row {example.row}: train.jsonl has the same row, which providers do not take. "
                "Remove it from the dataset's validation split. Nothing was written."
            )


# ---- the export ----------------------------------------------------------------------------------

MANIFEST = "finetune.json"


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
    training: Mapping[str, Any]

    @property
    def evaluation(self) -> str:
        """The command that evaluates a fine-tuned model with the prompts that it was trained on."""
        command = ["inspect", "eval", f"humor_tasks/{self.task}", "--model", "MODEL"]
        return shlex.join(command + [part for pair in self.parameters for part in ("-T", pair)])

    def settings(self) -> dict[str, Any]:
        """What must be equal for a second export into the same folder."""
        parts = [file.part for file in self.files]
        return {"format": 1, "task": self.task, "parameters": list(self.parameters), "parts": parts}

    def manifest(self) -> dict[str, Any]:
        """The content of finetune.json."""
        files = {file.name: file.about() for file in self.files}
        made = {"files": files, "source": dict(self.source), "prompts": self.prompts, "evaluate": self.evaluation}
        return self.settings() | made | {"humor_tasks": __version__}


def make_export(task: str, given: Sequence[str], named: Mapping[str, str | None], joined: bool) -> Export:
    """The checked files of a task; `given` and `named` as in `open_splits`. With `joined`, one file of both splits."""
    runs = open_splits(task, given, **named)
    train, validation = examples(runs["train"]), examples(runs["validation"])
    check_apart(train, validation)
    parts = {"joined": train + validation} if joined else {"train": train, "validation": validation}
    files = tuple(checked(part, rows) for part, rows in parts.items())
    chosen = fixed(task) | {name: value for name, value in named.items() if value is not None}
    parameters = (*(f"{name}={value}" for name, value in chosen.items()), *given)
    units = {split: run.units for split, run in runs.items()}
    fold = str(getattr(runs["train"].options, "fold", ""))
    training = trained_on.training(task, runs["train"].data.provenance, fold, units)
    return Export(task, parameters, _source(runs), runs["train"].prompts_hash, files, training)


def _source(runs: Mapping[str, Run]) -> dict[str, Any]:
    provenance = {split: run.data.provenance for split, run in runs.items()}
    rows = {split: source["fingerprint"][:12] for split, source in provenance.items()}
    return {"dataset": provenance["train"]["dataset"], "revision": provenance["train"]["revision"], "rows": rows}


def write_export(folder: Path, export: Export) -> None:
    """Write the export into a new folder, atomically, or over one with the same settings.

    Raises BadInput where the folder holds something else.
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
    here = export.settings()
    if other := [
        f"{name}={there.get(name)} there, {here[name]} here" for name in here if there.get(name) != here[name]
    ]:
        raise BadInput(f"{folder}: holds another export ({', '.join(other)}); choose another folder.")
    paths = {folder / file.name: file.data for file in export.files}
    same = all(path.is_file() and path.read_bytes() == data for path, data in paths.items())
    if not same or there != export.manifest():
        _write(folder, export)


def _write(folder: Path, export: Export) -> None:
    for file in export.files:
        write_bytes(folder / file.name, file.data)
    write_json(folder / MANIFEST, export.manifest())
    trained_on.write(folder, export.training)
