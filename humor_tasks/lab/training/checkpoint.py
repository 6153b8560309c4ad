"""Checkpoints without pickle: tensors as safetensors, other state as JSON.

Random-number state is not saved, because every epoch seeds its own generators (see `seed_epoch`). A checkpoint is
written to a temporary folder, then renamed. It names the folder with the best weights so far; older folders are removed
afterwards. Of a network divided among processes each process writes its own part, so the folder must be on a file
system that all machines share, and as many processes must resume.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from humor_tasks.errors import BadInput, one_line
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import write_json
from humor_tasks.lab.training.sharding import is_sharded, load_part, part, part_name

NOTES = "training.json"
_NAME, _BEST = "checkpoint-", "best-"


@dataclass
class State:
    """Training progress; `curve` has a row per epoch, `best` is the lowest value so far of the monitored quantity."""

    epoch: int = 0
    best_epoch: int = 0
    best: float = float("inf")
    curve: list[list[float]] = field(default_factory=list)


def save_checkpoint(output: Path, state: State, network: Any, optimizer: Any, accelerator: Accelerator) -> None:
    """Write checkpoint-EPOCH to `output`, then remove older checkpoints and best weights that it does not refer to.

    All processes call this.
    """

    def write(folder: Path) -> None:
        if is_sharded(accelerator) or accelerator.is_main_process:
            save_file(part(accelerator, network, optimizer), folder / part_name(accelerator))
        if accelerator.is_main_process:
            (folder / "state.json").write_text(json.dumps(asdict(state)), encoding="utf-8")

    written = write_folder(output / f"{_NAME}{state.epoch}", write, accelerator)
    if accelerator.is_main_process:
        _remove(
            folder
            for folder in output.iterdir()
            if folder.name.startswith((_NAME, _BEST, ".")) and folder not in (written, best_folder(output, state))
        )


def restore_checkpoint(output: Path, network: Any, optimizer: Any, accelerator: Accelerator) -> State:
    """Load the last checkpoint of `output` into network and optimizer; a new State where there is none.

    Raises BadInput where the checkpoint is damaged, belongs to another network, or was written by another number of
    processes that divided the network.
    """
    checkpoints = sorted(output.glob(f"{_NAME}*"), key=lambda path: path.name.removeprefix(_NAME).zfill(9))
    if not checkpoints:
        return State()
    try:
        state = _restore(checkpoints[-1], network, optimizer, accelerator)
        if not best_folder(output, state).is_dir():
            raise FileNotFoundError(f"{best_folder(output, state).name} is missing")
    except torch.OutOfMemoryError:
        raise
    except Exception as problem:  # safetensors, torch and json raise different classes
        message = one_line(problem)
        raise BadInput(
            f"{checkpoints[-1]}: training cannot resume from it ({message}); remove {output} to start again."
        ) from None
    return state


def _restore(folder: Path, network: Any, optimizer: Any, accelerator: Accelerator) -> State:
    name = part_name(accelerator)
    if not (folder / name).is_file():
        there = ", ".join(sorted(path.name for path in folder.glob("*.safetensors")))
        raise FileNotFoundError(f"it has no {name} but {there}: launch as before")
    load_part(accelerator, network, optimizer, load_file(folder / name))
    return State(**json_object(folder / "state.json"))


def best_folder(output: Path, state: State) -> Path:
    """The folder of the best weights so far."""
    return output / f"{_BEST}{state.best_epoch}"


def write_folder(target: Path, write: Callable[[Path], None], accelerator: Accelerator) -> Path:
    """Write `target` atomically with `write`, replacing an existing folder. Raises BadInput where that fails.

    All processes call this and may write into the one folder; a failure in one of them is raised in all.
    """
    temporary = target.with_name(f".{target.name}")

    def begin() -> None:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)

    def end() -> None:
        shutil.rmtree(target, ignore_errors=True)
        temporary.rename(target)

    is_main = accelerator.is_main_process
    for mine, step in ((is_main, begin), (True, lambda: write(temporary)), (is_main, end)):
        problem = ""
        try:
            if mine:
                step()
        except (OSError, SafetensorError) as failure:  # mostly a full disk
            problem = str(failure)
        problems = gather_object([problem])
        if any(problems):
            shutil.rmtree(temporary, ignore_errors=True)
            raise BadInput(f"{target}: cannot be written ({next(filter(None, problems))}).")
    return target


def finish(output: Path, state: State, name: str, notes: dict[str, Any]) -> None:
    """End a training: rename the best weights to `name`, write the notes, and remove the checkpoints."""
    write_json(output / NOTES, notes)
    try:
        best_folder(output, state).rename(output / name)
    except OSError as problem:
        raise BadInput(f"{output / name}: cannot be written ({problem}).") from None
    tidy(output)


def tidy(output: Path) -> None:
    """Remove the checkpoints of a finished training, which may remain if it was interrupted at the end."""
    _remove(folder for folder in output.iterdir() if folder.name.startswith((_NAME, _BEST, f".{_NAME}", f".{_BEST}")))


def _remove(paths: Iterable[Path]) -> None:
    """Remove those that are folders."""
    for folder in filter(Path.is_dir, list(paths)):
        try:
            shutil.rmtree(folder)
        except OSError as problem:
            raise BadInput(f"{folder}: cannot be removed ({problem}).") from None


def seed_epoch(seed: int, epoch: int, process: int = 0) -> None:
    """Seed the epoch's dropout, so that an interrupted training resumes with identical results."""
    torch.manual_seed(random.Random(f"{seed}-{epoch}-{process}").getrandbits(63))
