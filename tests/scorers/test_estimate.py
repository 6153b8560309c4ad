"""`clustered_mean` and `mean_of_folds`: by hand, against Inspect, and the coverage of the interval."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.scorer import SampleScore, Score, ci, stderr
from standins.estimates import close
from standins.waiting import cpu_below

from humor_tasks import scorers
from humor_tasks.errors import BadInput

items = st.lists(
    st.tuples(st.floats(-1e3, 1e3), st.sampled_from(["a", "b", "c", 1, 2])), min_size=2, max_size=40
).filter(lambda rows: len({cluster for _, cluster in rows}) > 1)


def test_by_hand() -> None:
    # Mean 0.5; deviation sums +1 and -1 over two clusters: sqrt(2/1 * (1 + 1)) / 4 = 0.5; t(1) = 12.7062
    estimate = scorers.clustered_mean([1, 1, 0, 0], ["x", "x", "y", "y"])
    assert dataclasses.astuple(estimate) == pytest.approx((0.5, 0.5, 0.5 - 6.3531, 0.5 + 6.3531, 4, 2), abs=1e-4)


@given(items, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_equals_inspect(rows: list[tuple[float, object]], level: float) -> None:
    scores = [SampleScore(score=Score(value=v), sample_metadata={"contest": c}) for v, c in rows]
    estimate = scorers.clustered_mean([v for v, _ in rows], [c for _, c in rows], level)
    assert estimate.stderr == pytest.approx(stderr(cluster="contest")(scores), rel=1e-9, abs=1e-9)
    bounds = ci(level=level, cluster="contest")(scores)
    assert isinstance(bounds, dict)
    assert estimate.low == pytest.approx(bounds["lower"], rel=1e-6, abs=1e-6)
    assert estimate.high == pytest.approx(bounds["upper"], rel=1e-6, abs=1e-6)


def test_a_cluster_of_its_own_for_each_item_is_the_plain_standard_error() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    assert scorers.clustered_mean(values, range(5)).stderr == pytest.approx(scipy.stats.sem(values))


@pytest.mark.parametrize(
    ("values", "clusters", "value"), [([], [], math.nan), ([1.0], ["a"], 1.0), ([1.0, 0.0], ["a", "a"], 0.5)]
)
def test_the_unknown_is_not_zero(values: list[float], clusters: list[str], value: float) -> None:
    expected = scorers.Estimate(value, math.nan, math.nan, math.nan, len(values), len(set(clusters)))
    assert close(scorers.clustered_mean(values, clusters), expected)


def test_nothing_is_clipped_and_no_spread_is_a_point() -> None:
    assert scorers.clustered_mean([1, 1, 1, 0], "aabb").high > 1
    assert scorers.clustered_mean([1, 1, 1], "abc") == scorers.Estimate(1.0, 0.0, 1.0, 1.0, 3, 3)


def test_nan_and_infinity_spread() -> None:
    assert close(
        scorers.clustered_mean([1, math.nan], "ab"), scorers.Estimate(math.nan, math.nan, math.nan, math.nan, 2, 2)
    )
    assert scorers.clustered_mean([1, math.inf], "ab").value == math.inf
    assert math.isnan(scorers.clustered_mean([1, math.inf], "ab").stderr)


def test_clusters_are_told_apart_as_keys_are() -> None:
    assert scorers.clustered_mean([0, 1], [1, "1"]).clusters == 2


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="values has 1, clusters has 2"):
        scorers.clustered_mean([1], "ab")
    for missing in (None, math.nan):
        with pytest.raises(BadInput, match=r"clusters\[1\] is (None|nan)"):
            scorers.clustered_mean([1, 2], ["a", missing])
    for level in (0, 1, 95):
        with pytest.raises(BadInput, match=f"level is {level}"):
            scorers.clustered_mean([1, 2], "ab", level)
        with pytest.raises(BadInput, match=f"level is {level}"):
            scorers.mean_of_folds([], level)


# ---- folds --------------------------------------------------------------------------------------


def test_the_mean_of_folds_by_hand() -> None:
    folds = [scorers.Estimate(0.6, 0.03, 0, 0, 500, 11), scorers.Estimate(0.7, 0.04, 0, 0, 100, 21)]
    dof = 0.0025**2 / (0.03**4 / 10 + 0.04**4 / 20)
    half = scipy.stats.t.ppf(0.975, dof) * 0.025
    assert close(scorers.mean_of_folds(folds), scorers.Estimate(0.65, 0.025, 0.65 - half, 0.65 + half, 600, 32))


def test_one_fold_is_itself() -> None:
    fold = scorers.clustered_mean([1, 0, 1, 1, 0], "aabcc")
    assert close(scorers.mean_of_folds([fold]), fold)


def test_equal_folds_have_the_degrees_of_freedom_of_all() -> None:
    five = scorers.mean_of_folds([scorers.Estimate(0.5, 0.1, 0, 0, 20, 11)] * 5)
    assert five.high - 0.5 == pytest.approx(scipy.stats.t.ppf(0.975, 50) * 0.1 / math.sqrt(5))


def test_folds_that_cannot_be_averaged() -> None:
    known, single, empty = (
        scorers.clustered_mean([1, 0], "ab"),
        scorers.clustered_mean([1, 0], "aa"),
        scorers.clustered_mean([], []),
    )
    nan = math.nan
    assert close(scorers.mean_of_folds([]), scorers.Estimate(nan, nan, nan, nan, 0, 0))
    assert close(scorers.mean_of_folds([known, single]), scorers.Estimate(0.5, nan, nan, nan, 4, 3))
    assert close(scorers.mean_of_folds([known, empty]), scorers.Estimate(nan, nan, nan, nan, 2, 2))


def test_folds_without_spread_are_a_point() -> None:
    sure = scorers.clustered_mean([1, 1], "ab")
    assert scorers.mean_of_folds([sure, sure]) == scorers.Estimate(1.0, 0.0, 1.0, 1.0, 4, 4)
    assert scorers.mean_of_folds([sure, scorers.clustered_mean([1, 0], "ab")]).stderr == pytest.approx(0.25)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = random.Random(0)
    covered = 0
    for _ in range(400):
        folds = []
        for _ in range(3):
            level = [rng.gauss(0, 1) for _ in range(8)]
            rows = [(level[c] + rng.gauss(0, 1), c) for c in range(8) for _ in range(4)]
            folds.append(scorers.clustered_mean([v for v, _ in rows], [c for _, c in rows]))
        mean = scorers.mean_of_folds(folds)
        covered += mean.low <= 0 <= mean.high
    assert 0.92 <= covered / 400 <= 0.98


def test_a_hundred_thousand_items_take_no_time() -> None:
    values, clusters = [0.0, 1.0] * 50_000, [f"contest {i % 700}" for i in range(100_000)]
    scorers.clustered_mean(values, clusters)  # imports
    with cpu_below(10):
        scorers.clustered_mean(values, clusters)
