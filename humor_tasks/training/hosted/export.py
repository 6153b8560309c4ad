"""The export: training files, their tokens and cost, and the folder that holds them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data import trained_on
from humor_tasks.data.reading import json_object
from humor_tasks.data.writing import replacing, write_bytes, write_json
from humor_tasks.errors import BadInput
from humor_tasks.training.hosted.files import TrainingFile, check_apart, checked, examples
from humor_tasks.training.hosted.limits import Limits, TrainedModel
from humor_tasks.training.hosted.rows import fixed, open_splits
from humor_tasks.training.hosted.tokens import Counter, default_epochs

MANIFEST = "finetune.json"
STATE = "submission.json"


@dataclass(frozen=True)
class Export:
    """A benchmark's training files.

    parameters: what the prompts were made with, as NAME=VALUE, so that an evaluation shows the same ones. source: the
    dataset's resolved revision and the fingerprint of each split's rows. prompts: hash of the templates. training: see
    `data.trained_on`.
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
        return shlex.join(command + [part for each in self.parameters for part in ("-T", each)])


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
    rows = {split: found["fingerprint"][:12] for split, found in provenance.items()}
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
    wanted = export.settings()
    if other := [name for name, value in wanted.items() if there.get(name) != value]:
        shown = ", ".join(f"{name}={there.get(name)} there, {wanted[name]} here" for name in other)
        raise BadInput(f"{folder}: holds another export ({shown}); choose another folder.")
    same = all(_same(folder / file.name, file) for file in export.files)
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


def _same(path: Path, file: TrainingFile) -> bool:
    return path.is_file() and path.read_bytes() == file.data


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
