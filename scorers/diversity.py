"""How different captions are from each other: by their n-grams, and by their embeddings.

Both are for one contest's captions. The published figures (Zhang et al. 2024, arXiv 2406.10522, Table 6) are means over
contests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humor_tasks.errors import BadInput

from .arrays import Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_UNIT = 1e-2  # by which a unit vector's length may miss 1: vectors may come in half precision


def average_ead(captions: Sequence[str], vocabulary: int = 32_000, longest: int = 5) -> float:
    """Expectation-adjusted distinct n-grams of `captions`, averaged over n = 1 ... `longest`.

    A caption's words are what single spaces separate, without full stops and line breaks and with their case. With the
    n-grams of all captions pooled, `total` of them and V = `vocabulary`:

        EAD_n = distinct / (V (1 - ((V - 1) / V)^total))

    The denominator is the number of distinct ones among `total` draws from V equally frequent ones (Liu, Sabour et al.
    2022, "Rethinking and Refining the Distinct Metric"), so that more captions do not count as less diverse. An n that
    exceeds every caption's length does not count; nan where no caption has a word. Raises BadInput on a vocabulary of
    fewer than two words and on `longest` below 1.
    """
    if vocabulary < 2 or longest < 1:
        raise BadInput(f"vocabulary is {vocabulary} and longest {longest}; they are at least 2 and 1.")
    tokens = [[word for word in caption.replace(".", "").replace("\n", "").split(" ") if word] for caption in captions]
    distinct = []
    for n in range(1, longest + 1):
        grams = [tuple(words[i : i + n]) for words in tokens for i in range(len(words) - n + 1)]
        if grams:
            distinct.append(len(set(grams)) / (vocabulary * (1 - ((vocabulary - 1) / vocabulary) ** len(grams))))
    return sum(distinct) / len(distinct) if distinct else float("nan")


def embedding_diversity(vectors: ArrayLike) -> float:
    """1 - the mean of all inner products of unit `vectors` [n, d], each with itself among them.

    n orthogonal vectors have 1 - 1/n, which is .9 for ten; equal ones have 0. This is the published "SBERT" diversity
    of a contest's captions. It is computed as 1 - |mean vector|^2. nan without a vector. Raises BadInput on another
    shape and on vectors that are not of length 1.
    """
    import numpy as np

    rows: Floats = np.asarray(vectors, dtype=float)
    if rows.size == 0:
        return float("nan")
    if rows.ndim != 2:
        raise BadInput(f"vectors have the shape {rows.shape}; expected one row of numbers per caption.")
    lengths = np.linalg.norm(rows, axis=1)
    if not (abs(lengths - 1) <= _UNIT).all():
        row = int(np.flatnonzero(~(abs(lengths - 1) <= _UNIT))[0])
        raise BadInput(f"vectors[{row}] has the length {lengths[row]:.4g}: divide each vector by its length.")
    centre = rows.mean(axis=0)
    return float(1 - centre @ centre)
