"""Ranking's pairs: the least cost by brute force, pools that are too small, the report."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.newyorker import ranking
from humor_tasks.lab.corpora.newyorker.ranking import Pair, balance


def drawn(h: int, o: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    vectors = [rng.normal(size=(n, 6)) for n in (h, o)]
    return (
        rng.normal(size=(h, 4)).round(2) * [1, 5, 30, 2],
        rng.normal(size=(o, 4)).round(2) * [1, 5, 30, 2],
        *(v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors),
    )


def cost(high: np.ndarray, okay: np.ndarray, u: np.ndarray, v: np.ndarray, weight: float) -> list[list[float]]:
    spread = [float(np.std([*high[:, f], *okay[:, f]])) or 1.0 for f in range(4)]
    return [
        [
            sum((5, 1, 1, 1)[f] * abs(a[f] - b[f]) / spread[f] for f in range(4)) + weight * float(np.dot(p, q))
            for b, q in zip(okay, v, strict=True)
        ]
        for a, p in zip(high, u, strict=True)
    ]


@given(h=st.integers(1, 4), o=st.integers(1, 6), seed=st.integers(0, 10**6), weight=st.sampled_from([0.0, 1.0, 7.0]))
def test_the_pairs_cost_least_of_all(h: int, o: int, seed: int, weight: float) -> None:
    high, okay, u, v = drawn(h, o, seed)
    costs = cost(high, okay, u, v, weight)
    found = ranking.assign(high, okay, u, v, weight)
    small = min(h, o)
    least = min(
        sum(costs[i][j] for i, j in zip(rows, columns, strict=True))
        for rows in itertools.combinations(range(h), small)
        for columns in itertools.permutations(range(o), small)
    )
    held = found.partner >= 0
    assert found.without == h - small == (~held).sum()
    assert len(set(found.partner[held])) == small
    pairs = [(i, found.partner[i]) for i in np.flatnonzero(held)]
    assert sum(costs[i][j] for i, j in pairs) == pytest.approx(least, abs=1e-4)
    assert found.cosine[held] == pytest.approx([u[i] @ v[j] for i, j in pairs], abs=1e-5)
    assert np.isnan(found.cosine[~held]).all()


def test_the_farthest_in_meaning_is_taken_among_equals() -> None:
    same = [[0.5, 6, 30, 1]]
    found = ranking.assign(same, same * 3, [[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert found.partner.tolist() == [1]


@pytest.mark.parametrize(("h", "o"), [(0, 3), (3, 0), (0, 0)])
def test_an_empty_side(h: int, o: int) -> None:
    found = ranking.assign(*drawn(h, o, 0))
    assert found.partner.tolist() == [-1] * h
    assert found.without == h


def test_what_is_not_finite_or_does_not_fit_is_named() -> None:
    high, okay, u, v = drawn(2, 3, 0)
    okay[1, 2] = math.nan
    with pytest.raises(BadInput, match=r"okay\[1\] is not finite"):
        ranking.assign(high, okay, u, v)
    with pytest.raises(BadInput, match=r"okay has the shape \(3, 3\)"):
        ranking.assign(high, okay[:, :3], u, v)
    with pytest.raises(BadInput, match="okay_vectors has the shape"):
        ranking.assign(high, drawn(2, 3, 0)[1], u, v[:2])


def test_balance() -> None:
    pairs = [
        Pair(1, "a", "b", "crowd_winner", [0.6, 5, 20, 1], [0.5, 5, 25, 1], 0.2),
        Pair(1, "c", "d", "crowd_winner", [0.7, 6, 30, 2], [0.8, 6, 25, 1], 0.0),
        Pair(2, "e", "f", "official_winner", [0.9, 9, 40, 1], [0.5, 5, 20, 1], 0.1),
    ]
    found = balance(pairs)
    assert found.pairs == 3
    assert found.differences["words"].value == pytest.approx(4 / 3)
    assert found.differences["words"].clusters == 2
    words = [5, 6, 9, 5, 6, 5]
    assert found.standardised["words"] == pytest.approx(4 / 3 / float(np.std(words)))
    assert found.cosine.value == pytest.approx(0.1)
    accuracies = {rule: estimate.value for rule, estimate in found.rules.items()}
    assert accuracies == pytest.approx(
        {"predicted quality": 2 / 3, "more words": 2 / 3, "longer": 2 / 3, "more punctuation": 2 / 3}
    )
    text = ranking.section(found)
    assert "| words | 1.333 [" in text
    assert "| longer | 0.667 [" in text


def test_balance_of_nothing() -> None:
    found = balance([])
    assert found.pairs == 0
    assert math.isnan(found.rules["longer"].value)
