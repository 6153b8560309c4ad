"""Contests with the same captions: one contest that was rated twice. The public files hold three such pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import combinations

SHARED = 0.5
"""Contests that share more than this part of the smaller one's captions are twins."""
FEWEST = 3
"""With fewer captions in common they are not: any two contests may have a common phrase."""
_SMALL = 256  # captions; between larger contests, and a larger and a smaller one, samples are compared
_SAMPLE = 16  # one caption of so many, the same ones in every contest


def twins(contests: Iterable[tuple[int, Iterable[str]]]) -> list[tuple[int, int]]:
    """The pairs of twins, the lower number first; contests: number and keys of all captions, one after the other."""
    small: dict[int, frozenset[str]] = {}
    sampled: dict[int, frozenset[str]] = {}
    for number, keys in contests:
        every = frozenset(keys)
        sampled[number] = frozenset(key for key in every if _is_sampled(key))
        if len(every) < _SMALL:
            small[number] = every
    return [
        (a, b)
        for a, b in combinations(sorted(sampled), 2)
        if _alike(*((small[a], small[b]) if a in small and b in small else (sampled[a], sampled[b])))
    ]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= FEWEST and common > SHARED * min(len(one), len(other))


def _is_sampled(key: str) -> bool:
    return hashlib.sha256(key.encode()).digest()[0] < 256 // _SAMPLE
