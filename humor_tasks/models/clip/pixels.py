"""Pictures as CLIP takes them, and OFA: fitted into a square, as bytes, then normalised where the model is."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from humor_tasks.data.media.picture import MAX_PIXELS, Picture, decode_picture
from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

Shown = Any
"""What is accepted as an image: a `Picture`, or a PIL image."""

# A strip of 1 x 50,000,000 pixels is a small picture and an enormous square.
MOST_PIXELS = 4 * MAX_PIXELS
_DEEP = ("I", "I;16", "I;16L", "I;16B", "I;16N", "F")  # PIL clips these to white when it converts them


@dataclass(frozen=True)
class Pixels:
    """How pictures become the model's input: `size` pixels a side, `mean` and `std` a channel.

    `fit`: pad or crop, as CLIP has it, or stretch: both sides become `size`, whatever their proportion.
    """

    size: int
    fit: str
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str = "bicubic"

    def key(self, content: str) -> str:
        """The cache key of a picture with this content hash."""
        return hashlib.sha256(f"{json.dumps(asdict(self), sort_keys=True)}\0{content}".encode()).hexdigest()

    def fitted(self, image: Image, where: str) -> Image:
        """RGB, `size` x `size`.

        Palettes and bits cannot be interpolated and become RGB first, without transparency; grey stays grey
        until the end, which is the same picture for a third of the work.
        """
        from PIL import Image as Pillow

        if image.mode in _DEEP:
            raise BadInput(f"{where}: has {image.mode} samples, which would turn white; convert it to 8 bits.")
        drawn, n = image if image.mode == "L" else image.convert("RGB"), self.size
        short, long = sorted(drawn.size)
        grown = {"pad": long * long, "stretch": n * n}.get(self.fit, n * (n * long // short))
        if grown > MOST_PIXELS:
            raise BadInput(
                f"{where}: {image.width} x {image.height} pixels are too narrow for fit={self.fit}, which would make "
                f"{grown:,} pixels of them (at most {MOST_PIXELS:,}). Cut the picture."
            )
        method = Pillow.Resampling.BILINEAR if self.interpolation == "bilinear" else Pillow.Resampling.BICUBIC
        if self.fit == "stretch":
            return drawn.resize((n, n), method).convert("RGB")
        if self.fit == "pad":
            square = Pillow.new(drawn.mode, (long, long))
            square.paste(drawn, ((long - drawn.width) // 2, (long - drawn.height) // 2))
            return square.resize((n, n), method).convert("RGB")
        longer = n * long // short
        size = (n, longer) if drawn.width <= drawn.height else (longer, n)
        # round() as torchvision's centre crop does it: halves to the even side.
        left, top = round((size[0] - n) / 2), round((size[1] - n) / 2)
        return drawn.resize(size, method).crop((left, top, left + n, top + n)).convert("RGB")

    def normalised(self, batch: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """uint8 [n, size, size, 3] -> dtype [n, 3, size, size], channels last in memory: (x / 255 - mean) / std."""
        mean, std = _channels(self.mean, batch.device), _channels(self.std, batch.device)
        return batch.permute(0, 3, 1, 2).float().div_(255).sub_(mean).div_(std).to(dtype)


@functools.cache  # copied to a GPU anew, each time would wait for all that it has to do
def _channels(values: tuple[float, ...], device: torch.device) -> torch.Tensor:
    with torch.inference_mode(False):  # fit for training too
        return torch.tensor(values, device=device).view(3, 1, 1)


class Source:
    """One image to be embedded: its content hash first, its pixels when they are needed."""

    def __init__(self, image: Shown, place: str) -> None:
        from PIL import Image as Pillow

        if image is None:
            raise BadInput(f"{place}: there is no image. The model sees a picture with every question.")
        if not isinstance(image, Picture | Pillow.Image):
            raise BadInput(f"{place}: is of type {type(image).__name__}; give a PIL image or a Picture.")
        self.image = image
        self.where = f"Picture {image.where}" if isinstance(image, Picture) else place
        self._data = b""

    def content(self) -> str:
        """SHA-256 of the encoded bytes, or of a PIL image's pixels."""
        if isinstance(self.image, Picture):
            self._data = self.image.fetch()
            return hashlib.sha256(self._data or b"").hexdigest()
        image = self._loaded(self.image)
        if image.mode == "P":  # the same indices with another palette are another picture
            image = self.image = image.convert("RGB")
        head = f"{image.mode} {image.width} {image.height}\0".encode()
        return hashlib.sha256(head + image.tobytes()).hexdigest()

    def pixels(self, how: Pixels) -> np.ndarray[Any, Any]:
        """uint8 [size, size, 3], after `content`."""
        image = self.image
        if isinstance(image, Picture):
            image = decode_picture(self._data, image.where)
        return np.array(how.fitted(image, self.where))

    def _loaded(self, image: Image) -> Image:
        if image.width * image.height > MAX_PIXELS:
            raise BadInput(f"{self.where}: {image.width} x {image.height} pixels; at most {MAX_PIXELS:,} are read.")
        if not image.width * image.height:
            raise BadInput(f"{self.where}: has no pixels.")
        try:
            image.load()
        except Exception as problem:  # whatever the decoder stumbles over, as in humor_tasks.data.media.picture
            raise BadInput(f"{self.where}: is truncated or damaged ({problem}).") from problem
        return image
