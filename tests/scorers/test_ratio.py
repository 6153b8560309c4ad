"""Ratios and smooth functions of means: `clustered_ratio` and `linearised`."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.estimates import close

from humor_tasks import scorers
from humor_tasks.errors import BadInput

rows = st.lists(
    st.tuples(st.floats(-100, 100), st.integers(1, 50), st.sampled_from("abcde")), min_size=2, max_size=40
).filter(lambda drawn: len({cluster for _, _, cluster in drawn}) > 1)


def unknown(value: float, n: int, clusters: int) -> scorers.Estimate:
    return scorers.Estimate(value, math.nan, math.nan, math.nan, n, clusters)


# ---- ratios -------------------------------------------------------------------------------------


def test_by_hand() -> None:
    # R = 3/6; deviations (1 - .5 * 2, 0 - .5 * 1, 2 - .5 * 3) / 2 = 0, -.25, .25; sums by cluster -.25, .25
    # stderr sqrt(2/1 * (.0625 + .0625)) / 3 = 1/6; t(1) = 12.7062
    estimate = scorers.clustered_ratio([1, 0, 2], [2, 1, 3], "xxy")
    assert dataclasses.astuple(estimate) == pytest.approx((0.5, 1 / 6, 0.5 - 2.1177, 0.5 + 2.1177, 3, 2), abs=1e-4)


@given(rows, st.sampled_from([0.5, 0.95]))
def test_is_the_clustered_mean_of_the_linearised_values(drawn: list[tuple[float, int, str]], level: float) -> None:
    top, bottom, clusters = zip(*drawn, strict=True)
    ratio, mean = sum(top) / sum(bottom), sum(bottom) / len(bottom)
    values = [ratio + (a - ratio * b) / mean for a, b, _ in drawn]
    assert close(
        scorers.clustered_ratio(top, bottom, clusters, level), scorers.clustered_mean(values, clusters, level), 1e-6
    )


@given(rows)
def test_is_the_linearised_quotient(drawn: list[tuple[float, int, str]]) -> None:
    top, bottom, clusters = zip(*drawn, strict=True)
    expected = scorers.linearised(lambda a, b: a / b, [top, bottom], clusters)
    assert close(scorers.clustered_ratio(top, bottom, clusters), expected, 1e-6)


def test_the_value_is_the_ratio_of_the_sums_to_the_last_bit() -> None:
    assert scorers.clustered_ratio([1, 0, 0], [1, 1, 1], "abc").value == 1 / 3
    assert scorers.clustered_ratio([60, 13], [69, 73], "ab").value == 73 / 142


@pytest.mark.parametrize(
    ("numerators", "denominators", "clusters", "expected"),
    [
        ([], [], "", unknown(math.nan, 0, 0)),
        ([0, 0], [0, 0], "ab", unknown(math.nan, 2, 2)),
        ([1, 2], [0, 0], "ab", unknown(math.nan, 2, 2)),
        ([1, 2], [1, -1], "ab", unknown(math.nan, 2, 2)),
        ([math.nan, 1], [1, 1], "ab", unknown(math.nan, 2, 2)),
        ([math.inf, 1], [1, 1], "ab", unknown(math.inf, 2, 2)),
        ([1, 0], [1, 1], "aa", unknown(0.5, 2, 1)),
        # One cluster carries all: its deviations sum to zero, which is not certainty.
        ([1, 0, 0], [1, 1, 0], "aab", unknown(0.5, 3, 2)),
        ([1, 0, 1], [1, 1, 1], "aab", None),
    ],
)
def test_the_unknown_is_not_zero(
    numerators: list[float], denominators: list[float], clusters: str, expected: scorers.Estimate | None
) -> None:
    estimate = scorers.clustered_ratio(numerators, denominators, clusters)
    assert close(estimate, expected) if expected else estimate.stderr > 0


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(500):
        share = np.repeat(rng.beta(3, 2, 40), 6)  # of 40 clusters, with a mean of 0.6
        labelled = rng.random(240) < 0.5
        passed = (rng.random(240) < share) & labelled
        estimate = scorers.clustered_ratio(passed.tolist(), labelled.tolist(), np.repeat(range(40), 6).tolist())
        covered += estimate.low <= 0.6 <= estimate.high
    assert 0.92 <= covered / 500 <= 0.98


# ---- smooth functions ---------------------------------------------------------------------------


def test_a_product_by_hand() -> None:
    # Means 2 and 3, gradient (3, 2): deviations 3 * -1 + 2 * 1 = -1 and 1; stderr sqrt(2 * (1 + 1)) / 2
    estimate = scorers.linearised(lambda a, b: a * b, [[1, 3], [4, 2]], "ab")
    assert (estimate.value, estimate.stderr) == (6, pytest.approx(1))


@given(st.lists(st.tuples(*[st.floats(0.1, 10)] * 3), min_size=3, max_size=20))
def test_the_gradient_is_that_of_finite_differences(drawn: list[tuple[float, float, float]]) -> None:
    def f(a: complex, b: complex, c: complex) -> complex:
        return (a * b - 2 * c) / (1 + a + b * c)

    columns = list(zip(*drawn, strict=True))
    means, h = [sum(column) / len(column) for column in columns], 1e-5
    gradient = []
    for k in range(3):
        up, down = ([m + s * (j == k) for j, m in enumerate(means)] for s in (h, -h))
        gradient.append((f(*up) - f(*down)).real / (2 * h))
    values = [sum(g * x for g, x in zip(gradient, row, strict=True)) for row in drawn]
    estimate = scorers.linearised(f, columns, range(len(drawn)))
    assert estimate.stderr == pytest.approx(
        scorers.clustered_mean(values, range(len(drawn))).stderr, rel=1e-4, abs=1e-7
    )
    assert estimate.value == pytest.approx(f(*means).real, rel=1e-12)


def test_undefined_and_empty() -> None:
    assert close(scorers.linearised(lambda a, b: a / b, [[1, 2], [0, 0]], "ab"), unknown(math.nan, 2, 2))
    assert close(scorers.linearised(lambda a, b: a / b, [[], []], ""), unknown(math.nan, 0, 0))
    assert close(scorers.linearised(lambda a: a * a, [[math.nan, 1]], "ab"), unknown(math.nan, 2, 2))


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="numerators has 1, denominators has 2, clusters has 2"):
        scorers.clustered_ratio([1], [1, 2], "ab")
    with pytest.raises(BadInput, match=r"columns\[0\] has 2, columns\[1\] has 1, clusters has 2"):
        scorers.linearised(lambda a, b: a / b, [[1, 2], [1]], "ab")
    with pytest.raises(BadInput, match=r"clusters\[1\] is None"):
        scorers.clustered_ratio([1, 2], [1, 2], ["a", None])
    with pytest.raises(BadInput, match="level is 95"):
        scorers.clustered_ratio([1, 2], [1, 2], "ab", 95)
    with pytest.raises(BadInput, match="level is 0"):
        scorers.linearised(lambda a: a, [[1, 2]], "ab", 0)
