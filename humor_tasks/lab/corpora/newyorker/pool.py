"""Which captions of a contest are taken: selection, sentence vectors, clusters, and the two pools (stages 2 and 3).

Selection gives captions the roles that later stages need them for (Hessel et al. 2023, Appendix C):

| role | captions |
|---|---|
| finalist | the editors' finalists |
| crowd_top | the five best by crowd mean |
| train_top, train_bottom | the best and the worst 1,000 of a rated contest; at most half of it each |
| middle | the middle tertile by crowd mean |
| unrated | every caption of a contest without ratings |

Captions that a reader sees as the same (equal keys) count once, at the best place.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.models.choosers.embedding import open_model
from humor_tasks.models.choosers.shortcuts import punctuation
from humor_tasks.rows.contests.captions import key_of

CROWD_TOP = 5
TRAINING = 1000
DIVERSE = 3
KEPT = 0.7
"""Clusters of the okay pool, as a share of its captions."""
LOWEST = 0.25
"""The share of an unrated contest's captions that is left out for its predicted quality."""
TOKENS = 1024
"""Tokens of a batch with its padding, on a CPU; a GPU takes 64 times as many."""

Row = Mapping[str, Any]


# ---- selection ----------------------------------------------------------------------------------


def select(
    captions: Sequence[Row], finalists: Sequence[str], rated: bool
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The captions with a role, finalists first and then in the crowd's order, and counts.

    captions: the ingested captions in the crowd's order. A finalist has the crowd's mean and votes where the crowd
    rated the same caption.
    """
    first: dict[str, Row] = {}
    for row in captions:
        first.setdefault(row["key"], row)
    distinct = list(first.values())
    roles = _rated_roles(len(distinct)) if rated else [{"unrated"} for _ in distinct]
    taken: dict[str, dict[str, Any]] = {}
    for text in finalists:
        of_crowd = first.get(key_of(text), {"mean": None, "votes": None, "place": None})
        taken.setdefault(key_of(text), {**of_crowd, "caption": text, "key": key_of(text), "roles": {"finalist"}})
    for row, of_row in zip(distinct, roles, strict=True):
        if row["key"] in taken:
            taken[row["key"]]["roles"] |= of_row
        elif of_row:
            taken[row["key"]] = {**row, "roles": of_row}
    rows = [{**row, "roles": sorted(row["roles"])} for row in taken.values()]
    counts = {"duplicates": len(captions) - len(distinct), "captions": len(rows)}
    by_role = Counter(role for row in rows for role in row["roles"])
    return rows, counts | dict(sorted(by_role.items()))


def _rated_roles(n: int) -> list[set[str]]:
    """The roles of the captions at each place of a rated contest."""
    trained = min(TRAINING, n // 2)
    places = {
        "crowd_top": range(CROWD_TOP),
        "train_top": range(trained),
        "train_bottom": range(n - trained, n),
        "middle": range(n // 3, n - n // 3),
    }
    return [{role for role, of_role in places.items() if i in of_role} for i in range(n)]


# ---- sentence vectors ---------------------------------------------------------------------------
# Captions of similar length in tokens share a batch, so that little of it is padding, and batches hold a bounded number
# of tokens. Which captions share a batch decides the last bits of their vectors. Their content alone decides it, not
# the number of workers.


def embed(texts: Sequence[str], name: str, device: str | None = None) -> NDArray[np.float16]:
    """Unit vectors [texts, dimensions] of the model called `name`; each distinct text is embedded once.

    name: a sentence-transformers model, from the hub or a folder. Raises BadInput where it cannot be loaded.
    """
    model = _model(name, device)
    distinct = list(dict.fromkeys(texts))
    tokens = model.tokenizer(distinct, truncation=False, verbose=False)["input_ids"] if distinct else []
    lengths = [min(len(ids), model.max_seq_length or 512) for ids in tokens]
    order = sorted(range(len(distinct)), key=lambda i: (lengths[i], distinct[i]))
    vectors = np.zeros((len(distinct), model.get_embedding_dimension()), dtype=np.float16)
    budget = TOKENS * (1 if model.device.type == "cpu" else 64)
    for batch in batches([lengths[i] for i in order], budget):
        places = [order[i] for i in batch]
        vectors[places] = model.encode(
            [distinct[i] for i in places], batch_size=len(places), normalize_embeddings=True, show_progress_bar=False
        )
    where = {text: i for i, text in enumerate(distinct)}
    return vectors[[where[text] for text in texts]]


_model = lru_cache(maxsize=1)(open_model)


def batches(lengths: Sequence[int], budget: int) -> Iterator[range]:
    """Runs of texts in order of length, of at most `budget` tokens with padding, and of at least one text."""
    start = 0
    for end, length in enumerate(lengths):
        if end > start and (end + 1 - start) * length > budget:
            yield range(start, end)
            start = end
    if start < len(lengths):
        yield range(start, len(lengths))


# ---- clusters -----------------------------------------------------------------------------------


def cut(vectors: NDArray[Any], count: int) -> NDArray[np.intp]:
    """The cluster of each vector by agglomerative clustering, exact; numbered by the place of its first member.

    vectors: [n, dimensions] of any length, compared as float32; a zero vector is like no other. count: clusters, from 1
    to n. Memory is about 10 n^2 bytes; time grows with n^2.

    Average linkage: the two clusters with the highest mean cosine over their pairs of members are merged first. The
    sentence-embedding library that the paper uses documents agglomerative clustering for this purpose; it names no
    linkage. The mean cosine says how much two groups of captions say the same, and has no bias by size.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    n = len(vectors)
    if n < 2:
        return np.zeros(n, dtype=np.intp)
    whole = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(whole, axis=1, keepdims=True)  # float16 rounds them, too
    lengths[lengths == 0] = 1
    whole = whole / lengths
    apart = (1 - whole @ whole.T).clip(0)  # equal vectors may be 1e-7 more than equal
    tree = linkage(squareform(apart, checks=False), "average")
    mergers = n - max(1, count)
    clusters = fcluster(tree, mergers - 1, "monocrit", monocrit=np.arange(n - 1.0))  # the first mergers of the tree
    _, first, cluster = np.unique(clusters, return_index=True, return_inverse=True)
    return first.argsort().argsort()[cluster]


# ---- pools --------------------------------------------------------------------------------------


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
    top = [i for i, row in enumerate(rows) if "crowd_top" in row["roles"] and i not in official]
    crowd = diverse(top, vectors)
    high = {*official, *crowd}
    middle = [i for i, row in enumerate(rows) if "middle" in row["roles"] and i not in high]
    unrated = [i for i, row in enumerate(rows) if "unrated" in row["roles"] and i not in high]
    worst = sorted(unrated, key=lambda i: (quality[i], i))[: math.floor(LOWEST * len(unrated))]
    wide = sorted([*middle, *(set(unrated) - set(worst))])
    okay = distinct(wide, rows, vectors)
    sources = [*((i, "official_winner") for i in official), *((i, "crowd_winner") for i in crowd)]
    pooled = [_described(rows[i], i, source, quality[i]) for i, source in [*sources, *((i, "okay") for i in okay)]]
    counts = {"official": len(official), "of the crowd": len(crowd), "left out: lowest quality": len(worst)}
    return pooled, counts | {"okay with near-duplicates": len(wide), "okay": len(okay)}


def diverse(places: Sequence[int], vectors: NDArray[Any]) -> list[int]:
    """The first of each of three clusters of these places, which are in the crowd's order."""
    clusters = cut(np.asarray(vectors)[list(places)], min(DIVERSE, len(places)))
    return [places[int(np.flatnonzero(clusters == cluster)[0])] for cluster in np.unique(clusters)]


def distinct(places: Sequence[int], rows: Sequence[Row], vectors: NDArray[Any]) -> list[int]:
    """One of each of KEPT n clusters of these places: the one with the most votes, the first of equals."""
    clusters = cut(np.asarray(vectors)[list(places)], math.ceil(KEPT * len(places)))
    best: dict[int, int] = {}
    for place, cluster in zip(places, clusters.tolist(), strict=True):
        if cluster not in best or (rows[place]["votes"] or 0) > (rows[best[cluster]]["votes"] or 0):
            best[cluster] = place
    return sorted(best.values())


def _described(row: Row, place: int, source: str, quality: float) -> dict[str, Any]:
    text = row["caption"]
    features = {"words": len(text.split()), "characters": len(text), "punctuation": punctuation(text)}
    of_row = {name: row[name] for name in ("caption", "key", "mean", "votes")}
    return {**of_row, "source": source, "row": place, "quality": float(quality), **features}
