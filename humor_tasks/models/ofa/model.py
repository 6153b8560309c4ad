"""OFA inference: a network on a device, and generation from pictures and texts."""

from __future__ import annotations

import threading
from pathlib import Path

import torch

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.devices import DTYPES, pick_device
from humor_tasks.models.ofa import weights
from humor_tasks.models.ofa.generation import Hypothesis, generate
from humor_tasks.models.ofa.settings import GenerationSettings

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
        self._lock = threading.RLock()

    @classmethod
    def load(cls, name: str | Path, device: str = "auto", precision: str = "auto", revision: str | None = None) -> Ofa:
        """Load a checkpoint's folder, OWNER/NAME of the hub at `revision`, or random/SIZE.

        device: auto is CUDA, else MPS, else the CPU. precision: fp32 or bf16, of weights and computation; auto is bf16
        on CUDA and fp32 elsewhere. Raises BadInput for a missing model, mismatched weights or an unavailable device.
        """
        where = pick_device(device, "ofa")  # validated before a download
        check_choice("ofa: precision", precision, PRECISIONS)
        if precision == "auto":
            precision = "bf16" if where.type == "cuda" else "fp32"
        return cls(weights.open_network(name, where, DTYPES[precision], revision), str(name))

    def generate(
        self,
        patch_images: torch.Tensor | None,
        input_ids: torch.Tensor | None,
        settings: GenerationSettings | None = None,
    ) -> list[list[Hypothesis]]:
        """Each input's hypotheses, best first: as many as beams, or fewer where fewer were finished.

        patch_images [B, 3, H, W] in -1..1; input_ids [B, T], padded on the right; one of them may be None. Raises
        BadInput for wrong shapes, for token ids outside the vocabulary, and for lengths that exceed the positions.
        """
        if input_ids is not None:
            if input_ids.numel() and not 0 <= int(input_ids.min()) <= int(input_ids.max()) < self.config.vocab_size:
                raise BadInput(
                    f"ofa: token ids go from 0 to {self.config.vocab_size - 1}; are they of another vocabulary?"
                )
            input_ids = input_ids.to(self.device)
        if patch_images is not None:
            patch_images = patch_images.to(self.device, self.dtype, memory_format=torch.channels_last)
        with self._lock, torch.inference_mode():
            return generate(
                self.network, self.network.encode(input_ids, patch_images), settings or GenerationSettings()
            )

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` reads; it does not include the vocabulary."""
        weights.save(Path(folder).expanduser(), self.network)
