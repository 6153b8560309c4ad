"""The trained quality model and its folder: `quality.json` and `weights.npy`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.data.reading import parse_json, read_body
from humor_tasks.data.writing import replacing, write_json
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.quality.features import ADDED, BUCKETS, SURFACE, features
from humor_tasks.models.quality.halves import Halves

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
class Quality(Halves):
    """Two discriminants, of the even and of the odd contests: weights [2, features] in log-odds, the mean of their
    features, and the contests that each was trained on.
    """

    encoder: Encoder
    weights: NDArray[np.float64]
    centre: NDArray[np.float64]
    contests: tuple[tuple[int, ...], tuple[int, ...]]
    embedding: Embedding | None = None

    def score_vectors(
        self, vectors: NDArray[Any], captions: Sequence[str], contests: Sequence[int | None]
    ) -> NDArray[np.float64]:
        """See `Halves`."""
        x = features(vectors, captions)
        both = np.stack([(x - self.centre[i]) @ self.weights[i] for i in (0, 1)])  # [2, captions]
        return self.of_unseen(both, contests)

    def score(self, captions: Sequence[str], contests: Sequence[int | None]) -> NDArray[np.float64]:
        """`score_vectors` of captions that are embedded here."""
        if self.embedding is None:
            raise ValueError("this quality model was not loaded with its encoder")
        return self.score_vectors(self.embedding.embed(captions), captions, contests)

    def save(self, folder: Path) -> None:
        """Write the model's folder, atomically."""
        about = {
            "format": FORMAT,
            "encoder": self.encoder.name,
            "probes": np.asarray(self.encoder.probes).tolist(),
            "surface": list(SURFACE),
            "buckets": BUCKETS,
            "contests": {"even": list(self.contests[0]), "odd": list(self.contests[1])},
        }
        with replacing(folder) as held:
            held.mkdir(parents=True)
            np.save(held / "weights.npy", np.stack([self.weights, self.centre]), allow_pickle=False)
            write_json(held / "quality.json", about)


def load(folder: Path, encoder: str | None = None, device: str | None = None, vectors_only: bool = False) -> Halves:
    """The model of a folder. encoder: where its sentence-embedding model is now. vectors_only: without loading that.

    Raises BadInput where a file is missing or damaged, and for another encoder than that of training.
    """
    path, weights_path = folder / "quality.json", folder / "weights.npy"
    about = parse_json(path, read_body(path))
    if isinstance(about, dict) and about.get("kind") == "text":
        from humor_tasks.models.quality.text import TextQuality

        return TextQuality.load(folder, about, device)
    try:
        written = (about["format"], about["surface"], about["buckets"])
        even, odd = (tuple(int(number) for number in about["contests"][side]) for side in ("even", "odd"))
        known = Encoder(str(about["encoder"]), np.array(about["probes"], dtype=np.float64))
    except (KeyError, TypeError, ValueError) as problem:
        raise BadInput(f"{path}: is no whole quality model ({problem!r:.100}); copy or build it again.") from None
    if written != (FORMAT, list(SURFACE), BUCKETS):
        raise BadInput(f"{path}: was written by another version of humor-tasks; build the corpus again.")
    weights, centre = _arrays(weights_path, (2, 2, known.probes.shape[-1] + ADDED))
    if known.probes.shape[:-1] != (len(PROBES),) or not np.isfinite(known.probes).all():
        raise BadInput(f"{path}: probes are not {len(PROBES)} finite vectors; copy or build it again.")
    found = Quality(known, weights, centre, (even, odd))
    return found if vectors_only else _with_encoder(found, encoder or known.name, device, folder)


def _arrays(path: Path, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The finite numbers of a file, of this shape."""
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise BadInput(f"{path}: cannot be read ({problem}); copy or build the quality model again.") from None
    if not isinstance(found, np.ndarray) or found.dtype != np.float64 or found.shape != shape:
        raise BadInput(f"{path}: is not for the encoder and features of quality.json; copy or build both again.")
    if not np.isfinite(found).all():
        raise BadInput(f"{path}: has weights that are not finite; copy or build the quality model again.")
    return found


def _with_encoder(found: Quality, name: str, device: str | None, folder: Path) -> Quality:
    try:
        model = Embedding(name, device)
    except BadInput as problem:
        raise BadInput(f"{folder}: {problem} Give the place of its sentence-embedding model as encoder=.") from None
    probes = np.asarray(model.embed(PROBES), dtype=np.float64)
    known = found.encoder.probes
    if probes.shape != known.shape or not (np.abs(probes - known) <= _CLOSE).all():
        raise BadInput(
            f"{folder}: {name} is not the encoder that it was trained with, '{found.encoder.name}'; name that one with "
            "encoder=."
        )
    return replace(found, embedding=model)
