"""Picture preprocessing for OFA: RGB, resized to a square without keeping the aspect ratio, values in -1..1."""

from __future__ import annotations

from pathlib import Path

from humor_tasks.data.writing import write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.folders import read_object
from humor_tasks.models.pictures.pixels import Pixels

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
