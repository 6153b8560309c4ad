"""A CLIP that was opened: the model, and what it takes to use it and to save it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.weight_files import misfits


@dataclass
class Opened:
    """A model on the CPU in fp32, and what it takes to use it and to save it."""

    model: Any
    tokenizer: Any
    architecture: str
    model_config: dict[str, Any]
    """As in open_clip's model_configs/*.json, with what the weights need (quick_gelu)."""
    preprocess: dict[str, Any]
    """mean, std, interpolation."""
    settings: dict[str, Any] = field(default_factory=dict)
    """fit, prefix and precision, as a folder of ours carries them."""

    def __post_init__(self) -> None:
        where = f"clip: {self.architecture}: preprocessing:"
        for name in ("mean", "std"):
            numbers = self.preprocess[name]
            if not isinstance(numbers, list | tuple) or len(numbers) != 3 or not all(map(_is_number, numbers)):
                raise BadInput(f"{where} {name} is {numbers!r}; it is three numbers, for red, green and blue.")
        if not all(self.preprocess["std"]):
            raise BadInput(f"{where} std is {self.preprocess['std']!r}; pictures are divided by it.")
        check_choice(f"{where} interpolation", self.preprocess["interpolation"], ("bicubic", "bilinear"))

    @property
    def size(self) -> int:
        """Pixels a side."""
        size: Any = self.model.visual.image_size
        sides = set(size) if isinstance(size, tuple | list) else {size}
        if len(sides) != 1:
            raise BadInput(f"clip: {self.architecture} takes pictures of {size} pixels; only squares are supported.")
        return int(sides.pop())

    def fingerprint(self) -> str:
        """SHA-256 of the weights and of the configuration that gives them their meaning, in hex."""
        digest = hashlib.sha256(json.dumps(self.model_config, sort_keys=True).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            flat = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
            digest.update(flat.numpy().data)
        return digest.hexdigest()


def fill(model: nn.Module, state: Mapping[str, torch.Tensor], where: str, architecture: str) -> None:
    """Loads the weights; BadInput names the keys that are missing, unexpected, of another shape, or no fractions."""
    problems = misfits(model.state_dict(), state)
    if problems:
        raise BadInput(f"clip: {where} does not fit {architecture}: {'; '.join(problems)}.")
    model.load_state_dict(state)
    if not math.isfinite(scale := float(state["logit_scale"].float().exp())):
        raise BadInput(f"clip: {where} is damaged: its logit scale is {scale}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
