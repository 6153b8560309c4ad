"""The quality model as two classifiers of text, as Hessel et al. (ACL 2023, Appendix C) trained two T5-Large: any text
model of transformers that can classify sequences. Its folder has quality.json, and a transformers folder a half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from humor_tasks.data.writing import replacing, write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.devices import pick_device
from humor_tasks.models.quality.halves import SIDES, Halves
from humor_tasks.models.text.opening import open_reward, open_tokenizer

KIND = "text"
BATCH = 64
TOKENS = 64
"""Longer captions are cut; about one in a thousand is longer."""


@dataclass(eq=False)
class TextQuality(Halves):
    """Two networks with one output, the log-odds, and their tokenizer. name: the model that they were trained from."""

    name: str
    networks: tuple[Any, Any] = field(repr=False)
    tokenizer: Any = field(repr=False)
    contests: tuple[tuple[int, ...], tuple[int, ...]]

    def score_vectors(
        self, vectors: NDArray[Any], captions: Sequence[str], contests: Sequence[int | None]
    ) -> NDArray[np.float64]:
        """See `Halves`; the vectors are not used."""
        return self.score(captions, contests)

    def score(self, captions: Sequence[str], contests: Sequence[int | None]) -> NDArray[np.float64]:
        """See `Halves`."""
        both = np.stack([self._odds(network, captions) for network in self.networks])
        return self.of_unseen(both, contests)

    @torch.inference_mode()
    def _odds(self, network: Any, captions: Sequence[str]) -> NDArray[np.float64]:
        network.eval()
        found: list[float] = []
        for start in range(0, len(captions), BATCH):
            tokens = encoded(self.tokenizer, captions[start : start + BATCH]).to(network.device)
            found += network(**tokens).logits[:, 0].float().tolist()
        return np.array(found, dtype=np.float64)

    def save(self, folder: Path) -> None:
        """Write the model's folder, atomically."""
        seen = dict(zip(SIDES, map(list, self.contests), strict=True))
        with replacing(folder) as held:
            held.mkdir(parents=True)
            for side, network in zip(SIDES, self.networks, strict=True):
                network.save_pretrained(held / side)
                self.tokenizer.save_pretrained(held / side)
            write_json(held / "quality.json", {"kind": KIND, "model": self.name, "contests": seen})

    @classmethod
    def load(cls, folder: Path, about: dict[str, Any], device: str | None = None) -> TextQuality:
        """The model of a folder. Raises BadInput where a network is missing or damaged."""
        try:
            even, odd = (tuple(int(number) for number in about["contests"][side]) for side in SIDES)
            name = str(about["model"])
        except (KeyError, TypeError, ValueError) as problem:
            raise BadInput(f"{folder}: is no whole quality model ({problem!r:.100}); copy or build it again.") from None
        where = pick_device(device or "auto", "quality")
        first, second = (open_reward(str(folder / side)).to(where) for side in SIDES)
        return cls(name, (first, second), open_tokenizer(str(folder / SIDES[0])), (even, odd))


def encoded(tokenizer: Any, captions: Sequence[str]) -> Any:
    """A padded batch of captions."""
    return tokenizer(list(captions), padding=True, truncation=True, max_length=TOKENS, return_tensors="pt")
