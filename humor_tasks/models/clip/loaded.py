"""A loaded CLIP model with the metadata needed to use and save it."""

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
class LoadedClip:
    """A model on the CPU in fp32, with its tokenizer, configuration and preprocessing."""

    model: Any
    tokenizer: Any
    architecture: str
    model_config: dict[str, Any]
    """The format of open_clip's model_configs/*.json, including quick_gelu if the weights need it."""
    preprocess: dict[str, Any]
    """mean, std, interpolation."""
    settings: dict[str, Any] = field(default_factory=dict)
    """fit, prefix and precision, if the folder was written by `Clip.save`."""

    def __post_init__(self) -> None:
        where = f"clip: {self.architecture}: preprocessing:"
        for name in ("mean", "std"):
            numbers = self.preprocess[name]
            if not isinstance(numbers, list | tuple) or len(numbers) != 3 or not all(map(_is_number, numbers)):
                raise BadInput(f"{where} {name} is {numbers!r}; it must be three numbers, for red, green and blue.")
        if not all(self.preprocess["std"]):
            raise BadInput(
                f"{where} std is {self.preprocess['std']!r}; pixel values are divided by it, so it must not be 0."
            )
        check_choice(f"{where} interpolation", self.preprocess["interpolation"], ("bicubic", "bilinear"))

    @property
    def size(self) -> int:
        """Picture size in pixels per side. Raises BadInput for a model with rectangular input."""
        size: Any = self.model.visual.image_size
        sides = set(size) if isinstance(size, tuple | list) else {size}
        if len(sides) != 1:
            raise BadInput(f"clip: {self.architecture} takes pictures of {size} pixels; only squares are supported.")
        return int(sides.pop())

    def fingerprint(self) -> str:
        """SHA-256 of the weights and the model configuration, in hex."""
        digest = hashlib.sha256(json.dumps(self.model_config, sort_keys=True).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            flat = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
            digest.update(flat.numpy().data)
        return digest.hexdigest()


def fill(model: nn.Module, state: Mapping[str, torch.Tensor], where: str, architecture: str) -> None:
    """Load the weights. Raises BadInput naming keys that are missing, unexpected, or of another shape or type."""
    problems = misfits(model.state_dict(), state)
    if problems:
        raise BadInput(f"clip: {where} does not fit {architecture}: {'; '.join(problems)}.")
    model.load_state_dict(state)
    if not math.isfinite(scale := float(state["logit_scale"].float().exp())):
        raise BadInput(f"clip: {where} is damaged: its logit scale is {scale}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
