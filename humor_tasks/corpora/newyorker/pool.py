"""Stages 2b and 3: the high-quality set and the okay pool of a contest (Hessel et al. 2023, Appendix C)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.corpora.newyorker.clusters import cut

DIVERSE = 3
KEPT = 0.7
"""Clusters of the okay pool, as a share of its captions."""
LOWEST = 0.25
"""The share of an unrated contest's captions that is left out for its predicted quality."""

Row = Mapping[str, Any]


def pool(
    rows: Sequence[Row], vectors: NDArray[Any], quality: Sequence[float]
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The captions of the high-quality set, then of the okay pool, with their `source` and features; and counts.

    rows: the selected captions (see `select`); vectors and quality: theirs. Of the crowd's five best, three are kept
    that are far apart: the best of each of three clusters. A caption that is a finalist as well is official. Captions
    of the okay pool that say the same are clustered, and the one with the most votes, whose mean is known best, is
    kept.
    """
    official = [i for i, row in enumerate(rows) if "finalist" in row["roles"]]
    crowd = diverse(
        [i for i, row in enumerate(rows) if "crowd_top" in row["roles"] and i not in set(official)], vectors
    )
    high = {*official, *crowd}
    middle = [i for i, row in enumerate(rows) if "middle" in row["roles"] and i not in high]
    unrated = [i for i, row in enumerate(rows) if "unrated" in row["roles"] and i not in high]
    worst = sorted(unrated, key=lambda i: (quality[i], i))[: math.floor(LOWEST * len(unrated))]
    wide = sorted([*middle, *(set(unrated) - set(worst))])
    okay = distinct(wide, rows, vectors)
    sources = [*((i, "official_winner") for i in official), *((i, "crowd_winner") for i in crowd)]
    found = [_described(rows[i], i, source, quality[i]) for i, source in [*sources, *((i, "okay") for i in okay)]]
    counts = {"official": len(official), "of the crowd": len(crowd), "left out: lowest quality": len(worst)}
    return found, counts | {"okay with near-duplicates": len(wide), "okay": len(okay)}


def diverse(places: Sequence[int], vectors: NDArray[Any]) -> list[int]:
    """The first of each of three clusters of these places, which are in the crowd's order."""
    clusters = cut(np.asarray(vectors)[list(places)], min(DIVERSE, len(places)))
    return [places[int(np.flatnonzero(clusters == each)[0])] for each in np.unique(clusters)]


def distinct(places: Sequence[int], rows: Sequence[Row], vectors: NDArray[Any]) -> list[int]:
    """One of each of KEPT n clusters of these places: the one with the most votes, the first of equals."""
    clusters = cut(np.asarray(vectors)[list(places)], math.ceil(KEPT * len(places)))
    best: dict[int, int] = {}
    for place, cluster in zip(places, clusters.tolist(), strict=True):
        if cluster not in best or (rows[place]["votes"] or 0) > (rows[best[cluster]]["votes"] or 0):
            best[cluster] = place
    return sorted(best.values())


def punctuation(text: str) -> int:
    """The number of punctuation marks of a text (Unicode's category P)."""
    return sum(unicodedata.category(c).startswith("P") for c in text)


def _described(row: Row, place: int, source: str, quality: float) -> dict[str, Any]:
    text = row["caption"]
    counted = {"words": len(text.split()), "characters": len(text), "punctuation": punctuation(text)}
    kept = {name: row[name] for name in ("caption", "key", "mean", "votes")}
    return {**kept, "source": source, "row": place, "quality": float(quality), **counted}
