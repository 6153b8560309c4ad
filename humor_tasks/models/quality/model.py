"""The trained quality model, its folder, and the model as a Chooser.

The folder holds `quality.json`, and `weights.npy` of linear discriminants or a transformers folder for each half of a
text model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import parse_json, read_body
from humor_tasks.files.writing import replacing, write_json
from humor_tasks.models.choosers.chooser import Chooser, Question, check_ranks
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.quality.features import ADDED, BUCKETS, SURFACE, features

SIDES = ("even", "odd")
Contests = tuple[tuple[int, ...], tuple[int, ...]]
"""The numbers of the contests that each half was trained on."""


class Halves(ABC):
    """Two judges of captions, each trained on the contests of one parity."""

    contests: Contests

    @abstractmethod
    def log_odds(self, captions: Sequence[str], vectors: NDArray[Any] | None) -> NDArray[np.float64]:
        """The log-odds by both halves [2, captions] that each caption is one of the crowd's best.

        They are the odds among as many of the best as of the worst captions; their logistic is a probability. vectors
        [captions, dimensions]: the captions' unit vectors, computed where they are None.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model's folder, atomically."""

    def score(
        self, captions: Sequence[str], contests: Sequence[int | None], vectors: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """Log-odds [captions], as `log_odds`; contests: the number of each caption's contest, None where unknown.

        A contest that one half saw is judged by the other one; the others by the mean of both.
        """
        judges = {contest: self.judge(contest) for contest in set(contests)}
        scores = [
            both.mean() if judges[contest] is None else both[judges[contest]]
            for both, contest in zip(self.log_odds(captions, vectors).T, contests, strict=True)
        ]
        return np.array(scores, dtype=np.float64)

    def judge(self, contest: int | None) -> int | None:
        """Which half judges a contest: the one that has not seen it, 0 or 1; None for both."""
        even, odd = self._seen
        return 1 if contest in even else 0 if contest in odd else None

    @cached_property
    def _seen(self) -> tuple[frozenset[int], frozenset[int]]:
        return frozenset(self.contests[0]), frozenset(self.contests[1])


def sides_of(contests: Iterable[int], same: Iterable[tuple[int, int]]) -> dict[int, int]:
    """contest -> 0 for the even half, 1 for the odd one; contests with the same captions are on one side."""
    lower: dict[int, int] = {}

    def lowest(contest: int) -> int:
        while contest in lower:
            contest = lower[contest]
        return contest

    twins = list(same)
    for pair in twins:
        a, b = sorted(map(lowest, pair))
        if a != b:
            lower[b] = a
    return {contest: lowest(contest) % 2 for contest in {*contests, *chain.from_iterable(twins)}}


def load(folder: Path, encoder: str | None = None, device: str | None = None, vectors_only: bool = False) -> Halves:
    """The model of a folder. encoder: where its sentence-embedding model is now. vectors_only: without loading that.

    Raises BadInput where a file is missing or damaged, and for another encoder than that of training.
    """
    path = folder / "quality.json"
    about = parse_json(path, read_body(path))
    if isinstance(about, dict) and about.get("kind") == KIND:
        return TextQuality.load(folder, about, device)
    try:
        written = (about["format"], about["surface"], about["buckets"])
        contests = _contests(about)
        trained_with = Encoder(str(about["encoder"]), np.array(about["probes"], dtype=np.float64))
    except (KeyError, TypeError, ValueError) as problem:
        raise BadInput(f"{path}: is no whole quality model ({problem!r:.100}); copy or build it again.") from None
    if written != (FORMAT, list(SURFACE), BUCKETS):
        raise BadInput(f"{path}: was written by another version of humor-tasks; build the corpus again.")
    weights, centre = _arrays(folder / "weights.npy", (2, 2, trained_with.probes.shape[-1] + ADDED))
    if trained_with.probes.shape[:-1] != (len(PROBES),) or not np.isfinite(trained_with.probes).all():
        raise BadInput(f"{path}: probes are not {len(PROBES)} finite vectors; copy or build it again.")
    model = Quality(trained_with, weights, centre, contests)
    return model if vectors_only else _with_encoder(model, encoder or trained_with.name, device, folder)


def _contests(about: Mapping[str, Any]) -> Contests:
    even, odd = (tuple(int(number) for number in about["contests"][side]) for side in SIDES)
    return even, odd


# ---- linear discriminants of features -----------------------------------------------------------

FORMAT = 1
PROBES = ("A dog walks into a bar.", "Is this seat taken?", "I said no pickles!")
"""Sentences whose vectors distinguish encoders."""
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
    contests: Contests
    embedding: Embedding | None = None

    def log_odds(self, captions: Sequence[str], vectors: NDArray[Any] | None) -> NDArray[np.float64]:
        """See `Halves`."""
        if vectors is None:
            if self.embedding is None:
                raise ValueError("this quality model was not loaded with its encoder")
            vectors = self.embedding.embed(captions)
        x = features(vectors, captions)
        return np.stack([(x - self.centre[i]) @ self.weights[i] for i in (0, 1)])

    def save(self, folder: Path) -> None:
        """Write the model's folder, atomically."""
        about = {
            "format": FORMAT,
            "encoder": self.encoder.name,
            "probes": np.asarray(self.encoder.probes).tolist(),
            "surface": list(SURFACE),
            "buckets": BUCKETS,
            "contests": dict(zip(SIDES, map(list, self.contests), strict=True)),
        }
        with replacing(folder) as home:
            home.mkdir(parents=True)
            np.save(home / "weights.npy", np.stack([self.weights, self.centre]), allow_pickle=False)
            write_json(home / "quality.json", about)


def _arrays(path: Path, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The finite numbers of a file, of this shape."""
    try:
        arrays = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise BadInput(f"{path}: cannot be read ({problem}); copy or build the quality model again.") from None
    if not isinstance(arrays, np.ndarray) or arrays.dtype != np.float64 or arrays.shape != shape:
        raise BadInput(f"{path}: is not for the encoder and features of quality.json; copy or build both again.")
    if not np.isfinite(arrays).all():
        raise BadInput(f"{path}: has weights that are not finite; copy or build the quality model again.")
    return arrays


def _with_encoder(model: Quality, name: str, device: str | None, folder: Path) -> Quality:
    try:
        embedding = Embedding(name, device)
    except BadInput as problem:
        raise BadInput(f"{folder}: {problem} Give the place of its sentence-embedding model as encoder=.") from None
    probes, expected = np.asarray(embedding.embed(PROBES), dtype=np.float64), model.encoder.probes
    if probes.shape != expected.shape or not (np.abs(probes - expected) <= _CLOSE).all():
        raise BadInput(
            f"{folder}: {name} is not the encoder that it was trained with, '{model.encoder.name}'; name that one with "
            "encoder=."
        )
    return replace(model, embedding=embedding)


# ---- two classifiers of text --------------------------------------------------------------------
# As Hessel et al. (ACL 2023, Appendix C) trained two T5-Large: any text model of transformers that can classify
# sequences.

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
    contests: Contests

    def log_odds(self, captions: Sequence[str], vectors: NDArray[Any] | None) -> NDArray[np.float64]:
        """See `Halves`; the vectors are not used."""
        return np.array([self._log_odds(network, captions) for network in self.networks], dtype=np.float64)

    def _log_odds(self, network: Any, captions: Sequence[str]) -> list[float]:
        import torch

        network.eval()
        scores: list[float] = []
        with torch.inference_mode():
            for start in range(0, len(captions), BATCH):
                tokens = encoded(self.tokenizer, captions[start : start + BATCH]).to(network.device)
                scores += network(**tokens).logits[:, 0].float().tolist()
        return scores

    def save(self, folder: Path) -> None:
        """Write the model's folder, atomically."""
        contests = dict(zip(SIDES, map(list, self.contests), strict=True))
        with replacing(folder) as home:
            home.mkdir(parents=True)
            for side, network in zip(SIDES, self.networks, strict=True):
                network.save_pretrained(home / side)
                self.tokenizer.save_pretrained(home / side)
            write_json(home / "quality.json", {"kind": KIND, "model": self.name, "contests": contests})

    @classmethod
    def load(cls, folder: Path, about: Mapping[str, Any], device: str | None = None) -> TextQuality:
        """The model of a folder. Raises BadInput where a network is missing or damaged."""
        from humor_tasks.models.devices import pick_device
        from humor_tasks.models.text.pretrained import open_reward, open_tokenizer

        try:
            contests, name = _contests(about), str(about["model"])
        except (KeyError, TypeError, ValueError) as problem:
            raise BadInput(f"{folder}: is no whole quality model ({problem!r:.100}); copy or build it again.") from None
        where = pick_device(device or "auto", "quality")
        first, second = (open_reward(str(folder / side)).to(where) for side in SIDES)
        return cls(name, (first, second), open_tokenizer(str(folder / SIDES[0])), contests)


def encoded(tokenizer: Any, captions: Sequence[str]) -> Any:
    """A padded batch of captions."""
    return tokenizer(list(captions), padding=True, truncation=True, max_length=TOKENS, return_tensors="pt")


# ---- a Chooser ------------------------------------------------------------------------------------


class QualityChooser(Chooser):
    """Scores are log-odds. A contest that the model was trained on is judged by its half that has not seen it.

    folder: of `humor-tasks build newyorker`. encoder: the sentence-embedding model, where it is elsewhere than at
    training. Raises BadInput as `load` does.
    """

    def __init__(self, folder: str, encoder: str | None = None, device: str | None = None) -> None:
        self.quality = load(Path(folder), encoder, device)
        self.name = f"quality/{folder}"

    def check(self, question: Question) -> None:
        """Raise BadInput where there is no choice of captions."""
        check_ranks(question, self.name)

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`."""
        captions = [choice for q in questions for choice in q.choices]
        if not captions:
            return []
        contests = [int(q.cluster) if q.cluster.isdecimal() else None for q in questions for _ in q.choices]
        scores = iter(self.quality.score(captions, contests).tolist())
        return [[next(scores) for _ in q.choices] for q in questions]
