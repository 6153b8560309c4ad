"""OFA inference: a network on a device, and generation from pictures and texts."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import torch

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.devices import DTYPES, default_precision, pick_device
from humor_tasks.models.ofa import weights
from humor_tasks.models.ofa.capture import CapturedSteps
from humor_tasks.models.ofa.config import PAD
from humor_tasks.models.ofa.encoder import Encoded
from humor_tasks.models.ofa.generation import Hypothesis, generate
from humor_tasks.models.ofa.places import KnownPlaces
from humor_tasks.models.ofa.settings import GenerationSettings

LARGEST = 20.0  # of a normalised picture; another mean and deviation may exceed 1
PRECISIONS = ("auto", "fp32", "bf16")


class Ofa:
    """An OFA network for inference. It is thread-safe; calls are serialised.

    folder: the checkpoint's folder, which also holds the vocabulary. revision: the hub's commit.
    """

    def __init__(self, loaded: weights.LoadedOfa, name: str) -> None:
        self.name, self.folder, self.revision = name, loaded.folder, loaded.revision
        self.network = loaded.network.to(memory_format=torch.channels_last)
        self.config = self.network.config
        table = self.network.encoder.embed_tokens.weight
        self.device, self.dtype = table.device, table.dtype
        # Launching a step's many small operations takes a GPU longer than computing them.
        self.captured = CapturedSteps(self.network.decoder) if self.device.type == "cuda" else None
        self._lock = threading.RLock()
        self._known: KnownPlaces | None = None
        self._declared = 0  # open `constant_weights`

    @classmethod
    def load(cls, name: str | Path, device: str = "auto", precision: str = "auto", revision: str | None = None) -> Ofa:
        """Load a checkpoint's folder, OWNER/NAME of the hub at `revision`, or random/SIZE.

        device: auto is CUDA, else MPS, else the CPU. precision: fp32 or bf16, of weights and computation; auto is bf16
        on CUDA and fp32 elsewhere. Raises BadInput for a missing model, mismatched weights or an unavailable device.
        """
        where = pick_device(device, "ofa")  # validated before a download
        check_choice("ofa: precision", precision, PRECISIONS)
        if precision == "auto":
            precision = default_precision(where)
        return cls(weights.open_network(name, where, DTYPES[precision], revision), str(name))

    @contextlib.contextmanager
    def constant_weights(self) -> Iterator[None]:
        """Declare that no weight changes inside the block.

        What depends on weights and sizes alone is computed once and kept to the end of the block, in up to 1 GiB.
        Nothing is kept outside of such blocks, because torch does not record every change of a weight.
        """
        with self._lock:
            self._declared += 1
            self._known = self._known or self.network.encoder.known_places()
        try:
            yield
        finally:
            with self._lock:
                self._declared -= 1
                if not self._declared:
                    self._known = None

    def generate(
        self,
        patch_images: torch.Tensor | None,
        input_ids: torch.Tensor | None,
        settings: GenerationSettings | None = None,
    ) -> list[list[Hypothesis]]:
        """Each input's hypotheses, best first: as many as beams, or fewer where fewer were finished.

        patch_images [B, 3, H, W] in -1..1; input_ids [B, T], padded on the right; one of them may be None. Raises
        BadInput for wrong shapes, for pictures that are not normalised, for token ids outside the vocabulary or padded
        on the left, and for lengths that exceed the positions.
        """
        if patch_images is not None:
            _check_pictures(patch_images)
            patch_images = patch_images.to(self.device, self.dtype, memory_format=torch.channels_last)
        with self._lock, torch.inference_mode():
            features = None if patch_images is None else self.network.encoder.features(patch_images)
            encoded = self._encode(features, None, input_ids)
            return generate(self.network, encoded, settings or GenerationSettings(), self.captured)

    def features(self, patch_images: torch.Tensor) -> torch.Tensor:
        """The backbone's features [P, C, h, w] of pictures [P, 3, H, W] in -1..1, on the device."""
        with self._lock, torch.inference_mode():
            return self.network.encoder.features(patch_images.to(self.device, self.dtype))

    def answer(
        self, features: torch.Tensor, owners: torch.Tensor, input_ids: torch.Tensor, settings: GenerationSettings
    ) -> list[list[Hypothesis]]:
        """As `generate`, for texts [B, T] about the pictures owners [B] of `features`."""
        with self._lock, torch.inference_mode():
            encoded = self._encode(features, owners, input_ids)
            return generate(self.network, encoded, settings, self.captured)

    def loglikelihoods(
        self, features: torch.Tensor, owners: torch.Tensor, input_ids: torch.Tensor, continuations: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each token of continuations [B, k, L + 1] after the first, its log-probability in float32, and whether it
        is the likeliest one; [B, k, L] each, on the CPU.

        Each text about a picture is encoded once. Shorter continuations are filled on the right with any token.
        """
        written = continuations.to(self.device)
        with self._lock, torch.inference_mode():
            encoded = self._encode(features, owners, input_ids)
            found = self.network.decoder.loglikelihoods(written[:, :, :-1], written[:, :, 1:], encoded)
        return found[0].cpu(), found[1].cpu()

    def _encode(self, features: torch.Tensor | None, owners: torch.Tensor | None, ids: torch.Tensor | None) -> Encoded:
        tokens = self._tokens(ids)
        padded = ids is not None and bool((ids == PAD).any())  # where the ids came from, mostly the CPU
        grid = (0, 0) if features is None else (features.shape[2], features.shape[3])
        words = 0 if ids is None else min(ids.shape[-1], self.config.most_tokens)
        places = self._known.of(grid, words) if self._known and (words or features is not None) else None
        owners = None if owners is None else owners.to(self.device)
        return self.network.encode(tokens, features=features, owners=owners, padded=padded, places=places)

    def _tokens(self, ids: torch.Tensor | None) -> torch.Tensor | None:
        """The ids on the device. Raises BadInput for other values than right-padded ids of the vocabulary."""
        if ids is None or not ids.numel():
            return None if ids is None else ids.to(self.device)
        if ids.is_floating_point() or not 0 <= int(ids.min()) <= int(ids.max()) < self.config.vocab_size:
            raise BadInput(f"ofa: token ids go from 0 to {self.config.vocab_size - 1}; are they of another vocabulary?")
        if ids.dim() == 2 and bool(((ids[:, :-1] == PAD) & (ids[:, 1:] != PAD)).any()):
            raise BadInput("ofa: token ids with padding before a token; pad on the right, as `Tokenizer.pad` does.")
        return ids.to(self.device)

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` reads; it does not include the vocabulary."""
        weights.save(Path(folder).expanduser(), self.network)


def _check_pictures(images: torch.Tensor) -> None:
    """Raise BadInput for pictures that are not normalised: bytes, values up to 255, or values that are no numbers."""
    if not images.is_floating_point():
        raise BadInput(f"ofa: pictures are {images.dtype}; give floats in -1..1 (`Pixels.normalised`).")
    if images.numel():
        low, high = (float(x) for x in images.aminmax())
        if not -LARGEST <= low <= high <= LARGEST:  # also false for nan
            raise BadInput(f"ofa: pictures have values from {low:g} to {high:g}; normalise them to -1..1.")
