"""Pictures as OFA takes them: RGB, stretched to a square whatever their proportion, from -1 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from humor_tasks.data.writing import write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.clip.pixels import Pixels, Shown, Source
from humor_tasks.models.folders import read_object

STRIDE = 16  # pixels of one patch
RECORD = "preprocessor_config.json"


def square(size: int) -> Pixels:
    """How pictures become `size` x `size`: PIL's bicubic, which smooths as it shrinks; mean and deviation .5."""
    if isinstance(size, bool) or not isinstance(size, int) or size < STRIDE or size % STRIDE:
        raise BadInput(f"image size is {size!r}; it must be a multiple of {STRIDE} pixels, such as 384 or 480.")
    return Pixels(size, "stretch", (0.5,) * 3, (0.5,) * 3)


def recorded_size(folder: Path) -> int | None:
    """The size that a checkpoint's folder says its pictures had; None where it says nothing, as published ones do.

    Raises BadInput for a record that is not read or names no square: to guess would show the model other pictures.
    """
    path = folder / RECORD
    if not path.is_file():
        return None
    said = read_object(path)
    if "size" not in said:
        return None
    found = said["size"]
    height, width = (found.get("height"), found.get("width")) if isinstance(found, dict) else (found, found)
    if height is None or height != width:
        raise BadInput(f"{path}: size is {found}; only squares are made here. Give image_size to leave it unread.")
    try:
        return square(height).size
    except BadInput as problem:
        raise BadInput(f"{path}: {problem}") from None


def record_size(folder: Path, size: int) -> None:
    """Say in a checkpoint's folder which size its pictures have."""
    write_json(
        folder / RECORD, {"size": {"height": size, "width": size}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    )


def patch_images(images: Sequence[Shown], how: Pixels, wheres: Sequence[str] = ()) -> torch.Tensor:
    """float32 [n, 3, size, size]; BadInput names a picture that is missing, damaged or of another type.

    `wheres` name images that do not know their own place. One that is there several times is decoded once.
    """
    names = wheres or [f"image {i + 1} of {len(images)}" for i in range(len(images))]
    sources = [Source(image, where) for image, where in zip(images, names, strict=True)]
    keys = [source.content() for source in sources]
    first = dict(zip(reversed(keys), reversed(sources), strict=True))
    pixels = {key: source.pixels(how) for key, source in first.items()}
    return how.normalised(torch.from_numpy(np.stack([pixels[key] for key in keys])))
