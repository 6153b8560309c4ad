"""The state of a training after an epoch, without pickle: tensors as safetensors, the rest as JSON.

Random numbers need no saving: every epoch seeds its own generators (see `seed_epoch`). A checkpoint is
written beside and renamed, and names the folder with the best weights so far; older ones go only after that.
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
    """How far a training is; `curve` has a row an epoch, `best` is the least so far of what is watched."""

    epoch: int = 0
    best_epoch: int = 0
    best: float = float("inf")
    curve: list[list[float]] = field(default_factory=list)


def save_checkpoint(output: Path, state: State, network: Any, optimizer: Any) -> None:
    """checkpoint-EPOCH in `output`; older checkpoints and best weights that it does not name are removed."""
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
    """Puts the last checkpoint of `output` into network and optimizer; a fresh State where there is none.

    Raises BadInput where the checkpoint is damaged or is another network's.
    """
    found = sorted(output.glob(f"{_NAME}*"), key=lambda path: path.name.removeprefix(_NAME).zfill(9))
    if not found:
        return State()
    import torch

    try:
        state = _restore(found[-1], network, optimizer)
        if not best_folder(output, state).is_dir():
            raise FileNotFoundError(f"{best_folder(output, state).name} is gone")
    except torch.OutOfMemoryError:
        raise
    except Exception as problem:  # safetensors, torch and json each have their own
        said = " ".join(str(problem).split())[:300]
        raise BadInput(f"{found[-1]}: cannot be gone on from ({said}); remove {output} to begin anew.") from None
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
                # torch's fused optimisers take for granted that moments lie in memory as their weights do.
                values[name] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
    return State(**read_object(folder / "state.json"))


def best_folder(output: Path, state: State) -> Path:
    """Where the best weights so far are."""
    return output / f"{_BEST}{state.best_epoch}"


def write_folder(target: Path, write: Callable[[Path], None]) -> Path:
    """`target` as `write` fills it, whole or not at all; what was there is replaced."""
    from safetensors import SafetensorError

    beside = target.with_name(f".{target.name}")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        write(beside)
        shutil.rmtree(target, ignore_errors=True)
        beside.rename(target)
    except (OSError, SafetensorError) as problem:  # a full disk, above all
        shutil.rmtree(beside, ignore_errors=True)
        raise BadInput(f"{target}: cannot be written ({problem}).") from None
    return target


def finish(output: Path, state: State, name: str, notes: dict[str, Any]) -> None:
    """The training is over: the best weights get their `name`, the notes are kept, the checkpoints are not."""
    write_json(output / NOTES, notes)
    best_folder(output, state).rename(output / name)
    tidy(output)


def tidy(output: Path) -> None:
    """Removes the checkpoints of a training that is over; a kill may have come before it."""
    for folder in output.iterdir():
        if folder.is_dir() and folder.name.startswith((_NAME, _BEST, f".{_NAME}", f".{_BEST}")):
            shutil.rmtree(folder)


def seed_epoch(seed: int, epoch: int, process: int = 0) -> None:
    """What dropout draws in an epoch, whether or not the training was interrupted before it."""
    import torch

    torch.manual_seed(random.Random(f"{seed}-{epoch}-{process}").getrandbits(63))
