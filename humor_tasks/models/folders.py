"""Folders of models and training: the names of their files, and their weights. Importing it imports no torch."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from humor_tasks.errors import BadInput, listed, one_line
from humor_tasks.files.writing import replacing
from humor_tasks.models.weight_files import faulty_file, read_state

if TYPE_CHECKING:
    import torch

CONFIG, METRICS = "config.json", "metrics.json"
WEIGHTS, INDEX, TORCH = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"


def not_loaded(who: str, name: str, problem: Exception) -> BadInput:
    """The error for weights, in a folder or on the hub, that a library could not load."""
    path = Path(name).expanduser()
    if path.is_file():
        return BadInput(f"{who}: it is a file; give the folder that holds it, with its {CONFIG}.")
    if not path.is_dir():
        return BadInput(f"{who}: there is no such folder, and it cannot be loaded from the hub ({one_line(problem)}).")
    if fault := faulty_file(path):
        return BadInput(f"{who}: the folder's model cannot be loaded: {fault}.")
    if "weights_only" in str(problem):  # torch's message then suggests to disable weights_only
        named = re.search(r"GLOBAL (\S+)", str(problem))
        return BadInput(
            f"{who}: the folder's model cannot be loaded: its torch file holds {named[1] if named else 'objects'} "
            "besides tensors, and no code in a file is executed. Take its weights as .safetensors, from a source that "
            "you trust."
        )
    return BadInput(f"{who}: the folder's model cannot be loaded ({one_line(problem)}).")


def no_weights(who: str, folder: Path, expected: str) -> BadInput:
    """The error for a folder without a file of weights, with what it holds instead."""
    fault = faulty_file(folder)
    return BadInput(f"{who}: {folder} holds no weights; there should be {expected}.{fault and f' {fault}.'}")


def read_folder(folder: Path, who: str) -> dict[str, torch.Tensor]:
    """The weights of a folder in transformers' layout: one safetensors file, several with an index, or a torch file.

    Raises BadInput as `read_state` does, and for a folder without weights.
    """
    if (folder / INDEX).is_file() and not (folder / WEIGHTS).is_file():
        names = indexed(folder / INDEX, who)
    else:
        names = [name for name in (WEIGHTS, TORCH) if (folder / name).is_file()][:1]
    if not names:
        raise no_weights(who, folder, f"{WEIGHTS}, {INDEX} or {TORCH}")
    state: dict[str, torch.Tensor] = {}
    for name in names:  # symbolic links are followed, because the hub's cache consists of them
        state |= read_state(folder / name, who)
    return state


def save_state(path: Path, state: Mapping[str, torch.Tensor]) -> None:
    """Write tensors as .safetensors, atomically. Raises OSError where they cannot be written."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    with replacing(path) as new:
        try:
            save_file(tensors, new)
        except SafetensorError as problem:  # mostly a full disk
            raise OSError(problem) from None


def indexed(path: Path, who: str) -> list[str]:
    """The file names in an index. Raises BadInput for an unreadable index and for files outside the folder."""
    try:
        names = sorted({str(name) for name in json.loads(path.read_text(encoding="utf-8"))["weight_map"].values()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise BadInput(f"{who}: {path} cannot be read ({problem!r}).") from None
    for name in names:
        if Path(name).name != name or name in ("", ".", ".."):
            raise BadInput(f"{who}: {path} names '{name}'; weights must be in the same folder.")
    return names


def misfits(expected: Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor]) -> list[str]:
    """The errors of `state`: missing, unexpected, wrong shape or wrong type, with the first five names of each."""
    shapes = [
        f"{name} {list(state[name].shape)} instead of {list(tensor.shape)}"
        for name, tensor in expected.items()
        if name in state and state[name].shape != tensor.shape
    ]
    kinds = [
        f"{name} {state[name].dtype}"
        for name, tensor in expected.items()
        if name in state and (tensor.is_floating_point() != state[name].is_floating_point() or _is_float8(state[name]))
    ]
    problems = {
        "missing key": [name for name in expected if name not in state],
        "unexpected key": [name for name in state if name not in expected],
        "wrong shape": shapes,
        "wrong type": kinds,
    }
    return [listed(what, names, most=5) for what, names in problems.items() if names]


def _is_float8(tensor: torch.Tensor) -> bool:
    """Whether the type is 8-bit float; such weights are meaningless without separate scales."""
    return tensor.is_floating_point() and tensor.dtype.itemsize < 2
