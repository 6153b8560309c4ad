"""Files of model and training folders: their names, and weights as named tensors. Importing it imports no torch."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks.data.writing import replacing
from humor_tasks.errors import BadInput, listed

if TYPE_CHECKING:
    import torch

CONFIG, METRICS = "config.json", "metrics.json"
WEIGHTS, INDEX, TORCH = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"
_NESTED = ("state_dict", "model_state_dict")  # by open_clip's training, and by the released code of Hessel et al.


def not_loaded(who: str, name: str, problem: Exception) -> BadInput:
    """The error for weights, in a folder or on the hub, that a library could not load."""
    message = " ".join(str(problem).split())[:300]
    if Path(name).is_dir():
        return BadInput(f"{who}: the folder's model cannot be loaded ({message}).")
    return BadInput(f"{who}: no such folder, and it cannot be loaded from the hub ({message}).")


def read_state(
    path: Path, who: str, skip: Collection[str] = (), skipped: list[str] | None = None
) -> dict[str, torch.Tensor]:
    """The tensors of a .safetensors or torch file, by name; no code in the file is executed.

    skip: names of entries that are not weights and are ignored; those found are added to `skipped`. Raises BadInput for
    a file that cannot be read or holds anything but tensors.
    """
    import torch
    from safetensors.torch import load_file

    is_safetensors = path.suffix == ".safetensors"
    try:
        content: Any = load_file(path) if is_safetensors else torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # safetensors, zipfile, pickle and torch raise different classes
        message = str(problem).strip().split("\n")[0]
        if "weights_only" in message:  # torch's message then suggests to disable weights_only
            named = re.search(r"GLOBAL (\S+)", str(problem))
            message = f"it holds {named[1] if named else 'objects'} besides tensors"
        raise BadInput(
            f"{who}: {path} cannot be read as weights ({type(problem).__name__}: {message}). Only tensors are read; "
            "save the model's state_dict, preferably as .safetensors."
        ) from None
    for name in _NESTED:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping):
        raise BadInput(f"{who}: {path} holds a {type(content).__name__} instead of weights by name.")
    if skipped is not None:
        skipped += [str(name) for name in content if name in skip]
    state = {
        str(name).removeprefix("module.").removeprefix("_orig_mod."): tensor
        for name, tensor in content.items()
        if name not in skip
    }

    def is_dense(value: object) -> bool:
        return isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_meta

    if wrong := [name for name, value in state.items() if not is_dense(value)]:
        raise BadInput(f"{who}: {path} holds more than weights: {listed('non-tensor', wrong, most=5)}.")
    return state


def read_folder(folder: Path, who: str) -> dict[str, torch.Tensor]:
    """The weights of a folder in transformers' layout: one safetensors file, several with an index, or a torch file.

    Raises BadInput as `read_state` does, and for a folder without weights.
    """
    if (folder / INDEX).is_file() and not (folder / WEIGHTS).is_file():
        names = indexed(folder / INDEX, who)
    else:
        names = [name for name in (WEIGHTS, TORCH) if (folder / name).is_file()][:1]
    if not names:
        raise BadInput(f"{who}: {folder} holds no weights; there should be {WEIGHTS}, {INDEX} or {TORCH}.")
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
