"""`cohen_kappa`: textbook formulas, symmetries, and clusters."""

from __future__ import annotations

import math
import random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput

NAN, N = math.nan, None
Weights = Literal["linear", "quadratic"] | None
WEIGHTS: tuple[Weights, ...] = (None, "linear", "quadratic")

pairs = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)


def brute(rated: list[tuple[int, int]], weights: Weights) -> tuple[float, float]:
    """(po - pe) / (1 - pe) with weights of agreement; Fleiss, Cohen and Everitt's equation 8 with n - 1 for n."""

    def w(a: int, b: int) -> float:
        return float(a == b) if weights is None else 1 - (abs(a - b) / 4) ** (1 if weights == "linear" else 2)

    n, grades = len(rated), range(1, 6)
    p = {(a, b): rated.count((a, b)) / n for a in grades for b in grades}
    row = {a: sum(p[a, b] for b in grades) for a in grades}
    column = {b: sum(p[a, b] for a in grades) for b in grades}
    po = sum(share * w(a, b) for (a, b), share in p.items())
    pe = sum(row[a] * column[b] * w(a, b) for a in grades for b in grades)
    if pe > 1 - 1e-9:
        return NAN, NAN
    of_row = {a: sum(column[b] * w(a, b) for b in grades) for a in grades}
    of_column = {b: sum(row[a] * w(a, b) for a in grades) for b in grades}
    total = sum(
        share * (w(a, b) * (1 - pe) - (of_row[a] + of_column[b]) * (1 - po)) ** 2 for (a, b), share in p.items()
    )
    variance = (total - (po * pe - 2 * pe + po) ** 2) / (n - 1) / (1 - pe) ** 4
    return (po - pe) / (1 - pe), math.sqrt(max(variance, 0))


@given(pairs, st.sampled_from(WEIGHTS))
def test_equals_the_textbook_formulas(rated: list[tuple[int, int]], weights: Weights) -> None:
    value, stderr = brute(rated, weights)
    estimate = scorers.cohen_kappa(*zip(*rated, strict=True), weights=weights)
    assert estimate.value == pytest.approx(value, abs=1e-9, nan_ok=True)
    assert estimate.stderr**2 == pytest.approx(stderr**2, abs=1e-9, nan_ok=True)
    assert estimate.n == estimate.clusters == len(rated)


@given(pairs, st.sampled_from(WEIGHTS), st.randoms(use_true_random=False))
def test_neither_order_nor_unit_nor_the_words_for_categories_matter(
    rated: list[tuple[int, int]], weights: Weights, rng: random.Random
) -> None:
    plain = scorers.cohen_kappa(*zip(*rated, strict=True), weights=weights)
    shuffled = rng.sample(rated, len(rated))
    second, first = zip(*shuffled, strict=True)
    spelt = [["-abcde"[grade] for grade in side] for side in (first, second)]
    for other in (
        scorers.cohen_kappa([3 * x - 7 for x in first], [3 * x - 7 for x in second], weights=weights),
        scorers.cohen_kappa(*spelt, categories="abcde", weights=weights),
        scorers.cohen_kappa(*spelt, categories="edcba", weights=weights),
    ):
        assert other.value == pytest.approx(plain.value, abs=1e-9, nan_ok=True)
        assert other.stderr**2 == pytest.approx(plain.stderr**2, abs=1e-9, nan_ok=True)


def test_numbers_stand_where_they_are() -> None:
    """A grade that nobody gives, 4, still lies between 3 and 5."""
    first, second = [1, 2, 3, 5, 3], [1, 3, 3, 3, 5]
    far = scorers.cohen_kappa(first, second, weights="linear").value
    near = scorers.cohen_kappa([1, 2, 3, 4, 3], [1, 3, 3, 3, 4], weights="linear").value
    assert far == scorers.cohen_kappa(first, second, categories=[1, 2, 3, 4, 5], weights="linear").value
    assert far < near


@given(st.lists(st.integers(1, 4), min_size=2, max_size=12), st.integers(1, 4), st.sampled_from(WEIGHTS))
def test_a_rater_who_always_says_the_same_has_exactly_0(first: list[int], same: int, weights: Weights) -> None:
    estimate = scorers.cohen_kappa(first, [same] * len(first), weights=weights)
    if set(first) == {same}:
        assert math.isnan(estimate.value)
    else:
        assert (estimate.value, estimate.stderr) == (0, pytest.approx(0, abs=1e-12))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_full_agreement_and_missing_ratings(weights: Weights) -> None:
    full = scorers.cohen_kappa([1, 2, 3], [1, 2, 3], weights=weights)
    assert (full.value, full.stderr) == (1, 0)
    gaps = scorers.cohen_kappa([1, 2, N, 2, 3], [1, 3, 2, N, 3], "aabbc", weights=weights)
    assert repr(gaps) == repr(scorers.cohen_kappa([1, 2, 3], [1, 3, 3], "aac", weights=weights))
    for first, second in (([], []), ([N], [1]), ([1, 1], [1, 1])):
        undefined = scorers.cohen_kappa(first, second, weights=weights)
        assert all(math.isnan(x) for x in (undefined.value, undefined.stderr, undefined.high))


def test_doubled_items_in_clusters_of_two_have_the_error_of_single_ones() -> None:
    first, second = [1, 2, 3, 1, 2, 2, 3, 1], [1, 2, 2, 1, 3, 2, 3, 2]
    single = scorers.cohen_kappa(first, second)
    doubled = scorers.cohen_kappa(first * 2, second * 2, list(range(8)) * 2)
    assert doubled.stderr == pytest.approx(single.stderr)
    assert doubled.high == pytest.approx(single.high)
    assert scorers.cohen_kappa(first * 2, second * 2).stderr == pytest.approx(single.stderr * math.sqrt(7 / 15))


@pytest.mark.parametrize(
    ("first", "second", "arguments", "message"),
    [
        ([1], [1, 2], {}, "first has 1, second has 2"),
        ([1], [1], {"clusters": "ab"}, "ratings has 1, clusters has 2"),
        ([1, 2], [1, NAN], {}, r"ratings\[1\]\[1\] is nan"),
        (
            ["a"],
            ["b"],
            {"weights": "linear"},
            "weights='linear' needs ratings that are finite numbers, or `categories`",
        ),
        ([1], [2], {"weights": "squared"}, "weights is 'squared'; it must be None, 'linear' or 'quadratic'"),
        ([1], [2], {"categories": [1]}, r"ratings\[0\]\[1\] is 2, which is not among the categories \[1\]"),
        ([1], [2], {"level": 0}, "level is 0"),
    ],
)
def test_bad_input_is_named(first: Any, second: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        scorers.cohen_kappa(first, second, **arguments)
