"""Pictures that two splits or two groups share: by their bytes, and by what they show."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.corpora.audit.findings import Finding, counted, found
from humor_tasks.corpora.audit.items import Item, Items
from humor_tasks.corpora.audit.repeated import shared_in_folds
from humor_tasks.errors import BadInput

SIDE = 8
MOST_DIFFERENT = 4
"""Bits of 64 in which the hashes of similar pictures differ at most."""
_BLOCK = 512


@dataclass(frozen=True)
class Known:
    """A picture: the SHA-256 of its bytes, and its difference hash."""

    sha256: str
    hashed: int


def pictures(data: Items) -> list[Finding]:
    """Findings on the rows' pictures; none where the dataset has none. A picture that cannot be read is one."""
    known: dict[str, Known] = {}
    unreadable: list[str] = []
    hashes: dict[str, int] = {}
    for item in data.items:
        if item.picture is None:
            continue
        try:
            sha256 = item.picture.sha256()
            if sha256 not in hashes:
                hashes[sha256] = difference_hash(item.picture.open())
            known[item.where] = Known(sha256, hashes[sha256])
        except BadInput as problem:
            unreadable.append(f"{item.where}: {problem}")
    with_pictures = [item for item in data.items if item.where in known]
    shared = shared_in_folds(data, lambda item: [known[item.where].sha256] if item.where in known else [])
    in_splits = [f"{sha256}: {first.where} and {other.where}" for sha256, first, other in shared]
    lost = f"{counted(len(unreadable), 'picture')} that cannot be read."
    return [
        *found("unreadable_picture", "error", lost, unreadable),
        *found("picture_in_two_splits", "error", f"{counted(len(in_splits), 'picture')} in two splits.", in_splits),
        *(_between_groups(with_pictures, known) if data.grouped else []),
    ]


def _between_groups(items: Sequence[Item], known: dict[str, Known]) -> list[Finding]:
    firsts: dict[str, Item] = {}
    groups: dict[str, set[Hashable]] = {}
    same: dict[str, str] = {}
    for item in items:
        sha256 = known[item.where].sha256
        first = firsts.setdefault(sha256, item)
        groups.setdefault(sha256, set()).add(item.group)
        if first.group != item.group:
            same.setdefault(sha256, f"{sha256}: {first.where} and {item.where}")
    names = list(firsts)
    near = [
        f"{firsts[names[i]].where} and {firsts[names[j]].where} ({bits} of {SIDE * SIDE} bits differ)"
        for i, j, bits in alike([known[firsts[name].where].hashed for name in names])
        if groups[names[i]].isdisjoint(groups[names[j]])
    ]
    return [
        *found(
            "picture_in_two_groups", "warning", f"{counted(len(same), 'picture')} of two groups.", list(same.values())
        ),
        *found("similar_picture", "warning", f"{counted(len(near), 'pair')} of similar pictures of two groups.", near),
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
