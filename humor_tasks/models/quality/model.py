"""The trained quality model and its folder: `quality.json` and `weights.npy`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.data.reading import parse_json, read_body
from humor_tasks.data.writing import replacing, write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.quality.features import SURFACE, features

FORMAT = 1
PROBES = ("A dog walks into a bar.", "Is this seat taken?", "I said no pickles!")
"""Sentences whose vectors tell one encoder from another."""
_CLOSE = 0.02  # of their unit vectors; precision and devices change less


@dataclass(frozen=True)
class Encoder:
    """The sentence-embedding model of the features: its name or folder, and its vectors of PROBES [3, dimensions]."""

    name: str
    probes: NDArray[Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, model: Embedding, name: str) -> Encoder:
        """The encoder called `name`, loaded as `model`."""
        return cls(name, np.round(np.asarray(model.embed(PROBES), dtype=np.float64), 4))


@dataclass(frozen=True, eq=False)
class Quality:
    """Two discriminants [2, features] in log-odds, with the mean of their features, and the contests each has seen.

    parity: contest -> the model of its side, for twins of contests of the other parity; `number % 2` for all others.
    """

    encoder: Encoder
    weights: NDArray[np.float64]
    centre: NDArray[np.float64]
    contests: tuple[tuple[int, ...], tuple[int, ...]]
    parity: Mapping[int, int] = field(default_factory=dict)
    embedding: Embedding | None = None

    def score_vectors(
        self, vectors: NDArray[Any], captions: Sequence[str], contests: Sequence[int | None]
    ) -> NDArray[np.float64]:
        """Log-odds that each caption is one of the crowd's best [captions], from its unit vector.

        contests: the number of each caption's contest, None where it is unknown. A contest that one model saw is judged
        by the other one; the others by the mean of both.
        """
        x = features(vectors, captions)
        both = np.stack([(x - self.centre[i]) @ self.weights[i] for i in (0, 1)])  # [2, captions]
        by = {contest: self.judge(contest) for contest in set(contests)}
        sides = [by[contest] for contest in contests]
        found = [both[:, i].mean() if side is None else both[side, i] for i, side in enumerate(sides)]
        return np.array(found, dtype=np.float64)

    def judge(self, contest: int | None) -> int | None:
        """Which model judges a contest: 1, that of the odd ones, where model 0 saw it; None for both."""
        for side in (0, 1):
            if contest is not None and contest in self._seen[side]:
                return 1 - side
        return None

    def score(self, captions: Sequence[str], contests: Sequence[int | None]) -> NDArray[np.float64]:
        """`score_vectors` of captions that are embedded here."""
        if self.embedding is None:
            raise ValueError("this quality model was not loaded with its encoder")
        return self.score_vectors(self.embedding.embed(captions), captions, contests)

    @property
    def _seen(self) -> tuple[frozenset[int], frozenset[int]]:
        return frozenset(self.contests[0]), frozenset(self.contests[1])

    def save(self, folder: Path) -> None:
        """Write the model's folder, atomically."""
        about = {
            "format": FORMAT,
            "encoder": self.encoder.name,
            "probes": np.asarray(self.encoder.probes).tolist(),
            "surface": list(SURFACE),
            "contests": {"even": list(self.contests[0]), "odd": list(self.contests[1])},
        }
        with replacing(folder) as held:
            held.mkdir(parents=True)
            np.save(held / "weights.npy", np.stack([self.weights, self.centre]), allow_pickle=False)
            write_json(held / "quality.json", about)


def load(folder: Path, encoder: str | None = None, device: str | None = None, vectors_only: bool = False) -> Quality:
    """The model of a folder. encoder: where its sentence-embedding model is now. vectors_only: without loading that.

    Raises BadInput where a file is missing or damaged, and for another encoder than that of training.
    """
    path = folder / "quality.json"
    about = parse_json(path, read_body(path))
    try:
        if about["format"] != FORMAT or about["surface"] != list(SURFACE):
            raise BadInput(f"{path}: was written by another version of humor-tasks; build the corpus again.")
        probes = np.array(about["probes"], dtype=np.float64)
        contests = (tuple(about["contests"]["even"]), tuple(about["contests"]["odd"]))
        name = str(about["encoder"])
        weights, centre = np.load(folder / "weights.npy", allow_pickle=False)
    except (KeyError, TypeError, ValueError, OSError) as problem:
        raise BadInput(f"{folder}: is no whole quality model ({problem!r:.100}); copy or build it again.") from None
    fits = probes.ndim == 2 and weights.shape == centre.shape == (2, probes.shape[-1] + len(SURFACE))
    if not fits or not np.isfinite([weights, centre]).all():
        raise BadInput(f"{folder}: its weights do not fit its encoder, or are not finite; copy or build it again.")
    found = Quality(Encoder(name, probes), weights, centre, contests)
    return found if vectors_only else _with_encoder(found, encoder or name, device, folder)


def _with_encoder(found: Quality, name: str, device: str | None, folder: Path) -> Quality:
    model = Embedding(name, device)
    probes = np.asarray(model.embed(PROBES), dtype=np.float64)
    if probes.shape != found.encoder.probes.shape or np.abs(probes - found.encoder.probes).max() > _CLOSE:
        raise BadInput(
            f"{folder}: {name} is not the encoder that it was trained with, '{found.encoder.name}'; name that one with "
            "encoder=."
        )
    return Quality(found.encoder, found.weights, found.centre, found.contests, found.parity, model)
