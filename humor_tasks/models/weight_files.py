"""Weight files: tensors by name and nothing else, from safetensors or from torch files read with weights_only."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch

from humor_tasks.errors import BadInput, listed

CONFIG, WEIGHTS, INDEX, TORCH = "config.json", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"


def read_state(path: Path, who: str, skip: Collection[str] = ()) -> dict[str, torch.Tensor]:
    """The tensors of a .safetensors file or a torch file, by name; nothing in the file is executed.

    skip: names of what may be there and is no weight.
    """
    from safetensors.torch import load_file

    try:
        if path.suffix == ".safetensors":
            held: Any = load_file(path)
        else:
            held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # safetensors, zipfile, pickle and torch each have their own
        said = str(problem).strip().split("\n")[0]
        if "weights_only" in said:  # torch goes on with how to read it without that guard
            named = re.search(r"GLOBAL (\S+)", str(problem))
            said = f"it holds {named[1] if named else 'something'} beside tensors"
        raise BadInput(
            f"{who}: {path} cannot be read as weights ({type(problem).__name__}: {said}). Only tensors are read; "
            "save the model's state_dict, best as .safetensors."
        ) from None
    for name in ("state_dict", "model_state_dict"):  # open_clip's training; the released code of Hessel et al.
        if isinstance(held, Mapping) and isinstance(held.get(name), Mapping):
            held = held[name]
    if not isinstance(held, Mapping):
        raise BadInput(f"{who}: {path} holds no weights by name, but a {type(held).__name__}.")
    state = {
        str(name).removeprefix("module.").removeprefix("_orig_mod."): tensor
        for name, tensor in held.items()
        if name not in skip
    }
    if wrong := [name for name, tensor in state.items() if not _whole(tensor)]:
        raise BadInput(f"{who}: {path} holds more than plain weights: {listed('non-tensor', wrong, most=5)}.")
    return state


def read_folder(folder: Path, who: str) -> dict[str, torch.Tensor]:
    """The weights of a folder as transformers writes it: one safetensors file, several by an index, or a torch file."""
    if (folder / WEIGHTS).is_file():
        return read_state(folder / WEIGHTS, who)
    if (folder / INDEX).is_file():
        state: dict[str, torch.Tensor] = {}
        for name in indexed(folder / INDEX, who):
            state |= read_state(folder / name, who)  # links are followed: the hub's cache is made of them
        return state
    if (folder / TORCH).is_file():
        return read_state(folder / TORCH, who)
    raise BadInput(f"{who}: {folder} holds no weights; there should be {WEIGHTS}, {INDEX} or {TORCH}.")


def indexed(path: Path, who: str) -> list[str]:
    """The file names of an index."""
    try:
        names = sorted({str(name) for name in json.loads(path.read_text(encoding="utf-8"))["weight_map"].values()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise BadInput(f"{who}: {path} cannot be read ({problem!r}).") from None
    for name in names:
        if Path(name).name != name or name in ("", ".", ".."):
            raise BadInput(f"{who}: {path} names '{name}'; weights lie beside it.")
    return names


def misfits(expected: Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor]) -> list[str]:
    """What is wrong with `state`: missing, unexpected, of another shape or type; the first five of each by name."""
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
    found = {
        "missing key": [name for name in expected if name not in state],
        "unexpected key": [name for name in state if name not in expected],
        "wrong shape": shapes,
        "wrong type": kinds,
    }
    return [listed(what, names, most=5) for what, names in found.items() if names]


def _whole(found: object) -> bool:
    """A tensor with a number in each place: neither sparse nor without its numbers (meta)."""
    return isinstance(found, torch.Tensor) and found.layout == torch.strided and not found.is_meta


def _is_float8(tensor: torch.Tensor) -> bool:
    """Such weights mean nothing without scales of their own."""
    return tensor.is_floating_point() and tensor.dtype.itemsize < 2
