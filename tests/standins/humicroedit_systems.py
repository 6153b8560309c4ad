"""Headlines, pairs and systems of Humicroedit in a few lines, and word vectors at random."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from humor_tasks.results.analysis.humicroedit import (
    Analysis,
    Headline,
    Pair,
    System,
    analyse,
)

SAMPLE = {"dataset": "sample", "split": "test"}
GOLD = (0.0, 0.4, 1.0, 1.8, 2.4, 3.0)
HEADLINES = tuple(Headline(str(i), f"h{i // 2}", f"Minister [eats → juggles] {i}", g) for i, g in enumerate(GOLD))
PAIRS = tuple(
    Pair(
        f"{a}-{b}", (str(a), str(b)), f"h{a // 2}", 2, (f"old{a}", f"old{b}"), (f"new{a}", f"new{b}"), GOLD[b] - GOLD[a]
    )
    for a, b in itertools.combinations(range(len(GOLD)), 2)
)


def rating_system(name: str, *ratings: float | None) -> System:
    return System(name, {str(i): r for i, r in enumerate(ratings)}, {})


def picker(name: str, pick: Callable[[int], int | None]) -> System:
    return System(name, {}, {pair.id: pick(i) for i, pair in enumerate(PAIRS)})


GOOD = rating_system("good", *(0.5 + g / 2 for g in GOLD))
FLAT = rating_system("flat", *[1.0] * len(GOLD))
EVEN = picker("even", lambda i: 2 if i % 2 == 0 else 1)


class Vectors:
    """Random vectors; `unknown` words have none. Keeps what it was asked."""

    def __init__(self, *unknown: str) -> None:
        self.unknown, self.asked = unknown, []  # type: tuple[str, ...], list[list[str]]

    def __call__(self, words: Sequence[str]) -> Any:
        self.asked.append(list(words))
        rows = [np.random.default_rng(sum(map(ord, word))).normal(size=4) for word in words]
        return np.array([0 * row if word in self.unknown else row for word, row in zip(words, rows, strict=True)])


def everything(*systems: System, embed: Any = None, most: int = 2) -> Analysis:
    return analyse(HEADLINES, PAIRS, systems, embed, most)
