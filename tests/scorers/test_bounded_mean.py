"""Intervals of ratings: against Clopper and Pearson, a simulated Gaffke bound, by hand, by properties and coverage."""

from __future__ import annotations

import dataclasses
import math

import bounded_coverage
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, t

from humor_tasks import scorers
from humor_tasks.errors import BadInput

rows = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.5, 4.0, 5.0]), st.sampled_from("abcdefgh")), min_size=2, max_size=40
).filter(lambda drawn: len({cluster for _, cluster in drawn}) > 1)


def split(drawn: list[tuple[float, str]]) -> tuple[list[float], list[str]]:
    return [value for value, _ in drawn], [cluster for _, cluster in drawn]


def bounds(estimate: scorers.Estimate) -> list[float]:
    return [estimate.low, estimate.high]


# ---- known results ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        ([5, 5, 5], [2.1696, 5]),  # 1 + 4 (.025)^(1/3)
        ([1, 1, 1], [1, 3.8304]),
        ([3, 3, 3], [1.5848, 4.4152]),  # 3 -+ 2 (1 - (.025)^(1/3))
        ([5] * 50, [4.7155, 5]),
        ([4] * 10, [4 - 3 * (1 - 0.025**0.1), 4 + (1 - 0.025**0.1)]),
        ([5, 5], [1 + 4 * 0.025**0.5, 5]),
    ],
)
def test_equal_ratings_have_the_interval_of_what_was_not_seen(ratings: list[float], expected: list[float]) -> None:
    found = scorers.bounded_mean(ratings, range(len(ratings)), 1, 5)
    assert bounds(found) == pytest.approx(expected, abs=1e-4)
    assert (found.value, found.stderr) == (ratings[0], 0)


@pytest.mark.parametrize("level", [0.8, 0.99])
@pytest.mark.parametrize("n", [2, 10, 528])
def test_at_an_end_it_is_the_interval_of_a_proportion(n: int, level: float) -> None:
    for value in (0.0, 1.0):
        found = scorers.bounded_mean([value] * n, range(n), 0, 1, level)
        assert bounds(found) == pytest.approx(bounds(scorers.clustered_proportion([value] * n, range(n), level)))


def test_the_formula_by_hand() -> None:
    """4, 4, 4 and 2 of 1 to 5: d (1, 1, 1, -3) / 32, r 84 / 144 - 1/4, g 4."""
    found = scorers.bounded_mean([4, 4, 4, 2], range(4), 1, 5)
    m, stderr = 0.625, math.sqrt(12 / 32**2 * 4 / 3)
    w = 1 / (1 + (7 * (84 / 144 - 1 / 4)) ** 2) / (1 + (12 / 4) ** 2)

    def unseen(m: float, least: float) -> float:
        mean = ((4 * m + 1) / 5 - least) / (1 - least)
        variance = (12 * stderr**2 + 4 * (1 - m) ** 2 / 5) / 30 / (1 - least) ** 2
        rows = mean * (1 - mean) / variance - 1
        return least + (1 - least) * float(beta.ppf(0.975, mean * rows, (1 - mean) * rows))

    half = float(t.ppf(0.975, 3)) * stderr
    low = w * max(m - half, 0) + (1 - w) * (1 - unseen(1 - m, 0.25))
    high = w * min(m + half, 1) + (1 - w) * unseen(m, 0.25)
    assert bounds(found) == pytest.approx([1 + 4 * low, 1 + 4 * high], rel=1e-9)


def test_ratings_that_vary_have_the_t_interval() -> None:
    """As many clusters of each rating from 1 to 5 as make the variance known; the t interval lies on the scale."""
    ratings = [1.0, 2.0, 3.0, 4.0, 5.0] * 20
    found, mean = scorers.bounded_mean(ratings, range(100), 1, 5), scorers.clustered_mean(ratings, range(100))
    assert bounds(found) == pytest.approx(bounds(mean), abs=2e-3)


@pytest.mark.parametrize("ratings", [[5, 5, 5, 4, 5, 5, 2, 5], [3, 3, 3, 3, 3, 2, 3, 3, 3, 4], [1, 1, 2, 1, 1, 1]])
def test_few_that_differ_are_near_the_bound_of_gaffke(ratings: list[int]) -> None:
    """Against a simulation of his random weights, with one more rating at the end."""
    weights = np.random.default_rng(0).dirichlet(np.ones(len(ratings) + 1), 200_000)
    low, high = (np.quantile(weights @ [*ratings, end], q) for end, q in ((1, 0.025), (5, 0.975)))
    assert bounds(scorers.bounded_mean(ratings, range(len(ratings)), 1, 5)) == pytest.approx([low, high], abs=0.16)


def test_equal_rows_count_once() -> None:
    ratings = [5.0, 4.0, 5.0, 5.0, 1.0]
    once = scorers.bounded_mean(ratings, range(5), 1, 5)
    five = scorers.bounded_mean([x for x in ratings for _ in range(5)], [i for i in range(5) for _ in range(5)], 1, 5)
    assert bounds(five) == pytest.approx(bounds(once), rel=1e-9)


# ---- properties ---------------------------------------------------------------------------------


@given(rows)
def test_value_and_stderr_are_those_of_the_mean(drawn: list[tuple[float, str]]) -> None:
    found, mean = scorers.bounded_mean(*split(drawn), 1, 5), scorers.clustered_mean(*split(drawn))
    assert dataclasses.replace(found, low=0, high=0) == dataclasses.replace(mean, low=0, high=0)


@given(rows, st.sampled_from([0.01, 0.5, 0.95, 0.999]))
def test_it_is_on_the_scale_holds_the_value_and_is_no_point(drawn: list[tuple[float, str]], level: float) -> None:
    found = scorers.bounded_mean(*split(drawn), 1, 5, level)
    assert 1 <= found.low <= found.value <= found.high <= 5
    if level >= 0.5:
        assert found.high - found.low > 0.01


@given(rows, st.floats(0.01, 1000), st.floats(-1000, 1000))
def test_another_scale_is_the_same_interval(drawn: list[tuple[float, str]], unit: float, shift: float) -> None:
    values, clusters = split(drawn)
    found = scorers.bounded_mean(values, clusters, 1, 5)
    ends = [shift + unit, shift + 5 * unit]
    other = scorers.bounded_mean([min(max(shift + unit * x, ends[0]), ends[1]) for x in values], clusters, *ends)
    assert [(x - shift) / unit for x in bounds(other)] == pytest.approx(bounds(found), abs=1e-4)


@given(rows)
def test_it_is_symmetric(drawn: list[tuple[float, str]]) -> None:
    values, clusters = split(drawn)
    found, other = (scorers.bounded_mean(x, clusters, 1, 5) for x in (values, [6 - v for v in values]))
    assert bounds(other) == pytest.approx([6 - found.high, 6 - found.low], abs=1e-6)


@given(rows, st.randoms())
def test_order_and_names_of_clusters_do_not_matter(drawn: list[tuple[float, str]], random: object) -> None:
    other = list(drawn)
    random.shuffle(other)  # type: ignore[attr-defined]
    values, clusters = split(other)
    found = scorers.bounded_mean(values, [f"cluster {c}" for c in clusters], 1, 5)
    assert bounds(found) == pytest.approx(bounds(scorers.bounded_mean(*split(drawn), 1, 5)), abs=1e-9)


@given(rows)
def test_more_clusters_of_the_same_kind_are_narrower(drawn: list[tuple[float, str]]) -> None:
    values, clusters = split(drawn)
    once = scorers.bounded_mean(values, clusters, 1, 5)
    ten = scorers.bounded_mean(values * 10, [f"{c}{i}" for i in range(10) for c in clusters], 1, 5)
    assert ten.high - ten.low < once.high - once.low


@given(st.integers(2, 200), st.sampled_from([1, 1.5, 3, 4.25, 5]))
def test_more_equal_ratings_are_narrower(n: int, rating: float) -> None:
    fewer, more = (scorers.bounded_mean([rating] * k, range(k), 1, 5) for k in (n, n + 1))
    assert fewer.low <= more.low <= more.high <= fewer.high
    assert more.high - more.low < fewer.high - fewer.low


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([5.0], ["a"]), ([5.0, 4.0], "aa"), ([5, math.nan], "ab")])
def test_what_shows_nothing_about_clusters_has_no_interval(values: list[float], clusters: list[str]) -> None:
    assert all(math.isnan(bound) for bound in bounds(scorers.bounded_mean(values, clusters, 1, 5)))


def test_clusters_that_cancel_out_and_sums_that_round_are_equal_clusters() -> None:
    cancelled = scorers.bounded_mean([1, 5] * 9, [i // 2 for i in range(18)], 1, 5)
    assert bounds(cancelled) == pytest.approx(bounds(scorers.bounded_mean([3] * 9, range(9), 1, 5)))
    third = scorers.bounded_mean([13 / 3] * 7, range(7), 1, 5)
    assert third.high - third.low > 0.5


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match=r"values\[1\] is 6; on this scale it lies between 1 and 5"):
        scorers.bounded_mean([5, 6], "ab", 1, 5)
    with pytest.raises(BadInput, match="the scale is from 0 to inf; it needs two finite ends, the lower one first"):
        scorers.bounded_mean([5, 4], "ab", 0, math.inf)
    with pytest.raises(BadInput, match="the scale is from 5 to 1"):
        scorers.bounded_mean([5, 4], "ab", 5, 1)
    with pytest.raises(BadInput, match="level is 95"):
        scorers.bounded_mean([5, 4], "ab", 1, 5, 95)
    assert scorers.bounded_mean([5 + 1e-12, 5], "ab", 1, 5).high <= 5 + 1e-11


# ---- folds --------------------------------------------------------------------------------------


def test_folds_count_the_same() -> None:
    folds, ids = [[5.0, 5.0, 5.0], [5.0] * 6], ["abc", "defghi"]
    found = scorers.bounded_mean_of_folds(folds, ids, 1, 5)
    assert (found.value, found.stderr, found.high) == (5, 0, 5)
    assert found.low == pytest.approx(1 + 4 * 0.025 ** (1 / 8))  # g is 1 / (3/36 + 6/144)
    folds[0][0] = folds[1][0] = 1.0
    varied = scorers.bounded_mean_of_folds(folds, ids, 1, 5)
    mean = scorers.mean_of_folds([scorers.clustered_mean(x, c) for x, c in zip(folds, ids, strict=True)])
    assert (varied.value, varied.stderr) == (mean.value, mean.stderr)
    assert 1 <= varied.low < varied.value < varied.high <= 5
    assert math.isnan(scorers.bounded_mean_of_folds([[5.0, 4.0], [5.0]], ["ab", "c"], 1, 5).low)


# ---- coverage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distribution", "clusters", "rows"),
    [
        ("5, .02 of 1", 20, "1"),
        ("5, .1 of 4", 10, "2"),
        ("5, few 4 and 1", 50, "uneven"),
        ("high", 10, "uneven"),
        ("around 3", 20, "2"),
        ("uniform", 3, "1"),
    ],
)
def test_it_holds_the_truth_where_students_t_does_not(distribution: str, clusters: int, rows: str) -> None:
    """Of 1,000 samples the standard error of a coverage of .93 is .008; a cell may be two of them below."""
    found = bounded_coverage.measured(bounded_coverage.Cell(distribution, clusters, rows), 1_000)
    assert found["ours"][0] >= bounded_coverage.GOAL - 0.016
    if distribution.startswith("5"):
        assert found["t"][0] < 0.9


@pytest.mark.parametrize("distribution", ["high", "uniform", "U", "around 3", "low grades", "percent"])
def test_with_many_clusters_it_is_as_wide_as_students_t(distribution: str) -> None:
    found = bounded_coverage.measured(bounded_coverage.Cell(distribution, 200, "1"), 300)
    assert found["ours"][1] == pytest.approx(found["t"][1], rel=0.02)


@pytest.mark.slow
def test_every_cell_holds_but_those_of_rare_far_ratings() -> None:
    """Of 500 samples the standard error of a coverage of .93 is .011; a cell may be two of them below."""
    goal = bounded_coverage.GOAL - 0.022
    cells = [c for c in bounded_coverage.cells() if c.clusters < 200]  # t's, to a thousandth, and slow
    missed = {c.distribution for c in cells if bounded_coverage.measured(c, 500)["ours"][0] < goal}
    assert missed == {bounded_coverage.IMPOSSIBLE}
