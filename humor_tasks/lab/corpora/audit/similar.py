"""Near-duplicates: texts by MinHash, pictures by a difference hash (and by their bytes).

Texts: MinHash over character shingles proposes pairs, their exact Jaccard similarity decides. Broder 1997, "On the
resemblance and containment of documents": the share of equal components of two MinHash signatures estimates the Jaccard
similarity of the sets of shingles. Signatures of 64 components are cut into 16 bands of 4; texts with an equal band are
compared. A pair of similarity .8 has one with probability 1 - (1 - .8^4)^16 = .9998 if components are independent.
Those of rensa's signatures (Dahlgaard, Knudsen and Thorup 2017, "Fast similarity sketching") vary less, and fewer pairs
are missed.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.audit.items import Finding, Item, Items, finding, key
from humor_tasks.lab.corpora.audit.repeated import shared_in_folds, text_with

ALIKE = 0.8
"""Jaccard similarity from which texts are near-duplicates."""
SHINGLE = 4
SHORTEST = 15
"""Letters and digits of the shortest text that is compared; shorter ones are alike by accident."""
LONGEST = 20_000
"""Letters and digits of a text that are compared."""
BANDS, PER_BAND = 16, 4
SEED = 1
MOST_COMPARED = 8
"""Texts with an equal band that are all compared with each other; of more, each with the first and the one before."""


def near_pairs(keys: Sequence[str]) -> list[tuple[int, int, float]]:
    """(i, j, Jaccard similarity) of near-duplicates among distinct texts, i < j, in order."""
    compared = [i for i, text in enumerate(keys) if len(text) >= SHORTEST]
    if len(compared) < 2:
        return []
    sets = [shingles(keys[i]) for i in compared]
    signatures = _signatures(sets)
    pairs: set[tuple[int, int]] = set()
    for band in range(BANDS):
        pairs.update(_equal(signatures[:, band * PER_BAND : (band + 1) * PER_BAND]))
    scored = ((a, b, jaccard(sets[a], sets[b])) for a, b in sorted(pairs))
    return [(compared[a], compared[b], score) for a, b, score in scored if score >= ALIKE]


def shingles(text: str) -> frozenset[bytes]:
    """The distinct runs of SHINGLE characters."""
    text = text[:LONGEST]
    return frozenset(text[i : i + SHINGLE].encode("utf-8", "replace") for i in range(len(text) - SHINGLE + 1))


def jaccard(a: frozenset[bytes], b: frozenset[bytes]) -> float:
    """The share of the shingles of either text that both have."""
    both = len(a & b)
    return both / (len(a) + len(b) - both)


def _signatures(sets: Sequence[frozenset[bytes]]) -> Any:
    """A matrix [texts, BANDS x PER_BAND]."""
    import numpy as np

    try:
        from rensa import RMinHash
    except ImportError:
        raise BadInput(
            "near-duplicates need rensa: install the extra 'corpus' (pip install 'humor-tasks[corpus]')."
        ) from None
    blocks = (sets[i : i + _BLOCK] for i in range(0, len(sets), _BLOCK))  # as Python's numbers they are large
    made = (RMinHash.digests_from_token_sets(block, BANDS * PER_BAND, SEED) for block in blocks)
    return np.concatenate([np.array(block, dtype=np.uint32) for block in made])


def _equal(band: Any) -> Iterator[tuple[int, int]]:
    """Pairs of rows that are equal in a band."""
    import numpy as np

    order = np.lexsort(band.T)
    same = (band[order[1:]] == band[order[:-1]]).all(axis=1)
    edges = np.flatnonzero(np.diff(same, prepend=False, append=False))  # where runs of equal rows start and end
    for start, end in edges.reshape(-1, 2).tolist():
        run = order[start : end + 1].tolist()
        if len(run) <= MOST_COMPARED:
            yield from itertools.combinations(run, 2)
        else:
            yield from ((run[0], b) for b in run[1:])
            yield from itertools.pairwise(run[1:])


def near_duplicates(data: Items) -> list[Finding]:
    """Texts that are almost the same, in two splits of a fold or in two groups of a split.

    Equal texts are not told here, nor texts of one group, which are alike because they share a scene.
    """
    return [one for what in ("text", "scene") for one in _near_duplicates(data, what)]


def _near_duplicates(data: Items, what: str) -> list[Finding]:
    places: dict[str, dict[str, Item]] = {}
    groups: dict[str, set[Hashable]] = {}
    for item in data.items:
        for text_key in map(key, item.compared(what)):
            places.setdefault(text_key, {}).setdefault(item.part, item)
            groups.setdefault(text_key, set()).add(item.group)
    keys = list(places)
    between: list[str] = []
    within: list[str] = []
    for i, j, score in near_pairs(keys):
        a, b = keys[i], keys[j]
        pair = _nearest(data, places[a], places[b]) if groups[a].isdisjoint(groups[b]) else None
        if pair is not None:
            one, other = pair
            texts = f"{text_with(a, one.compared(what))} / {text_with(b, other.compared(what))}"
            row = f"{one.where} and {other.where}: {texts} ({score:.2f})"
            (within if one.part == other.part else between).append(row)
    alike = f"of {what}s with {ALIKE:.0%} of their runs of {SHINGLE} characters in common"
    return [
        *finding("near_duplicate_in_two_splits", "warning", "pair", f"{alike}, in two splits.", between),
        *finding("near_duplicate", "note", "pair", f"{alike}, in two groups.", within),
    ]


def _nearest(data: Items, a: dict[str, Item], b: dict[str, Item]) -> tuple[Item, Item] | None:
    """Two rows of one fold, in two splits if there are such, with these texts."""
    pairs = [(x, y) for x in a.values() for y in b.values() if data.parts[x.part].fold == data.parts[y.part].fold]
    return next((pair for pair in pairs if pair[0].part != pair[1].part), pairs[0] if pairs else None)


# ---- pictures -----------------------------------------------------------------------------------

SIDE = 8
MOST_DIFFERENT = 4
"""Bits of 64 in which the hashes of similar pictures differ at most."""
_BLOCK = 512


def pictures(data: Items) -> list[Finding]:
    """Findings on the rows' pictures; none where the dataset has none. A picture that cannot be read is one."""
    sha256_of: dict[str, str] = {}  # by the row's place
    hashes: dict[str, int] = {}
    unreadable: list[str] = []
    for item in data.items:
        if item.picture is None:
            continue
        try:
            sha256 = item.picture.sha256()
            if sha256 not in hashes:
                hashes[sha256] = difference_hash(item.picture.open())
            sha256_of[item.where] = sha256
        except BadInput as problem:
            unreadable.append(f"{item.where}: {problem}")
    shared = shared_in_folds(data, lambda item: [sha256_of[item.where]] if item.where in sha256_of else [])
    in_splits = [f"{sha256}: {first.where} and {other.where}" for sha256, first, other in shared]
    return [
        *finding("unreadable_picture", "error", "picture", "that cannot be read.", unreadable),
        *finding("picture_in_two_splits", "error", "picture", "in two splits.", in_splits),
        *(_between_groups(data, sha256_of, hashes) if data.grouped else []),
    ]


def _between_groups(data: Items, sha256_of: dict[str, str], hashes: dict[str, int]) -> list[Finding]:
    firsts: dict[str, Item] = {}
    groups: dict[str, set[Hashable]] = {}
    same: dict[str, str] = {}
    for item in data.items:
        if sha256 := sha256_of.get(item.where):
            first = firsts.setdefault(sha256, item)
            groups.setdefault(sha256, set()).add(item.group)
            if first.group != item.group:
                same.setdefault(sha256, f"{sha256}: {first.where} and {item.where}")
    names = list(firsts)
    near = [
        f"{firsts[names[i]].where} and {firsts[names[j]].where} ({bits} of {SIDE * SIDE} bits differ)"
        for i, j, bits in alike([hashes[name] for name in names])
        if groups[names[i]].isdisjoint(groups[names[j]])
    ]
    return [
        *finding("picture_in_two_groups", "warning", "picture", "of two groups.", same.values()),
        *finding("similar_picture", "warning", "pair", "of similar pictures of two groups.", near),
    ]


def difference_hash(image: Any) -> int:
    """64 bits: whether each of 8 x 8 grey values is less than the one to its right, of the picture scaled to 9 x 8.

    Another size, format or compression changes few bits.
    """
    from PIL import Image

    grey = list(image.convert("L").resize((SIDE + 1, SIDE), Image.Resampling.LANCZOS).tobytes())
    rows = [grey[i : i + SIDE + 1] for i in range(0, len(grey), SIDE + 1)]
    bits = [a < b for row in rows for a, b in itertools.pairwise(row)]
    return sum(bit << i for i, bit in enumerate(bits))


def alike(hashes: Sequence[int]) -> list[tuple[int, int, int]]:
    """(i, j, number of bits that differ) of similar pictures, i < j. A picture without contrast is like no other."""
    import numpy as np

    every = np.array(hashes, dtype=np.uint64)
    plain = np.bitwise_count(every) < SIDE
    pairs = []
    for start in range(0, len(every), _BLOCK):
        different = np.bitwise_count(every[start : start + _BLOCK, None] ^ every[None, :])
        for a, b in zip(*np.nonzero(different <= MOST_DIFFERENT), strict=True):
            i, j = start + int(a), int(b)
            if i < j and not plain[i] and not plain[j]:
                pairs.append((i, j, int(different[a, b])))
    return pairs
