"""Pictures for the networks of this process.

They are read and decoded in threads, resized to squares of bytes on the CPU, and normalised on the device.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.caches import Recent
from humor_tasks.rows.media.checking import hand_to
from humor_tasks.rows.media.picture import MAX_PIXELS, Picture, decode_picture, pillow_version
from humor_tasks.rows.media.pixels import shown

if TYPE_CHECKING:
    from PIL.Image import Image

# ---- preprocessing --------------------------------------------------------------------------------

ImageInput = Any
"""An image accepted by the models: a `Picture` or a PIL image."""

# Limit after padding or resizing: a strip of 1 x 50,000,000 pixels would become an enormous square.
MAX_RESIZED = 4 * MAX_PIXELS


@dataclass(frozen=True)
class Pixels:
    """Preprocessing of pictures: `size` pixels per side, `mean` and `std` per channel.

    `fit`: pad or crop, as in ClipConfig, or stretch: both sides are resized to `size`, changing the aspect ratio.
    """

    size: int
    fit: str
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str = "bicubic"

    def key(self, content: str) -> str:
        """The cache key of a picture with this content hash; Pillow's version changes resized pixels."""
        how = asdict(self) | {"pillow": pillow_version()}
        return hashlib.sha256(f"{json.dumps(how, sort_keys=True)}\0{content}".encode()).hexdigest()

    def fitted(self, image: Image, where: str) -> Image:
        """An image of mode RGB or L (`rows.media.pixels.shown`) as RGB with `size` x `size` pixels.

        Greyscale is converted last, which gives the same result for a third of the work. Raises BadInput for extreme
        aspect ratios.
        """
        from PIL import Image as Pillow

        n = self.size
        short, long = sorted(image.size)
        resized = {"pad": long * long, "stretch": n * n}.get(self.fit, n * (n * long // short))
        if resized > MAX_RESIZED:
            raise BadInput(
                f"{where}: {image.width} x {image.height} pixels are too narrow for fit={self.fit}, which would make "
                f"{resized:,} pixels of them (at most {MAX_RESIZED:,}). Crop the picture."
            )
        method = Pillow.Resampling.BILINEAR if self.interpolation == "bilinear" else Pillow.Resampling.BICUBIC
        if self.fit == "stretch":
            return image.resize((n, n), method).convert("RGB")
        if self.fit == "pad":
            square = Pillow.new(image.mode, (long, long))
            square.paste(image, ((long - image.width) // 2, (long - image.height) // 2))
            return square.resize((n, n), method).convert("RGB")
        longer = n * long // short
        size = (n, longer) if image.width <= image.height else (longer, n)
        # round() as in torchvision's centre crop: half to even.
        left, top = round((size[0] - n) / 2), round((size[1] - n) / 2)
        return image.resize(size, method).crop((left, top, left + n, top + n)).convert("RGB")

    def normalised(self, batch: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """uint8 [n, size, size, 3] -> dtype [n, 3, size, size] in channels-last memory: (x / 255 - mean) / std."""
        mean, std = _channels(self.mean, batch.device), _channels(self.std, batch.device)
        return batch.permute(0, 3, 1, 2).float().div_(255).sub_(mean).div_(std).to(dtype)


@functools.cache  # a copy to a GPU for each batch would wait for all queued work
def _channels(values: tuple[float, ...], device: torch.device) -> torch.Tensor:
    with torch.inference_mode(False):  # usable in training too
        return torch.tensor(values, device=device).view(3, 1, 1)


class Source:
    """One image to embed: its content hash is computed first, its pixels on demand."""

    def __init__(self, image: ImageInput, place: str) -> None:
        from PIL import Image as Pillow

        if image is None:
            raise BadInput(f"{place}: there is no image. The model needs a picture for every question.")
        if not isinstance(image, Picture | Pillow.Image):
            raise BadInput(f"{place}: is of type {type(image).__name__}; give a PIL image or a Picture.")
        self.image = image
        self.where = f"Picture {image.where}" if isinstance(image, Picture) else place
        self._data = b""
        self._shown: Image | None = None

    def content(self) -> str:
        """What identifies the pixels: `Picture.identity`, or the SHA-256 of a PIL image's pixels as shown."""
        picture: Picture | Image = self.image
        if isinstance(picture, Picture):
            digest = picture.digest
            if not digest:  # else known without reading; `pixels` reads, where they are needed
                self._data = picture.fetch() or b""
                digest = hashlib.sha256(self._data).hexdigest()
            if picture.known is None or picture.known.digest != digest:
                self._read(picture)
            return picture.identity()
        self._shown = image = self._of(picture)
        head = f"{image.mode} {image.width} {image.height}\0".encode()
        return hashlib.sha256(head + image.tobytes()).hexdigest()

    def pixels(self, how: Pixels) -> np.ndarray[Any, Any]:
        """uint8 [size, size, 3]; must be called after `content`."""
        image = self._read(self.image) if self._shown is None else self._shown
        return np.array(how.fitted(image, self.where))

    def _read(self, picture: Any) -> Image:
        data = self._data or picture.fetch()
        decoded = decode_picture(data, picture.where)
        picture.accept(decoded.facts(hashlib.sha256(data).hexdigest()))
        self._shown = decoded.image
        return decoded.image

    def _of(self, image: Image) -> Image:
        if image.width * image.height > MAX_PIXELS:
            raise BadInput(f"{self.where}: {image.width} x {image.height} pixels; at most {MAX_PIXELS:,} are read.")
        if not image.width * image.height:
            raise BadInput(f"{self.where}: has no pixels.")
        try:
            return shown(image).image
        except BadInput as problem:
            raise BadInput(f"{self.where}: {problem}") from None
        except Exception as problem:  # any exception, depending on the decoder, as in humor_tasks.rows.media.picture
            raise BadInput(f"{self.where}: is truncated or damaged ({problem}).") from problem


# ---- pictures that the check before a run decoded -------------------------------------------------

KEPT = 512 * 2**20  # bytes: 1,585 pictures of 336 pixels, more than twice those of the caption contest


class CheckedPixels:
    """Pixels by `Pixels.key`, each kept until it is asked for. Beyond `most` bytes the oldest are dropped.

    It is thread-safe. Nothing arrives before `receive`.
    """

    def __init__(self, how: Pixels, most: int = KEPT) -> None:
        self.how = how
        self._arrays: Recent[np.ndarray[Any, Any]] = Recent(most)
        self.pop = self._arrays.pop

    def receive(self) -> None:
        """Take every picture that is checked from now on."""
        hand_to(self)

    def take(self, identity: str, image: Image, where: str) -> None:
        """Keep the pixels of a decoded picture with this `Facts.identity`."""
        with contextlib.suppress(BadInput):  # raised again where the network needs the picture, which may be never
            self._arrays.put(self.how.key(identity), np.array(self.how.fitted(image, f"Picture {where}")))


# ---- pictures on their way to a network -----------------------------------------------------------

Item = TypeVar("Item")
Result = TypeVar("Result")
MOST_WORKERS = 16


class Loaded(NamedTuple, Generic[Result]):
    """A distinct image. `known`: what the caller has of its content; `pixels`: uint8 [size, size, 3] of a content that
    is new to the caller, the first time that it occurs.
    """

    identity: int
    """id() of the image."""
    key: str
    """Content and preprocessing, as `Pixels.key`."""
    known: Result | None
    pixels: np.ndarray[Any, Any] | None


def load(
    images: Sequence[ImageInput],
    how: Pixels,
    wheres: Sequence[str],
    workers: int,
    most: int,
    known: Callable[[str], Result | None],
    checked: CheckedPixels | None = None,
) -> Iterator[Loaded[Result]]:
    """Each distinct image, in the order of their first places; threads read and decode at most `most` images ahead.

    wheres: names for messages of images that are not `Picture`s. known: what the caller has by key; such a picture is
    not decoded, and neither is one whose pixels are in `checked`. Two images with the same content are decoded once.
    Raises BadInput naming an image that cannot be used.
    """
    distinct: dict[int, Source] = {}
    for image, where in zip(images, wheres, strict=True):
        if id(image) not in distinct:
            distinct[id(image)] = Source(image, where)
    claimed: dict[str, int] = {}

    def prepare(identity: int) -> Loaded[Result]:
        source = distinct.pop(identity)  # removed, so that its bytes are freed afterwards
        key = how.key(source.content())
        if claimed.setdefault(key, identity) != identity:  # only one thread may decode it
            return Loaded(identity, key, None, None)
        value, pixels = known(key), checked.pop(key) if checked else None
        if value is None and pixels is None:
            pixels = source.pixels(how)
        return Loaded(identity, key, value, pixels if value is None else None)

    yield from ahead(prepare, list(distinct), workers, most)


def decoded(
    images: Sequence[ImageInput], how: Pixels, wheres: Sequence[str], workers: int
) -> list[np.ndarray[Any, Any]]:
    """uint8 [size, size, 3] of each image; images with the same content share one array. Raises BadInput as `load`."""

    def known(key: str) -> np.ndarray[Any, Any] | None:
        return None

    keys: dict[int, str] = {}
    pixels: dict[str, np.ndarray[Any, Any]] = {}
    for loaded in load(images, how, wheres, workers, len(images), known):
        keys[loaded.identity] = loaded.key
        if loaded.pixels is not None:
            pixels[loaded.key] = loaded.pixels
    return [pixels[keys[id(image)]] for image in images]


def ahead(function: Callable[[Item], Result], items: Iterable[Item], workers: int, most: int) -> Iterator[Result]:
    """function(item) in order, computed by threads at most `most` items ahead of the consumer."""
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="pictures")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def stacked(pixels: Sequence[np.ndarray[Any, Any]], pinned: bool) -> torch.Tensor:
    """uint8 [n, size, size, 3] of arrays [size, size, 3]; `pinned`: in memory from which a GPU copies by itself."""
    batch = torch.empty((len(pixels), *pixels[0].shape), dtype=torch.uint8, pin_memory=pinned)
    np.stack(pixels, out=batch.numpy())
    return batch


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on the device. Copies from pinned memory to a GPU are asynchronous."""
    cuda = device.type == "cuda"
    return (tensor.pin_memory() if cuda and not tensor.is_pinned() else tensor).to(device, non_blocking=cuda)


def threads(workers: int) -> int:
    """The number of threads: `workers`, or one per core where it is 0, at most 16."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return workers or min(MOST_WORKERS, cores)
