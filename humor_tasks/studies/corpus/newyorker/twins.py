"""Contests with the same captions: one contest that was rated twice. The public files hold three such pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import combinations

SHARED = 0.5
"""Contests that share more than this part of the smaller one's captions are twins."""
_SAMPLE = 16  # one caption of so many is compared, the same ones in every contest


def twins(contests: Iterable[tuple[int, Iterable[str]]]) -> list[tuple[int, int]]:
    """The pairs of twins, the lower number first; contests: number and keys of all captions, one after the other."""
    held = {number: sample(keys) for number, keys in contests}
    return [
        (a, b)
        for a, b in combinations(sorted(number for number, each in held.items() if each), 2)
        if len(held[a] & held[b]) > SHARED * min(len(held[a]), len(held[b]))
    ]


def sample(keys: Iterable[str]) -> frozenset[str]:
    """The captions that are compared, chosen by their hash; all of a contest with few."""
    every = frozenset(keys)
    if len(every) < 16 * _SAMPLE:
        return every
    return frozenset(key for key in every if hashlib.sha256(key.encode()).digest()[0] < 256 // _SAMPLE)
