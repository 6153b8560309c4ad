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
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.data.contests.captions import key_of
from humor_tasks.models.choosers.embedding import open_model
from humor_tasks.models.choosers.shortcuts import punctuation

CROWD_TOP = 5
TRAINING = 1000

Row = Mapping[str, Any]


def select(
    captions: Sequence[Row], finalists: Sequence[str], rated: bool
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The captions with a role, finalists first and then in the crowd's order, and counts.

    captions: the ingested captions in the crowd's order, see `ingest.COLUMNS`. A finalist has the crowd's mean and
    votes where the crowd rated the same caption.
    """
    first: dict[str, Row] = {}
    for row in captions:
        first.setdefault(row["key"], row)
    distinct = list(first.values())
    roles = _rated_roles(len(distinct)) if rated else [{"unrated"} for _ in distinct]
    taken: dict[str, dict[str, Any]] = {}
    for text in finalists:
        known = first.get(key_of(text), {"mean": None, "votes": None, "place": None})
        taken.setdefault(key_of(text), {**known, "caption": text, "key": key_of(text), "roles": {"finalist"}})
    for row, of in zip(distinct, roles, strict=True):
        if row["key"] in taken:
            taken[row["key"]]["roles"] |= of
        elif of:
            taken[row["key"]] = {**row, "roles": of}
    rows = [{**row, "roles": sorted(row["roles"])} for row in taken.values()]
    counts = {"duplicates": len(captions) - len(distinct), "captions": len(rows)}
    return rows, counts | {role: sum(role in row["roles"] for row in rows) for role in sorted(_all_roles(rows))}


def _rated_roles(n: int) -> list[set[str]]:
    """The roles of the captions at each place of a rated contest."""
    trained = min(TRAINING, n // 2)
    held: list[set[str]] = [set() for _ in range(n)]
    for name, start, stop in (
        ("crowd_top", 0, CROWD_TOP),
        ("train_top", 0, trained),
        ("train_bottom", n - trained, n),
        ("middle", n // 3, n - n // 3),
    ):
        for roles in held[start:stop]:
            roles.add(name)
    return held


def _all_roles(rows: Sequence[Row]) -> set[str]:
    return {role for row in rows for role in row["roles"]}


TOKENS = 1024
"""Tokens of a batch with its padding, on a CPU; a GPU takes 64 times as many."""


def embed(texts: Sequence[str], name: str, device: str | None = None) -> NDArray[np.float16]:
    """Unit vectors [texts, dimensions] of the model called `name`; each distinct text is embedded once.

    name: a sentence-transformers model, from the hub or a folder. Raises BadInput where it cannot be loaded.
    """
    model = _model(name, device)
    distinct = list(dict.fromkeys(texts))
    lengths = _lengths(model, distinct)
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


def batches(lengths: Sequence[int], budget: int) -> Iterator[range]:
    """Runs of texts in order of length, of at most `budget` tokens with padding, and of at least one text."""
    start = 0
    for end, length in enumerate(lengths):
        if end > start and (end + 1 - start) * length > budget:
            yield range(start, end)
            start = end
    if start < len(lengths):
        yield range(start, len(lengths))


def _lengths(model: Any, texts: list[str]) -> list[int]:
    if not texts:
        return []
    most = model.max_seq_length or 512
    return [min(len(ids), most) for ids in model.tokenizer(texts, truncation=False, verbose=False)["input_ids"]]


@lru_cache(maxsize=1)
def _model(name: str, device: str | None) -> Any:
    return open_model(name, device)


def cut(vectors: NDArray[Any], count: int) -> NDArray[np.intp]:
    """The cluster of each vector, numbered by the place of its first member.

    vectors: [n, dimensions] of any length; a zero vector is like no other. They are computed with as float32. count:
    clusters, from 1 to n. Of equally similar pairs the one with the first place is merged first. Memory is 4 n^2 bytes;
    time grows with n^2.
    """
    n = len(vectors)
    if not n:
        return np.empty(0, dtype=np.intp)
    whole = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(whole, axis=1, keepdims=True)  # float16 rounds them, too
    lengths[lengths == 0] = 1
    whole = whole / lengths
    similar = whole @ whole.T  # numpy computes one triangle of it
    np.fill_diagonal(similar, -np.inf)
    sizes = np.ones(n, dtype=np.float32)
    owner = np.arange(n)
    gone = np.zeros(n, dtype=np.float32)  # -inf for a cluster that is part of another
    nearest = similar.argmax(1)
    best = similar[owner, nearest]
    for _ in range(n - max(1, count)):
        first = int(best.argmax())
        a, b = sorted((first, int(nearest[first])))
        merged = (sizes[a] * similar[a] + sizes[b] * similar[b]) / (sizes[a] + sizes[b])
        merged[a] = -np.inf
        similar[a], similar[:, a] = merged, merged
        sizes[a] += sizes[b]
        owner[owner == b] = a
        gone[b] = best[b] = -np.inf
        stale = np.append(np.flatnonzero(((nearest == a) | (nearest == b)) & (best > -np.inf)), a)
        rows = similar[stale] + gone  # cheaper than to write a column of the matrix
        nearest[stale] = rows.argmax(1)
        best[stale] = rows[np.arange(len(stale)), nearest[stale]]
    return np.unique(owner, return_inverse=True)[1]


DIVERSE = 3
KEPT = 0.7
"""Clusters of the okay pool, as a share of its captions."""
LOWEST = 0.25
"""The share of an unrated contest's captions that is left out for its predicted quality."""


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
    counted = {"words": len(text.split()), "characters": len(text), "punctuation": punctuation(text)}
    copied = {name: row[name] for name in ("caption", "key", "mean", "votes")}
    return {**copied, "source": source, "row": place, "quality": float(quality), **counted}
