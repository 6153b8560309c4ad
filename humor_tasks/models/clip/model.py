"""CLIP inference: embeddings of pictures and captions, each distinct one computed once, and logits over captions."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from humor_tasks.errors import BadInput
from humor_tasks.models.caches import Vectors
from humor_tasks.models.clip import weights
from humor_tasks.models.clip.config import ZERO_SHOT_PREFIX, ClipConfig
from humor_tasks.models.clip.weights import LoadedClip
from humor_tasks.models.devices import DTYPES, default_precision, out_of_memory, pick_device
from humor_tasks.models.pictures import CheckedPixels, ImageInput, Pixels, load, stacked, threads, to_device

# ---- captions: the prefix, truncation at the context length, batches without padding --------------

# Longer captions are truncated before tokenization, because byte-pair encoding of one long word takes quadratic time.
# A token of CLIP's vocabulary has at most 32 characters, so 3000 characters always exceed 77 tokens.
MAX_CHARACTERS = 3000


class Captions:
    """The prefix and open_clip's tokenizer; `cut` holds the keys of the captions that were truncated."""

    def __init__(self, prefix: str, tokenizer: Any) -> None:
        self.prefix, self.tokenizer = prefix, tokenizer
        self.length: int = tokenizer.context_length
        self.cut: set[str] = set()

    def key(self, text: str) -> str:
        """The cache key of a caption."""
        return hashlib.sha256((self.prefix + text).encode("utf-8", "surrogatepass")).hexdigest()

    def tokenize(self, texts: Sequence[str]) -> torch.Tensor:
        """Token ids [len(texts), length] of the prefix and each text."""
        if not texts:
            return torch.zeros(0, self.length, dtype=torch.long)
        full = [self._truncated(self.prefix + text) for text in texts]
        # With one more position than the model has, only a text that is too long fills the last one.
        longer = self.tokenizer(full, context_length=self.length + 1)
        blank = self.tokenizer([""], context_length=self.length + 1)[0, -1]
        tokens = torch.as_tensor(longer[:, :-1].clone())
        if cut := (longer[:, -1] != blank).nonzero().flatten().tolist():
            tokens[cut] = self.tokenizer([full[i] for i in cut])
            self.cut.update(self.key(texts[i]) for i in cut)
        return tokens

    def _truncated(self, text: str) -> str:
        if len(text) <= MAX_CHARACTERS or not hasattr(self.tokenizer, "bpe"):
            return text
        cleaned: str = self.tokenizer.clean_fn(text)
        return cleaned[:MAX_CHARACTERS]


def lengths(tokens: torch.Tensor) -> torch.Tensor:
    """The number of tokens including the end token, which has the highest id in CLIP's vocabulary. [n]"""
    return tokens.argmax(dim=1) + 1


def can_be_trimmed(model: Any) -> bool:
    """Whether attention is causal and pooling uses the end token, as in the original CLIP, so that padding has no
    effect.
    """
    mask = getattr(model, "attn_mask", None)
    return (
        type(model).__name__ == "CLIP"
        and getattr(model, "text_pool_type", None) == "argmax"
        and mask is not None
        and torch.equal(mask, torch.full_like(mask, -torch.inf).triu(1))
    )


def trimmed(model: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    """model.encode_text for tokens [n, any length], if `can_be_trimmed`; captions are far shorter than 77 tokens."""

    class Text(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.clip = model

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(self.clip.encode_text(tokens))

    text = Text()

    def encode(tokens: torch.Tensor) -> torch.Tensor:
        n = tokens.shape[1]
        short = {
            "clip.positional_embedding": model.positional_embedding[:n],
            "clip.attn_mask": model.attn_mask[:n, :n],
        }
        return torch.as_tensor(torch.func.functional_call(text, short, (tokens,)))

    return encode


# ---- the model ------------------------------------------------------------------------------------

BATCH = {"cuda": 256, "mps": 64, "cpu": 32}  # pictures per batch, before halving
CAPTIONS = 4  # captions per batch for each picture per batch: a caption is much less work


class Clip:
    """A CLIP model with its preprocessing. It is thread-safe; calls are serialised.

    fit, prefix and precision are the values in use; `model` is open_clip's model, on `device`.
    """

    def __init__(self, loaded: LoadedClip, config: ClipConfig) -> None:
        settings = loaded.settings
        self.name = config.pretrained
        self.config = config
        self.fit: str = config.fit or settings.get("fit", "pad")
        self.prefix: str = settings.get("prefix", ZERO_SHOT_PREFIX) if config.prefix is None else config.prefix
        self.device = pick_device(config.device)
        # A folder's fp32 is what was recorded where nothing was chosen, so that it does not hold on a GPU.
        self._chosen: str = config.precision or settings.get("precision", "fp32")
        unset = config.precision is None and self._chosen == "fp32"
        self.precision: str = default_precision(self.device) if unset else self._chosen
        preprocess = loaded.preprocess
        self.pixels = Pixels(
            loaded.size, self.fit, tuple(preprocess["mean"]), tuple(preprocess["std"]), preprocess["interpolation"]
        )
        self.checked = CheckedPixels(self.pixels)
        self.captions = Captions(self.prefix, loaded.tokenizer)
        self._loaded = loaded
        self._lock = threading.RLock()
        self._batch = {"picture": config.batch_size or BATCH[self.device.type]}
        self._batch["caption"] = CAPTIONS * self._batch["picture"]
        self._workers = threads(config.workers)
        self._embedded = {"picture": 0, "caption": 0}
        self.forget()
        self.model: Any = _move_model(loaded.model, self.device, DTYPES[self.precision])
        self._encode_image: Any = self.model.encode_image
        self._encode_text: Any = self.model.encode_text
        self._trim = can_be_trimmed(self.model) and not config.compile  # each new length would be compiled again
        if config.compile:
            self._encode_image, self._encode_text = torch.compile(self._encode_image), torch.compile(self._encode_text)
        elif self._trim:
            self._encode_text = trimmed(self.model)

    @property
    def batch_size(self) -> int:
        """Pictures per batch; halved where one did not fit into memory."""
        return self._batch["picture"]

    @classmethod
    def load(cls, config: ClipConfig | None = None) -> Clip:
        """The configured model. Raises BadInput for an unknown, unreadable or mismatched model, or an unavailable
        device.
        """
        config = config or ClipConfig()
        pick_device(config.device)  # validated before a download
        return cls(weights.open_model(config), config)

    def embed_images(self, images: Sequence[ImageInput]) -> torch.Tensor:
        """Unit vectors [len(images), d] in fp32 on the CPU, of `Picture`s or PIL images.

        Threads read, validate and decode ahead of the model. Raises BadInput naming the picture that cannot be used.
        """
        wheres = [f"image {i + 1} of {len(images)}" for i in range(len(images))]
        keys: dict[int, str] = {}
        with self._lock:
            queue = _BatchQueue(self._batch["picture"], self._run_images, self._images.put)
            for loaded in load(
                images, self.pixels, wheres, self._workers, 2 * queue.size, self._images.get, self.checked
            ):
                keys[loaded.identity] = loaded.key
                if loaded.known is not None:
                    queue.vectors[loaded.key] = loaded.known
                elif loaded.pixels is not None:
                    queue.add(loaded.key, loaded.pixels)
            vectors = queue.finish()
        return _stack([vectors[keys[id(image)]] for image in images], self._images.dimensions)

    def embed_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Unit vectors [len(texts), d] in fp32 on the CPU, of the prefix and each text, truncated to the context
        length.
        """
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise BadInput(f"caption {i + 1} of {len(texts)}: is of type {type(text).__name__}; it must be text.")
        keys = {text: self.captions.key(text) for text in texts}
        with self._lock:
            queue = _BatchQueue(self._batch["caption"], self._run_texts, self._texts.put)
            memory = self._texts.memory
            queue.vectors = {key: vector for key in keys.values() if (vector := memory.get(key)) is not None}
            # A caption cached in the folder is tokenized too, so that a truncated one is counted.
            new = [text for text, key in keys.items() if key not in queue.vectors]
            tokens = self.tokenize(new)
            for i in lengths(tokens).argsort(stable=True).tolist():  # batches of similar length
                if (vector := self._texts.get(keys[new[i]])) is None:
                    queue.add(keys[new[i]], tokens[i])
                else:
                    queue.vectors[keys[new[i]]] = vector
            vectors = queue.finish()
        return _stack([vectors[keys[text]] for text in texts], self._texts.dimensions)

    def score(self, images: Sequence[ImageInput], texts_per_image: Sequence[Sequence[str]]) -> list[list[float]]:
        """Each image's logits over its own captions, whose number may differ between images.

        logit = exp(logit_scale) * cosine(image, caption), plus the model's bias where it has one (SigLIP). Raises
        BadInput naming an image that cannot be used or has no captions.
        """
        if len(images) != len(texts_per_image):
            raise BadInput(
                f"clip: {len(images)} images and {len(texts_per_image)} lists of captions; give one list per image."
            )
        for i, texts in enumerate(texts_per_image):
            if isinstance(texts, str) or not texts:
                raise BadInput(f"image {i + 1} of {len(images)}: has no captions to choose from.")
        with self._lock:
            pictures = self.embed_images(images)
            captions = self.embed_texts([text for texts in texts_per_image for text in texts])
            scale = float(self.model.logit_scale.detach().float().exp())
            bias = getattr(self.model, "logit_bias", None)
        shift = 0.0 if bias is None else float(bias.detach())
        groups = torch.split(captions, [len(texts) for texts in texts_per_image])
        # Not a matrix product, so that a caption's logit does not depend on the other captions, to the last digit.
        return [(scale * (mine * one).sum(1) + shift).tolist() for one, mine in zip(pictures, groups, strict=True)]

    def tokenize(self, texts: Sequence[str]) -> torch.Tensor:
        """Token ids [len(texts), 77] of the prefix and each text; `summary` counts truncated ones."""
        return self.captions.tokenize(texts)

    def summary(self) -> dict[str, int]:
        """The number of pictures and captions embedded so far (not from a cache), and of captions truncated."""
        return {
            "pictures_embedded": self._embedded["picture"],
            "captions_embedded": self._embedded["caption"],
            "captions_cut": len(self.captions.cut),
        }

    def forget(self) -> None:
        """Clear the caches; must be called when the weights have changed."""
        folder = None
        if self.config.cache_dir:
            digest = hashlib.sha256(f"{self._loaded.fingerprint()} {self.precision}".encode()).hexdigest()
            folder = Path(self.config.cache_dir).expanduser() / f"clip-{digest[:32]}"
        dimensions = int(self._loaded.model_config["embed_dim"])
        self._images = Vectors(dimensions, folder and folder / "images")
        self._texts = Vectors(dimensions, folder and folder / "captions")

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` reads, with fit, prefix and precision; open_clip reads it too."""
        settings = {"fit": self.fit, "prefix": self.prefix, "precision": self._chosen}
        weights.save(Path(folder).expanduser(), self._loaded, settings)

    def _run_images(self, batch: list[Any]) -> torch.Tensor:
        def run(piece: torch.Tensor) -> torch.Tensor:
            ready = self.pixels.normalised(to_device(piece, self.device), DTYPES[self.precision])
            return torch.as_tensor(self._encode_image(ready))

        return self._in_batches(stacked(batch, self.device.type == "cuda"), run, "picture")  # [n, size, size, 3]

    def _run_texts(self, batch: list[Any]) -> torch.Tensor:
        def run(piece: torch.Tensor) -> torch.Tensor:
            if self._trim:
                piece = piece[:, : int(lengths(piece).max())]
            return torch.as_tensor(self._encode_text(to_device(piece, self.device)))

        return self._in_batches(torch.stack(batch), run, "caption")

    def _in_batches(self, items: torch.Tensor, run: Callable[[torch.Tensor], torch.Tensor], kind: str) -> torch.Tensor:
        """Unit vectors of all items, in batches that fit into memory; a reduced batch size is kept."""
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
            # Outside the except block, because the exception references the tensors of the failed batch.
            if len(piece) == 1:
                raise BadInput(f"clip: not even one {kind} fits the memory of {self.device}; free memory, or use fp16.")
            self._batch[kind] = len(piece) // 2
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
        self._embedded[kind] += len(items)
        return torch.cat(parts)


class _BatchQueue:
    """Items queued for the model, and their vectors.

    A batch's result is fetched after the next batch is sent, so that a GPU is busy while the next batch is prepared.
    """

    def __init__(self, size: int, run: Callable[[list[Any]], torch.Tensor], put: Callable[[str, Any], None]) -> None:
        self.size, self.run, self.put = size, run, put
        self.vectors: dict[str, Any] = {}
        self._waiting: dict[str, Any] = {}
        self._sent: tuple[list[str], torch.Tensor, torch.cuda.Event | None] | None = None

    def add(self, key: str, item: Any) -> None:
        """Queue an item with a new key."""
        self._waiting[key] = item
        if len(self._waiting) == self.size:
            self._send()

    def finish(self) -> dict[str, Any]:
        """All vectors by key."""
        if self._waiting:
            self._send()
        self._fetch()
        return self.vectors

    def _send(self) -> None:
        vectors = self.run(list(self._waiting.values()))
        cuda = vectors.device.type == "cuda"
        # The copy is queued now; if queued later, it would wait for the next batch.
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
                raise BadInput("clip: the model returns values that are not finite: damaged weights, or fp16 overflow.")
            self.vectors[key] = vector = vector.copy()
            self.put(key, vector)
        self._sent = None


def _move_model(model: Any, device: torch.device, dtype: torch.dtype) -> Any:
    # The scale stays fp32: in half precision 100 would be 98.9.
    parameters = {name: getattr(model, name, None) for name in ("logit_scale", "logit_bias")}
    precise = {name: value.detach().clone() for name, value in parameters.items() if value is not None}
    model.to(device=device, dtype=dtype).to(memory_format=torch.channels_last)
    for name, value in precise.items():
        getattr(model, name).data = value.to(device)
    return model


def _stack(vectors: list[Any], dimensions: int) -> torch.Tensor:
    return torch.from_numpy(np.stack(vectors) if vectors else np.zeros((0, dimensions), np.float32))
