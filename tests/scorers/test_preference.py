"""Win rates, length control and paired differences: by hand, a general optimiser, and a loop over clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import norm, t
from standins.estimates import close

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers import preference

NAN = math.nan
worths = st.sampled_from([0, 0.25, 0.5, 1])
rows = st.lists(st.tuples(worths, st.integers(0, 5)), min_size=1, max_size=40)


def sampled(
    seed: int, n: int = 300, theta: float = 0.3, phi: float = 1.0
) -> tuple[list[float], list[float], list[float], list[int]]:
    """Wins, ties and losses under the model, with lengths of both texts and contests of some three."""
    rng = np.random.default_rng(seed)
    lengths, others = rng.integers(20, 200, n), rng.integers(20, 150, n)
    d = lengths - others
    won = rng.random(n) < expit(theta + phi * np.tanh(d / d.std(ddof=1)))
    worth = np.where(rng.random(n) < 0.1, 0.5, won)
    return worth.tolist(), lengths.tolist(), others.tolist(), rng.integers(0, n // 3, n).tolist()


# ---- win rate -----------------------------------------------------------------------------------


@given(rows, st.sampled_from([0.8, 0.95]))
def test_win_rate_is_the_clustered_proportion(drawn: list[tuple[float, int]], level: float) -> None:
    worth, clusters = ([row[k] for row in drawn] for k in (0, 1))
    assert close(scorers.win_rate(worth, clusters, level), scorers.clustered_proportion(worth, clusters, level))


@pytest.mark.parametrize("worth", [1.01, -0.01, None, NAN, math.inf, "1", "won", [1]])
@pytest.mark.parametrize(
    "function",
    [
        scorers.win_rate,
        lambda worth, clusters: scorers.length_controlled_win_rate(worth, [1, 2, 3], [1, 1, 1], clusters),
    ],
)
def test_a_bad_preference_is_named(function: Callable[..., object], worth: Any) -> None:
    with pytest.raises(BadInput, match=r"preferences\[2\] is .*from 0 \(lost\) to 1 \(won\).*leave out"):
        function([1, 0.5, worth], "abc")


def test_numbers_of_other_kinds_are_numbers() -> None:
    worth = [np.float32(1), np.int64(0), True, 0.5]
    assert scorers.win_rate(worth, range(4)).value == 0.625


# ---- length-controlled --------------------------------------------------------------------------


def naive_fit(worth: list[float], d: Any) -> tuple[float, float]:
    """The greatest penalised likelihood by a general optimiser."""
    x, y = np.tanh(d / np.std(d, ddof=1)), np.array(worth)

    def loss(beta: Any) -> float:
        p = expit(beta[0] + beta[1] * x)
        return float(-(y * np.log(p) + (1 - y) * np.log1p(-p)).sum() + preference.RIDGE / 2 * beta[1] ** 2)

    theta, phi = minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x
    return float(theta), float(phi)


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_that_of_a_general_optimiser(seed: int) -> None:
    worth, lengths, others, clusters = sampled(seed, 120)
    found = scorers.length_controlled_win_rate(worth, lengths, others, clusters)
    theta, phi = naive_fit(worth, np.array(lengths) - np.array(others))
    assert found.win_rate.value == pytest.approx(expit(theta), abs=1e-6)
    assert found.length_effect.value == pytest.approx(phi, abs=1e-5)


def test_the_errors_are_the_sandwichs_by_a_loop_over_clusters() -> None:
    worth, lengths, others, clusters = sampled(5)
    found = scorers.length_controlled_win_rate(worth, lengths, others, clusters, 0.9)
    d = np.array(lengths) - np.array(others)
    x = np.tanh(d / d.std(ddof=1))
    theta, phi = logit(found.win_rate.value), found.length_effect.value
    bread, scores = np.diag([0, preference.RIDGE]), {c: np.zeros(2) for c in clusters}
    for y, z, c in zip(worth, x, clusters, strict=True):
        p = expit(theta + phi * z)
        bread = bread + p * (1 - p) * np.outer([1, z], [1, z])
        # The rows share the penalty's part, for their scores sum to zero with it.
        scores[c] += (y - p) * np.array([1, z]) - np.array([0, preference.RIDGE * phi]) / 300
    meat = sum(np.outer(score, score) for score in scores.values())
    groups = len(scores)
    variance = np.linalg.inv(bread) @ meat @ np.linalg.inv(bread) * groups / (groups - 1)
    stderr, half = math.sqrt(variance[0, 0]), t.ppf(0.95, groups - 1)
    rate, effect = found.win_rate, found.length_effect
    assert effect.stderr == pytest.approx(math.sqrt(variance[1, 1]), rel=1e-4)
    assert rate.stderr == pytest.approx(rate.value * (1 - rate.value) * stderr, rel=1e-4)
    assert (rate.low, rate.high) == pytest.approx((expit(theta - half * stderr), expit(theta + half * stderr)), 1e-4)
    assert (rate.n, rate.clusters, effect.n, effect.clusters) == (300, groups, 300, groups)


def test_a_preference_is_so_much_of_a_win() -> None:
    """.25 four times in one cluster: a win and three losses there."""
    _, lengths, others, _ = sampled(3, 60)
    worth = [0.25, 0.5, 1.0, 0.0] * 15
    whole = [float(k < 4 * w) for w in worth for k in range(4)]
    four = [[x for x in column for _ in range(4)] for column in (lengths, others, range(60))]
    one = scorers.length_controlled_win_rate([w for w in worth for _ in range(4)], *four)
    assert close(one.win_rate, scorers.length_controlled_win_rate(whole, *four).win_rate, 1e-7)


def test_it_finds_what_the_lengths_hide() -> None:
    """Worse at the same length (.31), preferred all the same for being the longer."""
    rng = np.random.default_rng(0)
    lengths, others = rng.normal(600, 100, 4000), rng.normal(400, 100, 4000)
    d = lengths - others
    won = rng.random(4000) < expit(-0.8 + 2 * np.tanh(d / d.std(ddof=1)))
    worth = won.astype(float).tolist()
    plain = scorers.win_rate(worth, range(4000))
    found = scorers.length_controlled_win_rate(worth, lengths.tolist(), others.tolist(), range(4000))
    assert plain.low > 0.6
    assert found.win_rate.low < expit(-0.8) < found.win_rate.high < 0.4
    assert found.length_effect.low < 2 < found.length_effect.high


@given(rows)
def test_equally_long_texts_leave_the_plain_win_rate(drawn: list[tuple[float, int]]) -> None:
    worth, clusters = ([row[k] for row in drawn] for k in (0, 1))
    plain = scorers.win_rate(worth, clusters)
    found = scorers.length_controlled_win_rate(worth, [7] * len(worth), [7] * len(worth), clusters)
    for key in ("value", "stderr"):
        assert getattr(found.win_rate, key) == pytest.approx(getattr(plain, key), abs=1e-9, nan_ok=True)
    assert (found.win_rate.n, found.win_rate.clusters) == (plain.n, plain.clusters)
    assert math.isnan(found.length_effect.value)
    if plain.stderr > 0:
        assert 0 <= found.win_rate.low < found.win_rate.value < found.win_rate.high <= 1


@pytest.mark.parametrize("others", [(4, 14, 24, 34), (8, 3, 28, 20)])
def test_always_longer_tells_nothing_of_equal_lengths(others: tuple[int, ...]) -> None:
    found = scorers.length_controlled_win_rate([1, 0, 1, 1], [9, 19, 29, 39], others, range(4))
    for estimate in (found.win_rate, found.length_effect):
        assert math.isnan(estimate.value)
        assert math.isnan(estimate.stderr)
        assert (estimate.n, estimate.clusters) == (4, 4)


@pytest.mark.parametrize("n", [4, 10, 101, 1000])
def test_a_judge_that_always_takes_the_longer_is_even(n: int) -> None:
    d = np.linspace(-50, 50, n)
    worth = np.where(d == 0, 0.5, d > 0).astype(float).tolist()
    found = scorers.length_controlled_win_rate(worth, (200 + d).tolist(), [200] * n, range(n))
    assert found.win_rate.value == pytest.approx(0.5, abs=1e-9)
    assert 0 <= found.win_rate.low <= 0.5 <= found.win_rate.high <= 1
    assert 2 < found.length_effect.value < 100


@pytest.mark.parametrize("won", [0, 1])
def test_all_won_or_all_lost(won: int) -> None:
    found = scorers.length_controlled_win_rate([won] * 4, [1, 2, 3, 4], [4, 3, 2, 2], range(4))
    assert found.win_rate == scorers.win_rate([won] * 4, range(4))
    assert math.isnan(found.length_effect.value)


def test_nothing_and_one_pair() -> None:
    assert math.isnan(scorers.length_controlled_win_rate([], [], [], []).win_rate.value)
    one = scorers.length_controlled_win_rate([0.5], [3], [3], "a").win_rate
    assert one.value == 0.5
    assert math.isnan(one.stderr)


def test_the_unit_of_length_does_not_matter() -> None:
    worth, lengths, others, clusters = sampled(2)
    words = [[x / 6 for x in column] for column in (lengths, others)]
    one, other = (
        scorers.length_controlled_win_rate(worth, *columns, clusters) for columns in ((lengths, others), words)
    )
    assert close(one.win_rate, other.win_rate)


def test_the_other_system_has_the_rest() -> None:
    worth, lengths, others, clusters = sampled(6)
    one = scorers.length_controlled_win_rate(worth, lengths, others, clusters)
    other = scorers.length_controlled_win_rate([1 - w for w in worth], others, lengths, clusters)
    assert other.win_rate.value == pytest.approx(1 - one.win_rate.value)
    assert other.win_rate.low == pytest.approx(1 - one.win_rate.high)
    assert close(one.length_effect, other.length_effect)


@pytest.mark.parametrize("start", [(0, 0), (8, -30), (-50, 3)])
def test_the_fit_finds_the_same_from_afar(start: tuple[float, float]) -> None:
    """Whole Newton steps would leave from there for ever."""
    design = np.array([[1.0, -0.5], [1, 0.2], [1, 0.9]])
    found, _ = preference.logistic_fit(
        design, np.array([1.0, 2, 7]), np.array([3.0, 4, 8]), np.array(start, dtype=float)
    )
    p = expit(design @ found)
    assert design.T @ (np.array([3, 4, 8]) * p) == pytest.approx(design.T @ [1, 2, 7], abs=1e-8)


def test_a_fit_that_does_not_settle_is_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preference, "_MAX_STEPS", 1)
    assert math.isnan(scorers.length_controlled_win_rate(*sampled(0)).win_rate.value)


@pytest.mark.parametrize("length", [None, NAN, math.inf, "12"])
def test_a_bad_length_is_named(length: Any) -> None:
    with pytest.raises(BadInput, match=r"^lengths\[1\] is"):
        scorers.length_controlled_win_rate([1, 0], [1, length], [1, 2], "ab")
    with pytest.raises(BadInput, match=r"other_lengths\[0\] is"):
        scorers.length_controlled_win_rate([1, 0], [1, 2], [length, 2], "ab")


# ---- two systems on the same items --------------------------------------------------------------


def test_paired_difference_by_hand() -> None:
    # Differences 1, 0, -1, 2: mean .5; by cluster 0, 0, so no error: each contest has a mean of .5
    found = scorers.paired_difference([1, 1, 0, 3], [0, 1, 1, 1], "abba")
    assert (found.value, found.n, found.clusters) == (0.5, 4, 2)
    # deviations .5 - .5 - 1.5 + 1.5; a: 2, b: -2: sqrt(2 * 8) / 4
    assert found.stderr == pytest.approx(1)


def test_needed_items_by_hand() -> None:
    # Differences 1 and -1, each its own cluster: variance n * stderr^2 = 100 / 99; z's 1.95996 and 0.84162:
    # (2.80158)^2 * 100 / 99 / .2^2 = 198.2
    first, second = [1, 0] * 50, [0, 1] * 50
    assert scorers.needed_items(first, second, range(100), 0.2) == 199
    assert scorers.needed_items(first, second, range(100), -0.2) == 199
    assert scorers.needed_items(first, second, range(100), 0.1) == 793
    # Each item four times over in its contest: four times as many.
    repeated = [[x for x in column for _ in range(4)] for column in (first, second, range(100))]
    assert scorers.needed_items(*repeated, 0.2) == 793


@given(st.floats(0.05, 0.95), st.floats(0.5, 0.99), st.floats(0.01, 2))
def test_needed_items_is_millers_formula(power: float, level: float, difference: float) -> None:
    first, second, clusters = [3, 1, 4, 1, 5, 9], [2, 7, 1, 8, 2, 8], "aabbcc"
    stderr = scorers.paired_difference(first, second, clusters).stderr
    wanted = (norm.ppf((1 + level) / 2) + norm.ppf(power)) ** 2 * 6 * stderr**2 / difference**2
    found = scorers.needed_items(first, second, clusters, difference, power, level)
    assert found - 1 <= wanted * (1 + 1e-9)
    assert wanted * (1 - 1e-9) <= found


@pytest.mark.parametrize("score", [None, NAN, math.inf, "1"])
def test_a_missing_score_is_named(score: Any) -> None:
    with pytest.raises(BadInput, match=r"first\[1\] is .*leave out"):
        scorers.paired_difference([1, score], [1, 2], "ab")
    with pytest.raises(BadInput, match=r"second\[0\] is"):
        scorers.needed_items([1, 2], [score, 2], "ab", 0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scorers.win_rate([1], "ab"), "values has 1, clusters has 2"),
        (lambda: scorers.win_rate([1], "a", 95), "level is 95"),
        (lambda: scorers.win_rate([1, 0], ["a", None]), r"clusters\[1\] is None"),
        (lambda: scorers.length_controlled_win_rate([1, 0], [1], [1, 2], "ab"), "lengths has 1"),
        (lambda: scorers.length_controlled_win_rate([1, 0], [1, 3], [1, 2], "ab", 1), "level is 1"),
        (lambda: scorers.paired_difference([1], [1, 2], "a"), "second has 2"),
        (lambda: scorers.needed_items([1, 2], [2, 1], "ab", 0), "difference is 0"),
        (lambda: scorers.needed_items([1, 2], [2, 1], "ab", NAN), "difference is nan"),
        (lambda: scorers.needed_items([1, 2], [2, 1], "ab", 1, power=1), "power is 1"),
        (lambda: scorers.needed_items([1, 2], [2, 1], "ab", 1, level=0), "level is 0"),
        (lambda: scorers.needed_items([1, 2], [2, 1], "aa", 1), "2 differences in 1 clusters is nan.*pilot"),
        (lambda: scorers.needed_items([1, 2], [0, 1], "ab", 1), r"is 0\.0.*pilot"),
        (lambda: scorers.needed_items([], [], [], 1), "0 differences"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()
