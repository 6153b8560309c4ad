"""Features of captions: the sentence embedding, what a reader sees of the surface, and the words.

Lengths count with their squares, because the crowd likes neither very short nor very long captions. Every feature is
bounded, so that a caption of any length weighs about as much as another. Words and punctuation marks are counted by
hash (Weinberger et al. 2009, Feature Hashing for Large Scale Multitask Learning): each adds 1 or -1 to one of BUCKETS,
and a caption's counts have the length 1.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SURFACE = (
    "log words",
    "log words squared",
    "log characters",
    "log characters squared",
    "word length",
    "punctuation",
    "question",
    "exclamation",
    "quotes",
    "capitals",
)
"""punctuation, capitals: shares of the characters. question, exclamation, quotes: 1 where there is such a mark."""
WORDS, CHARACTERS = (3, 25), (12, 130)
"""Lengths beyond these count as these; about 1 % of the real captions lie beyond each."""
BUCKETS = 512
ADDED = len(SURFACE) + BUCKETS
"""The number of features besides the vector's."""
_MIDDLE = (2.0, 3.7)  # near the mean logarithms, so that a length and its square are not nearly the same feature
_TOKEN = re.compile(r"\w+|[^\w\s]")


def features(vectors: NDArray[Any], captions: Sequence[str]) -> NDArray[np.float64]:
    """The features of captions [captions, dimensions + ADDED] from their unit vectors [captions, dimensions]."""
    return np.hstack([np.asarray(vectors, dtype=np.float64), surface(captions), _words(captions)])


def surface(captions: Sequence[str]) -> NDArray[np.float64]:
    """The features of captions that a reader sees, [captions, SURFACE]."""
    return np.array([_surface(text) for text in captions], dtype=np.float64).reshape(-1, len(SURFACE))


def _words(captions: Sequence[str]) -> NDArray[np.float64]:
    counts = np.zeros((len(captions), BUCKETS))
    for row, text in zip(counts, captions, strict=True):
        for token in _TOKEN.findall(text.casefold()):
            bits = zlib.crc32(token.encode("utf-8", "surrogatepass"))
            row[bits % BUCKETS] += 1 if bits & 1 << 31 else -1
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    return counts / np.where(lengths == 0, 1, lengths)


def _surface(text: str) -> tuple[float, ...]:
    words, characters = max(1, len(text.split())), max(1, len(text))
    log_words, log_characters = _bounded_log(words, *WORDS), _bounded_log(characters, *CHARACTERS)
    marks = sum(unicodedata.category(c).startswith("P") for c in text)
    capitals = sum(c.isupper() for c in text)
    return (
        log_words,
        (log_words - _MIDDLE[0]) ** 2,
        log_characters,
        (log_characters - _MIDDLE[1]) ** 2,
        min(max(characters / words, 3.0), 8.0) / 10,
        min(marks / characters, 0.2),
        float("?" in text),
        float("!" in text),
        float(any(mark in text for mark in '"“”')),
        min(capitals / characters, 0.2),
    )


def _bounded_log(count: int, low: int, high: int) -> float:
    return math.log(min(max(count, low), high))
