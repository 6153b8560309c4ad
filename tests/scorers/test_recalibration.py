"""`fit_threshold` and `recalibrated`: by hand, no threshold is better, and strictness."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers import Threshold

INF = math.inf


@pytest.mark.parametrize(
    ("log_odds", "first_is_right", "tau", "accuracy"),
    [
        # a preference for A: B is right up to 3
        ([1.0, 2.0, 4.0, 5.0], [False, False, True, True], 3.0, 1.0),
        ([-1.0, 1.0], [False, True], 0.0, 1.0),
        # the pair at the cut is on the right side
        ([2.0, 3.0], [False, True], 2.5, 1.0),
        # equal values cannot be told apart
        ([1.0, 1.0, 1.0], [True, True, False], 0.5, 2 / 3),
        # always A, always B: one beyond the last value, in the middle
        ([3.0, 4.0], [True, True], 2.5, 1.0),
        ([3.0, 4.0], [False, False], 4.5, 1.0),
        # of ranges with the same accuracy the one closest to 0
        ([1.0, 3.0, 5.0], [True, False, True], 0.5, 2 / 3),
        ([-5.0, -3.0, -1.0], [False, True, False], -0.5, 2 / 3),
        ([-3.0, -1.0, 1.0, 3.0], [True, False, True, False], 0.0, 0.5),
        ([-1.0, 1.0], [True, False], -1.5, 0.5),
        # a cut within a run of the same accuracy: right and wrong at 2 cancel
        ([0.0, 2.0, 2.0, 4.0], [False, True, False, True], 2.0, 3 / 4),
        # a letter without probability
        ([-INF, 2.0, INF], [False, False, True], 2.5, 1.0),
        ([-INF, INF], [True, False], 0.0, 0.0),
        ([INF, INF], [False, False], 0.0, 0.0),
        ([-INF], [True], 0.0, 0.0),
        ([-INF, 1.0], [False, True], 0.5, 1.0),
    ],
)
def test_fit_threshold(log_odds: list[float], first_is_right: list[bool], tau: float, accuracy: float) -> None:
    found = scorers.fit_threshold(log_odds, first_is_right)
    assert found == Threshold(pytest.approx(tau), pytest.approx(accuracy), len(log_odds))


def share(log_odds: list[float], first_is_right: list[bool], tau: float) -> float:
    answers = scorers.recalibrated(log_odds, tau)
    right = [(answer == "A") == is_first for answer, is_first in zip(answers, first_is_right, strict=True)]
    return sum(right) / len(right)


pairs = st.lists(
    st.tuples(st.integers(-4, 4).map(float) | st.floats(-1e6, 1e6) | st.sampled_from([INF, -INF]), st.booleans()),
    min_size=1,
    max_size=30,
)


@given(pairs)
def test_no_threshold_is_better(drawn: list[tuple[float, bool]]) -> None:
    log_odds, first_is_right = ([pair[k] for pair in drawn] for k in (0, 1))
    found = scorers.fit_threshold(log_odds, first_is_right)  # type: ignore[arg-type]
    assert math.isfinite(found.tau)
    assert found.accuracy == pytest.approx(share(log_odds, first_is_right, found.tau))  # type: ignore[arg-type]
    finite = [x for x in log_odds if math.isfinite(x)]
    tried = [*finite, *(math.nextafter(x, -INF) for x in finite), 0.0]
    assert found.accuracy >= max(share(log_odds, first_is_right, tau) for tau in tried) - 1e-9  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(-4, 4).map(float), st.booleans()), min_size=1, max_size=30))
def test_swapping_all_pairs_keeps_the_accuracy(drawn: list[tuple[float, bool]]) -> None:
    found = scorers.fit_threshold([x for x, _ in drawn], [right for _, right in drawn])
    mirrored = scorers.fit_threshold([-x for x, _ in drawn], [not right for _, right in drawn])
    assert mirrored.accuracy == found.accuracy


def test_neighbouring_numbers_are_cut_between() -> None:
    above = math.nextafter(1.0, 2.0)
    found = scorers.fit_threshold([1.0, above], [False, True])
    assert found == Threshold(1.0, 1.0, 2)
    assert scorers.recalibrated([1.0, above], found.tau) == ["B", "A"]


def test_recalibrated_is_strict() -> None:
    published = 3.003349167
    odds = [published, 4.0, -1.0, 3.0, INF, -INF]
    assert scorers.recalibrated(odds, published) == ["B", "A", "B", "B", "A", "B"]
    assert scorers.recalibrated([], 0.0) == []


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="there is no pair to fit"):
        scorers.fit_threshold([], [])
    with pytest.raises(BadInput, match=r"log_odds\[1\] is nan: leave out pairs without log-probabilities"):
        scorers.fit_threshold([1.0, math.nan], [True, False])
    with pytest.raises(BadInput, match=r"log_odds\[0\] is nan"):
        scorers.recalibrated([math.nan], 0.0)
    with pytest.raises(BadInput, match="tau is nan"):
        scorers.recalibrated([1.0], math.nan)
    with pytest.raises(BadInput, match="log_odds has 1, first_is_right has 2"):
        scorers.fit_threshold([1.0], [True, False])
