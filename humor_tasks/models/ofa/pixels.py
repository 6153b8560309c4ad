"""Picture preprocessing for OFA: RGB, resized to a square without keeping the aspect ratio, values in -1..1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from humor_tasks.data.writing import write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.folders import read_object
from humor_tasks.models.pictures.pixels import ImageInput, Pixels, Source

STRIDE = 16  # pixels of one patch
RECORD = "preprocessor_config.json"


def square(size: int) -> Pixels:
    """Preprocessing to `size` x `size` with PIL's antialiased bicubic filter; mean and standard deviation .5.

    Raises BadInput for a size that is not a multiple of 16.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < STRIDE or size % STRIDE:
        raise BadInput(f"image size is {size!r}; it must be a multiple of {STRIDE} pixels, such as 384 or 480.")
    return Pixels(size, "stretch", (0.5,) * 3, (0.5,) * 3)


def recorded_size(folder: Path) -> int | None:
    """The picture size recorded in a checkpoint's folder; None where none is recorded, as in published checkpoints.

    Raises BadInput for a record that is unreadable or not square, because another size would change the model's input.
    """
    path = folder / RECORD
    if not path.is_file():
        return None
    record = read_object(path)
    if "size" not in record:
        return None
    found = record["size"]
    height, width = (found.get("height"), found.get("width")) if isinstance(found, dict) else (found, found)
    if height is None or height != width:
        raise BadInput(f"{path}: size is {found}; only squares are supported. Give image_size to override it.")
    try:
        return square(height).size
    except BadInput as problem:
        raise BadInput(f"{path}: {problem}") from None


def record_size(folder: Path, size: int) -> None:
    """Record the picture size in a checkpoint's folder."""
    write_json(
        folder / RECORD, {"size": {"height": size, "width": size}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    )


def patch_images(images: Sequence[ImageInput], how: Pixels, wheres: Sequence[str] = ()) -> torch.Tensor:
    """float32 [n, 3, size, size]. Raises BadInput naming a picture that is missing, damaged or of another type.

    `wheres` names images that are not `Picture`s in messages. An image that occurs several times is decoded once.
    """
    names = wheres or [f"image {i + 1} of {len(images)}" for i in range(len(images))]
    sources = [Source(image, where) for image, where in zip(images, names, strict=True)]
    keys = [source.content() for source in sources]
    first = dict(zip(reversed(keys), reversed(sources), strict=True))
    pixels = {key: source.pixels(how) for key, source in first.items()}
    return how.normalised(torch.from_numpy(np.stack([pixels[key] for key in keys])))
