"""`krippendorff_alpha`: the enumeration of pairs, slopes of the error, and edges."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.rated import FOUR_RATERS

from humor_tasks import scorers
from humor_tasks.errors import BadInput

METRICS = ("nominal", "ordinal", "interval", "ratio")
N = None
Numbers = list[list[float | None]]

tables = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([0, 1, 2, 3.5, 7, None]), min_size=raters, max_size=raters), min_size=1, max_size=12
    )
)


def distance(metric: str, a: float, b: float, pairable: dict[float, float]) -> float:
    if metric == "nominal":
        return float(a != b)
    if metric == "interval":
        return (a - b) ** 2
    if metric == "ratio":
        return ((a - b) / (a + b)) ** 2 if a + b else 0.0
    low, high = sorted((a, b))
    return (sum(n for k, n in pairable.items() if low <= k <= high) - (pairable[a] + pairable[b]) / 2) ** 2


def brute(ratings: Numbers, metric: str, weights: list[float] | None = None, correct: bool = True) -> float:
    """Alpha by enumerating pairs of ratings, item i counting weights[i] times; uncorrected, without its -1."""
    rows = [[rating for rating in row if rating is not None] for row in ratings]
    weighted = [(row, w) for row, w in zip(rows, weights or [1.0] * len(rows), strict=True) if len(row) > 1]
    pairable: dict[float, float] = {}
    for row, w in weighted:
        for rating in row:
            pairable[rating] = pairable.get(rating, 0) + w
    n = sum(pairable.values())
    apart = sum(
        w * distance(metric, a, b, pairable) / (len(row) - 1)
        for row, w in weighted
        for a, b in itertools.permutations(row, 2)
    )
    chance = sum(x * y * distance(metric, a, b, pairable) for a, x in pairable.items() for b, y in pairable.items())
    return 1 - (n - correct) * apart / chance if chance else math.nan


@given(tables, st.sampled_from(METRICS))
def test_equals_the_enumeration_of_pairs(ratings: Numbers, metric: str) -> None:
    estimate = scorers.krippendorff_alpha(ratings, metric=metric)
    assert estimate.value == pytest.approx(brute(ratings, metric), abs=1e-9, nan_ok=True)
    assert estimate.n == estimate.clusters == sum(len(row) - row.count(None) > 1 for row in ratings)


@pytest.mark.parametrize("metric", METRICS)
def test_the_error_is_that_of_the_slopes_in_the_weights_of_items(metric: str) -> None:
    """The delta method by finite differences: exact where all items have as many ratings."""
    rng = random.Random(3)
    ratings: Numbers = []
    for _ in range(25):
        truth = rng.randint(1, 5)
        ratings.append([truth if rng.random() < 0.5 else rng.randint(1, 5) for _ in range(3)])
    h, slopes = 1e-6, []
    for i in range(25):
        up, down = ([1 + sign * h if j == i else 1.0 for j in range(25)] for sign in (1, -1))
        slopes.append((brute(ratings, metric, up, False) - brute(ratings, metric, down, False)) / (2 * h))
    expected = math.sqrt(sum(slope**2 for slope in slopes) * 25 / 24)
    assert sum(slopes) == pytest.approx(0, abs=1e-6)
    assert scorers.krippendorff_alpha(ratings, metric=metric).stderr == pytest.approx(expected, rel=1e-6)


@given(tables)
def test_ordinal_looks_at_order_alone(ratings: Numbers) -> None:
    words = {0: "none", 1: "little", 2: "some", 3.5: "much", 7: "all", None: None}
    spelt = [[words[rating] for rating in row] for row in ratings]
    bent = [[None if rating is None else rating**3 - 5 for rating in row] for row in ratings]
    order = ["none", "little", "some", "much", "all"]
    plain = scorers.krippendorff_alpha(ratings, metric="ordinal")
    for other in (
        scorers.krippendorff_alpha(spelt, metric="ordinal", categories=order),
        scorers.krippendorff_alpha(spelt, metric="ordinal", categories=order[::-1]),
        scorers.krippendorff_alpha(bent, metric="ordinal"),
        scorers.krippendorff_alpha(ratings, metric="ordinal", categories=[9, 7, 3.5, 2, 1, 0]),  # numbers have theirs
    ):
        assert other.value == pytest.approx(plain.value, abs=1e-9, nan_ok=True)
        assert other.stderr**2 == pytest.approx(plain.stderr**2, abs=1e-9, nan_ok=True)


def test_two_categories_have_one_alpha() -> None:
    ratings = [[0, 1, 1], [0, 0, None], [1, 1, 1], [0, 0, 1], [1, 0, None]]
    found = [scorers.krippendorff_alpha(ratings, metric=metric) for metric in METRICS]
    for estimate in found:
        assert estimate.value == pytest.approx(found[0].value)


@pytest.mark.parametrize("metric", METRICS)
def test_edges(metric: str) -> None:
    def alpha(ratings: list[list[int | None]], clusters: str | None = None) -> scorers.Estimate:
        return scorers.krippendorff_alpha(ratings, clusters, metric)

    for ratings in ([], [[N, N]], [[1, N], [N, 2]], [[1, 1], [1, 1]], [[3, 3, 3]], [[0, 0], [1, N]]):
        found = alpha(ratings)
        assert all(math.isnan(x) for x in (found.value, found.stderr, found.low, found.high))
    assert alpha([[1, 1], [2, 2]]).value == 1
    assert alpha([[1, 1], [2, 2]]).stderr == 0
    assert alpha([[1, 2]]).value == pytest.approx(0)
    assert math.isnan(alpha([[1, 2]]).stderr)
    one = alpha([[1, 1], [1, 2], [2, N]], "xxy")  # the pairs are of one cluster
    assert (math.isnan(one.value), math.isnan(one.stderr), one.n, one.clusters) == (False, True, 2, 1)


@pytest.mark.parametrize(
    ("ratings", "arguments", "message"),
    [
        ([["a", "b"]], {"metric": "ordinal"}, "finite numbers, or `categories` that list them in order"),
        ([["a", "b"]], {"metric": "interval", "categories": "ab"}, "'interval' needs ratings that are finite numbers;"),
        ([["1", "2"]], {"metric": "ratio"}, "found '1'"),
        ([[1, math.inf]], {"metric": "interval"}, "found inf"),
        ([[1, math.inf]], {"metric": "ordinal", "categories": [1, math.inf]}, "found inf"),
        ([[1, -2]], {"metric": "ratio"}, "ratings of 0 or more; found -2.0"),
        ([[1, 2]], {"metric": "cardinal"}, "metric is 'cardinal'; it must be one of nominal, ordinal, interval, ratio"),
        ([[1, 2], [3, 1]], {"categories": [1, 2]}, r"ratings\[1\]\[0\] is 3, which is not among the categories"),
        ([[1, 2], [3]], {}, r"ratings\[1\] has 1 ratings"),
        ([[1, 2]], {"clusters": "ab"}, "ratings has 1, clusters has 2"),
    ],
)
def test_bad_input_is_named(ratings: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        scorers.krippendorff_alpha(ratings, **arguments)


def test_many_raters_and_many_values_take_little_memory_and_time() -> None:
    """Neither a matrix of items by values nor one of values by values is made."""
    rng = random.Random(0)
    votes = [[rng.randint(1, 5) for _ in range(5_000)] for _ in range(6)]
    assert abs(scorers.krippendorff_alpha(votes, metric="ordinal").value) < 0.01
    spread = [[mean + rng.gauss(0, 1) for _ in range(3)] for mean in (rng.gauss(0, 1) for _ in range(1_000))]
    assert scorers.krippendorff_alpha(spread, metric="interval").value == pytest.approx(0.5, abs=0.1)


def test_four_raters_with_missing_ratings_by_cluster() -> None:
    single = scorers.krippendorff_alpha(FOUR_RATERS, metric="ratio")
    merged = scorers.krippendorff_alpha(FOUR_RATERS, "aabbccddeeff", "ratio")
    assert (merged.value, merged.n, merged.clusters) == (single.value, 11, 6)
    assert merged.stderr != single.stderr
