"""CLIP in use: embeddings of pictures and captions, each distinct one once, and logits over a picture's captions."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from humor_tasks.errors import BadInput
from humor_tasks.models.clip import weights
from humor_tasks.models.clip.cache import Vectors
from humor_tasks.models.clip.captions import Captions, can_be_trimmed, lengths, trimmed
from humor_tasks.models.clip.config import ZERO_SHOT_PREFIX, ClipConfig
from humor_tasks.models.clip.opened import Opened
from humor_tasks.models.clip.pixels import Pixels, Shown, Source
from humor_tasks.models.devices import DTYPES, out_of_memory, pick_device

BATCH = {"cuda": 256, "mps": 64, "cpu": 32}  # pictures in one pass, before any halving
CAPTIONS = 4  # captions in one pass for each picture in one: a caption is far less work
Item = TypeVar("Item")
Result = TypeVar("Result")


class Clip:
    """A CLIP model with its preprocessing. Threads may share one; they take turns.

    fit, prefix and precision are those in use; `model` is open_clip's, on `device`.
    """

    def __init__(self, opened: Opened, config: ClipConfig) -> None:
        said = opened.settings
        self.name = config.pretrained
        self.config = config
        self.fit: str = config.fit or said.get("fit", "pad")
        self.prefix: str = said.get("prefix", ZERO_SHOT_PREFIX) if config.prefix is None else config.prefix
        self.precision: str = config.precision or said.get("precision", "fp32")
        self.device = pick_device(config.device)
        look = opened.preprocess
        self.pixels = Pixels(opened.size, self.fit, tuple(look["mean"]), tuple(look["std"]), look["interpolation"])
        self.captions = Captions(self.prefix, opened.tokenizer)
        self._opened = opened
        self._lock = threading.RLock()
        self._batch = {"picture": config.batch_size or BATCH[self.device.type]}
        self._batch["caption"] = CAPTIONS * self._batch["picture"]
        self._workers = config.workers or min(16, _cores())
        self._embedded = {"picture": 0, "caption": 0}
        self.forget()
        self.model: Any = _placed(opened.model, self.device, DTYPES[self.precision])
        self._encode_image: Any = self.model.encode_image
        self._encode_text: Any = self.model.encode_text
        self._trim = can_be_trimmed(self.model) and not config.compile  # each new length would be compiled anew
        if config.compile:
            self._encode_image, self._encode_text = torch.compile(self._encode_image), torch.compile(self._encode_text)
        elif self._trim:
            self._encode_text = trimmed(self.model)

    @classmethod
    def load(cls, config: ClipConfig | None = None) -> Clip:
        """The model that the configuration names. Raises BadInput: unknown, unreadable, unfitting, no such device."""
        config = config or ClipConfig()
        pick_device(config.device)  # before a download
        return cls(weights.open_model(config), config)

    def embed_images(self, images: Sequence[Shown]) -> torch.Tensor:
        """Unit vectors [len(images), d] in fp32 on the CPU, of `Picture`s or PIL images.

        Threads read, check and decode ahead of the model. Raises BadInput naming the picture that cannot be used.
        """
        # One object may be in the list often, and only one thread may decode it.
        distinct = {id(image): Source(image, f"image {i + 1} of {len(images)}") for i, image in enumerate(images)}
        claimed: dict[str, int] = {}

        def prepare(identity: int) -> tuple[int, str, Any, Any]:
            source = distinct.pop(identity)  # with its bytes, when this is done
            key = self.pixels.key(source.content())
            if claimed.setdefault(key, identity) != identity:
                return identity, key, None, None
            vector = self._images.get(key)
            return identity, key, vector, source.pixels(self.pixels) if vector is None else None

        keys: dict[int, str] = {}
        with self._lock:
            work = _Work(self._batch["picture"], self._run_images, self._images.put)
            for identity, key, vector, pixels in ahead(prepare, list(distinct), self._workers, 2 * work.size):
                keys[identity] = key
                if vector is not None:
                    work.found[key] = vector
                elif pixels is not None:
                    work.add(key, pixels)
            found = work.finish()
        return _stacked([found[keys[id(image)]] for image in images], self._images.dimensions)

    def embed_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Unit vectors [len(texts), d] in fp32 on the CPU, of the prefix and each text, cut at the model's length."""
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise BadInput(f"caption {i + 1} of {len(texts)}: is of type {type(text).__name__}, not a text.")
        keys = {text: self.captions.key(text) for text in texts}
        with self._lock:
            work = _Work(self._batch["caption"], self._run_texts, self._texts.put)
            work.found = {key: vector for key in keys.values() if (vector := self._texts.recent(key)) is not None}
            # A caption whose vector lies in the folder is tokenized too, so that one that is cut is counted.
            new = [text for text, key in keys.items() if key not in work.found]
            tokens = self.tokenize(new)
            for i in lengths(tokens).argsort(stable=True).tolist():  # those of a pass are alike in length
                if (vector := self._texts.get(keys[new[i]])) is None:
                    work.add(keys[new[i]], tokens[i])
                else:
                    work.found[keys[new[i]]] = vector
            found = work.finish()
        return _stacked([found[keys[text]] for text in texts], self._texts.dimensions)

    def score(self, images: Sequence[Shown], texts_per_image: Sequence[Sequence[str]]) -> list[list[float]]:
        """A logit for each image's own captions, which may be 5 here and 2 there.

        logit = exp(logit_scale) * cosine(image, caption), plus the model's bias where it has one (SigLIP).
        """
        if len(images) != len(texts_per_image):
            raise BadInput(f"clip: {len(images)} images and captions for {len(texts_per_image)}; give a list an image.")
        for i, texts in enumerate(texts_per_image):
            if isinstance(texts, str) or not texts:
                raise BadInput(f"image {i + 1} of {len(images)}: has no captions to choose from.")
        with self._lock:
            pictures = self.embed_images(images)
            captions = self.embed_texts([text for texts in texts_per_image for text in texts])
            scale = float(self.model.logit_scale.detach().float().exp())
            bias = getattr(self.model, "logit_bias", None)
        shift = 0.0 if bias is None else float(bias.detach())
        own = torch.split(captions, [len(texts) for texts in texts_per_image])
        # Not a matrix product: a caption's logit has the same digits in every place and company.
        return [(scale * (mine * one).sum(1) + shift).tolist() for one, mine in zip(pictures, own, strict=True)]

    def tokenize(self, texts: Sequence[str]) -> torch.Tensor:
        """Token ids [len(texts), 77] of the prefix and each text; what had to be cut is counted in `summary`."""
        return self.captions.tokenize(texts)

    def summary(self) -> dict[str, int]:
        """What was embedded by the model itself so far, and how many distinct captions were cut to its length."""
        return {
            "pictures_embedded": self._embedded["picture"],
            "captions_embedded": self._embedded["caption"],
            "captions_cut": len(self.captions.cut),
        }

    def forget(self) -> None:
        """Empties the caches; to be called when the weights have changed."""
        folder = None
        if self.config.cache_dir:
            mark = hashlib.sha256(f"{self._opened.fingerprint()} {self.precision}".encode()).hexdigest()
            folder = Path(self.config.cache_dir).expanduser() / f"clip-{mark[:32]}"
        dimensions = int(self._opened.model_config["embed_dim"])
        self._images = Vectors(dimensions, folder and folder / "images")
        self._texts = Vectors(dimensions, folder and folder / "captions")

    def save(self, folder: str | Path) -> None:
        """A folder that `load` reads and that carries fit, prefix and precision; plain open_clip reads it too."""
        settings = {"fit": self.fit, "prefix": self.prefix, "precision": self.precision}
        weights.save(Path(folder).expanduser(), self._opened, settings)

    def _run_images(self, batch: list[Any]) -> torch.Tensor:
        def run(piece: torch.Tensor) -> torch.Tensor:
            ready = self.pixels.normalised(self._there(piece), DTYPES[self.precision])
            return torch.as_tensor(self._encode_image(ready))

        return self._in_pieces(torch.from_numpy(np.stack(batch)), run, "picture")  # [n, size, size, 3]

    def _run_texts(self, batch: list[Any]) -> torch.Tensor:
        def run(piece: torch.Tensor) -> torch.Tensor:
            if self._trim:
                piece = piece[:, : int(lengths(piece).max())]
            return torch.as_tensor(self._encode_text(self._there(piece)))

        return self._in_pieces(torch.stack(batch), run, "caption")

    def _there(self, piece: torch.Tensor) -> torch.Tensor:
        """On the device. From pinned memory a GPU fetches it in its turn, and nothing here waits for that."""
        cuda = self.device.type == "cuda"
        return (piece.pin_memory() if cuda else piece).to(self.device, non_blocking=cuda)

    def _in_pieces(self, items: torch.Tensor, run: Callable[[torch.Tensor], torch.Tensor], kind: str) -> torch.Tensor:
        """Unit vectors of all items, in as many passes as the memory asks for; what fits is remembered."""
        parts: list[torch.Tensor] = []
        start = 0
        while start < len(items):
            piece = items[start : start + self._batch[kind]]
            try:
                with torch.inference_mode():
                    parts.append(nn.functional.normalize(run(piece).float(), dim=-1))
            except RuntimeError as problem:
                if not out_of_memory(problem):
                    raise
            else:
                start += len(piece)
                continue
            # Outside the except block: the exception holds on to the tensors of the failed pass.
            if len(piece) == 1:
                raise BadInput(f"clip: not even one {kind} fits the memory of {self.device}; free some, or use fp16.")
            self._batch[kind] = len(piece) // 2
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
        self._embedded[kind] += len(items)
        return torch.cat(parts)


class _Work:
    """What is waiting for the model, and what it found.

    A batch's vectors are awaited after the next one is sent, so that a GPU always has one while the next are gathered.
    """

    def __init__(self, size: int, run: Callable[[list[Any]], torch.Tensor], put: Callable[[str, Any], None]) -> None:
        self.size, self.run, self.put = size, run, put
        self.found: dict[str, Any] = {}
        self._waiting: dict[str, Any] = {}
        self._sent: tuple[list[str], torch.Tensor, torch.cuda.Event | None] | None = None

    def add(self, key: str, item: Any) -> None:
        """Another item, whose key is new."""
        self._waiting[key] = item
        if len(self._waiting) == self.size:
            self._send()

    def finish(self) -> dict[str, Any]:
        """All vectors by key."""
        if self._waiting:
            self._send()
        self._fetch()
        return self.found

    def _send(self) -> None:
        vectors = self.run(list(self._waiting.values()))
        cuda = vectors.device.type == "cuda"
        # A copy asked for only later would stand behind the next batch.
        sent = list(self._waiting), vectors.to("cpu", non_blocking=cuda)
        arrived = torch.cuda.current_stream(vectors.device).record_event() if cuda else None
        self._fetch()
        self._sent, self._waiting = (*sent, arrived), {}

    def _fetch(self) -> None:
        if self._sent is None:
            return
        keys, vectors, arrived = self._sent
        if arrived is not None:
            arrived.synchronize()
        for key, vector in zip(keys, vectors.numpy(), strict=True):
            if not np.isfinite(vector).all():
                raise BadInput("clip: the model gives numbers that are not finite; damaged weights, or fp16 overflows.")
            self.found[key] = vector = vector.copy()
            self.put(key, vector)
        self._sent = None


def ahead(function: Callable[[Item], Result], items: Iterable[Item], workers: int, most: int) -> Iterator[Result]:
    """function(item) in order, computed by threads at most `most` items ahead of the reader."""
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="clip")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _placed(model: Any, device: torch.device, dtype: torch.dtype) -> Any:
    scale, bias = model.logit_scale.detach().clone(), getattr(model, "logit_bias", None)
    shift = None if bias is None else bias.detach().clone()
    model.to(device=device, dtype=dtype).to(memory_format=torch.channels_last)
    # In half precision a scale of 100 would be 98.9.
    model.logit_scale.data = scale.to(device)
    if shift is not None:
        model.logit_bias.data = shift.to(device)
    return model


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stacked(vectors: list[Any], dimensions: int) -> torch.Tensor:
    return torch.from_numpy(np.stack(vectors) if vectors else np.zeros((0, dimensions), np.float32))
