"""The features of a frozen backbone, computed once per picture and kept for all epochs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa import Describer

MEMORY = 4 << 30
"""Bytes of features kept in memory, per process; 700 cartoons of 480 pixels take 2.6 GB in fp32, half in bf16."""


class Features:
    """Backbone features by contest, in the precision that computed them.

    Pictures go through the backbone one at a time: a picture's features then do not depend on the batch in which it
    first occurs, and an interrupted run resumes with identical values. What exceeds `MEMORY`
    is written to a nameless file in `folder`, which disappears with the process. Processes keep their own.
    """

    def __init__(self, compute: Callable[[torch.Tensor], torch.Tensor], folder: Path) -> None:
        self._compute, self._folder, self._memory = compute, folder, MEMORY
        self._kept: dict[str, torch.Tensor] = {}
        self._places: dict[str, int] = {}
        self._file: IO[bytes] | None = None
        self._like = torch.empty(0)

    def add(self, contest: str, pixels: torch.Tensor) -> None:
        """Compute and keep a contest's features from its pixels, uint8 [size, size, 3].

        Raises BadInput where the file cannot be written.
        """
        with torch.no_grad():
            found = self._compute(pixels[None])[0].cpu().contiguous()
        self._memory -= found.nbytes
        if self._memory >= 0:
            self._kept[contest] = found
        else:
            self._like = torch.empty_like(found, device="meta")
            self._write(contest, found)

    def __contains__(self, contest: str) -> bool:
        return contest in self._kept or contest in self._places

    def __getitem__(self, contest: str) -> torch.Tensor:
        """[C, h, w] on the CPU."""
        if contest in self._kept:
            return self._kept[contest]
        assert self._file is not None
        read = bytearray(self._like.nbytes)
        self._file.seek(self._places[contest])
        self._file.readinto(read)  # type: ignore[attr-defined]
        return torch.frombuffer(read, dtype=self._like.dtype).view(self._like.shape)

    def _write(self, contest: str, found: torch.Tensor) -> None:
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (open as long as this object)
            place = self._file.seek(0, 2)
            self._file.write(found.view(torch.uint8).numpy().tobytes())
            self._file.flush()
        except OSError as problem:  # mostly a full disk
            raise BadInput(
                f"{self._folder}: the features of the frozen backbone cannot be written ({problem}); free disk space, "
                "or train without freeze_resnet."
            ) from None
        self._places[contest] = place


def backbone(describer: Describer, autocast: Callable[[], object]) -> Callable[[torch.Tensor], torch.Tensor]:
    """uint8 pictures [B, size, size, 3] -> features [B, C, h, w], under the training's precision."""

    def compute(pictures: torch.Tensor) -> torch.Tensor:
        with autocast():  # type: ignore[attr-defined]
            shown = describer.pixels.normalised(pictures.to(describer.ofa.device))
            return describer.ofa.network.encoder.features(shown)

    return compute
