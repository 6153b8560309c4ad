"""Features of captions: the sentence embedding, and what a reader sees of the surface."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SURFACE = ("log words", "log characters", "word length", "punctuation", "question", "exclamation", "quotes", "capitals")
"""punctuation, capitals: shares of the characters. question, exclamation, quotes: 1 where there is such a mark."""


def features(vectors: NDArray[Any], captions: Sequence[str]) -> NDArray[np.float64]:
    """The features of captions [captions, dimensions + 8] from their unit vectors [captions, dimensions]."""
    surface = np.array([_surface(text) for text in captions], dtype=np.float64).reshape(-1, len(SURFACE))
    return np.hstack([np.asarray(vectors, dtype=np.float64), surface])


def _surface(text: str) -> tuple[float, ...]:
    words, characters = max(1, len(text.split())), max(1, len(text))
    marks = sum(unicodedata.category(c).startswith("P") for c in text)
    capitals = sum(c.isupper() for c in text)
    return (
        math.log(words),
        math.log(characters),
        min(20.0, characters / words) / 10,
        marks / characters,
        float("?" in text),
        float("!" in text),
        float(any(mark in text for mark in '"“”')),
        capitals / characters,
    )
