"""Checkpoints without pickle: tensors as safetensors, other state as JSON.

Random-number state is not saved, because every epoch seeds its own generators (see `seed_epoch`). A checkpoint is
written to a temporary folder, then renamed. It names the folder with the best weights so far; older folders are removed
afterwards.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.data.writing import write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.folders import read_object

NOTES = "training.json"
_NAME, _BEST = "checkpoint-", "best-"


@dataclass
class State:
    """Training progress; `curve` has a row per epoch, `best` is the lowest value so far of the monitored quantity."""

    epoch: int = 0
    best_epoch: int = 0
    best: float = float("inf")
    curve: list[list[float]] = field(default_factory=list)


def save_checkpoint(output: Path, state: State, network: Any, optimizer: Any) -> None:
    """Write checkpoint-EPOCH to `output`, then remove older checkpoints and best weights that it does not refer to."""
    from safetensors.torch import save_file, save_model

    def write(folder: Path) -> None:
        save_model(network, str(folder / "network.safetensors"))
        moments = {
            f"{i}.{name}": value.detach().cpu().contiguous()
            for i, values in optimizer.state_dict()["state"].items()
            for name, value in values.items()
        }
        save_file(moments, folder / "optimizer.safetensors")
        (folder / "state.json").write_text(json.dumps(asdict(state)), encoding="utf-8")

    kept = write_folder(output / f"{_NAME}{state.epoch}", write)
    for folder in output.iterdir():
        old = folder.name.startswith((_NAME, _BEST, ".")) and folder.is_dir()
        if old and folder not in (kept, best_folder(output, state)):
            shutil.rmtree(folder)


def restore_checkpoint(output: Path, network: Any, optimizer: Any) -> State:
    """Load the last checkpoint of `output` into network and optimizer; a new State where there is none.

    Raises BadInput where the checkpoint is damaged or belongs to another network.
    """
    found = sorted(output.glob(f"{_NAME}*"), key=lambda path: path.name.removeprefix(_NAME).zfill(9))
    if not found:
        return State()
    import torch

    try:
        state = _restore(found[-1], network, optimizer)
        if not best_folder(output, state).is_dir():
            raise FileNotFoundError(f"{best_folder(output, state).name} is missing")
    except torch.OutOfMemoryError:
        raise
    except Exception as problem:  # safetensors, torch and json raise different classes
        message = " ".join(str(problem).split())[:300]
        raise BadInput(
            f"{found[-1]}: training cannot resume from it ({message}); remove {output} to start again."
        ) from None
    return state


def _restore(folder: Path, network: Any, optimizer: Any) -> State:
    import torch
    from safetensors.torch import load_file, load_model

    load_model(network, str(folder / "network.safetensors"))
    moments: dict[int, dict[str, Any]] = {}
    for key, value in load_file(folder / "optimizer.safetensors").items():
        place, name = key.split(".", 1)
        moments.setdefault(int(place), {})[name] = value
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
    for parameter, values in optimizer.state.items():
        for name, value in values.items():
            if value.shape == parameter.shape:
                # torch's fused optimizers require moments with the same memory layout as their weights.
                values[name] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
    return State(**read_object(folder / "state.json"))


def best_folder(output: Path, state: State) -> Path:
    """The folder of the best weights so far."""
    return output / f"{_BEST}{state.best_epoch}"


def write_folder(target: Path, write: Callable[[Path], None]) -> Path:
    """Write `target` atomically with `write`, replacing an existing folder. Raises BadInput where that fails."""
    from safetensors import SafetensorError

    temporary = target.with_name(f".{target.name}")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        write(temporary)
        shutil.rmtree(target, ignore_errors=True)
        temporary.rename(target)
    except (OSError, SafetensorError) as problem:  # mostly a full disk
        shutil.rmtree(temporary, ignore_errors=True)
        raise BadInput(f"{target}: cannot be written ({problem}).") from None
    return target


def finish(output: Path, state: State, name: str, notes: dict[str, Any]) -> None:
    """End a training: rename the best weights to `name`, write the notes, and remove the checkpoints."""
    write_json(output / NOTES, notes)
    best_folder(output, state).rename(output / name)
    tidy(output)


def tidy(output: Path) -> None:
    """Remove the checkpoints of a finished training, which may remain if it was interrupted at the end."""
    for folder in output.iterdir():
        if folder.is_dir() and folder.name.startswith((_NAME, _BEST, f".{_NAME}", f".{_BEST}")):
            shutil.rmtree(folder)


def seed_epoch(seed: int, epoch: int, process: int = 0) -> None:
    """Seed the epoch's dropout, so that an interrupted training resumes with identical results."""
    import torch

    torch.manual_seed(random.Random(f"{seed}-{epoch}-{process}").getrandbits(63))
