"""`corrected_win_rate`: by hand, its properties, and the coverage of its intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput

outcomes = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=40)
exams = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0]), min_size=2, max_size=40)


def rates(w: float, q: float, rows: int = 100) -> tuple[list[float], range, list[float], range]:
    """A win rate and an exam of these means, each row its own contest."""
    preferences, exam = ([1.0] * round(mean * rows) + [0.0] * (rows - round(mean * rows)) for mean in (w, q))
    return preferences, range(rows), exam, range(rows, 2 * rows)


@pytest.mark.parametrize(
    ("w", "q", "p"),
    [
        (0.8, 0.8, 1.0),
        (0.65, 0.75, 0.8),
        (0.4, 1.0, 0.4),
        (0.9, 0.7, 1.0),  # 1.5 before it is clipped
    ],
)
def test_corrected_by_hand(w: float, q: float, p: float) -> None:
    found = scorers.corrected_win_rate(*rates(w, q))
    assert found.value == pytest.approx(p)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert (found.n, found.clusters) == (200, 200)


def test_an_unclipped_value_shows_that_the_judge_contradicts_its_exam() -> None:
    clipped, found = (scorers.corrected_win_rate(*rates(0.9, 0.7), clip=clip) for clip in (True, False))
    assert (clipped.value, clipped.low, clipped.high) == (1, 1, 1)
    assert found.value == pytest.approx(1.5)
    assert 1 < found.low < 1.5 < found.high
    assert clipped.stderr == found.stderr


@pytest.mark.parametrize("q", [0.5, 0.4, 0.0])
def test_a_judge_no_better_than_chance_corrects_nothing(q: float) -> None:
    found = scorers.corrected_win_rate(*rates(0.6, q))
    assert all(math.isnan(x) for x in (found.value, found.stderr, found.low, found.high))
    assert (found.n, found.clusters) == (200, 200)


def test_a_judge_hardly_better_than_chance_says_nothing() -> None:
    found = scorers.corrected_win_rate(*rates(0.52, 0.55))
    assert (found.low, found.high) == (0, 1)
    unclipped = scorers.corrected_win_rate(*rates(0.52, 0.55), clip=False)
    assert (unclipped.low, unclipped.high) == (-math.inf, math.inf)


def test_the_error_is_the_delta_methods() -> None:
    """Independent rows: var p = (var w + (2 p - 1)^2 var q) / (2 q - 1)^2."""
    w, q, rows = 0.65, 0.75, 2_000
    found = scorers.corrected_win_rate(*rates(w, q, rows))
    var_w, var_q = w * (1 - w) / (rows - 1), q * (1 - q) / (rows - 1)
    expected = math.sqrt(var_w + (2 * 0.8 - 1) ** 2 * var_q) / (2 * q - 1)
    assert found.stderr == pytest.approx(expected, rel=0.02)  # the proportions' intervals are a little wider
    assert found.stderr >= expected


def test_a_contest_in_both_lists_counts_once() -> None:
    """Where contests in which the judge errs are those that the system wins, both errors partly cancel or add."""
    preferences, exam = [1.0, 1.0, 0.0, 0.0] * 20, [1.0, 1.0, 1.0, 0.0] * 20
    ids = list(range(80))
    shared = scorers.corrected_win_rate([*preferences, 1.0], [*ids, 99], exam, ids)
    apart = scorers.corrected_win_rate([*preferences, 1.0], [*ids, 99], exam, [f"exam {i}" for i in ids])
    assert shared.value == apart.value > 0.5
    assert shared.stderr < apart.stderr  # wins and right verdicts go together: w is too high where q is
    assert (shared.clusters, apart.clusters) == (81, 161)


def test_both_orders_of_a_pair_are_one_contest() -> None:
    preferences, clusters, exam, exam_clusters = rates(0.65, 0.75)
    once = scorers.corrected_win_rate(preferences, clusters, exam, exam_clusters)
    twice = scorers.corrected_win_rate(preferences * 2, [*clusters] * 2, exam * 2, [*exam_clusters] * 2)
    assert twice.stderr == pytest.approx(once.stderr, rel=0.01)
    assert twice.n == 2 * once.n


@given(outcomes, exams, st.integers(1, 5), st.integers(1, 5))
def test_properties(preferences: list[float], exam: list[float], per: int, exam_per: int) -> None:
    clusters, exam_clusters = [i // per for i in range(len(preferences))], [i // exam_per for i in range(len(exam))]
    found = scorers.corrected_win_rate(preferences, clusters, exam, exam_clusters)
    unknown = np.mean(exam) <= 0.5 or len(set(clusters)) < 2 or len(set(exam_clusters)) < 2
    assert math.isnan(found.value) == unknown
    if unknown:
        return
    assert 0 <= found.low <= found.value <= found.high <= 1
    # The other side's win rate is corrected to the rest.
    other = scorers.corrected_win_rate([1 - x for x in preferences], clusters, exam, exam_clusters)
    assert (other.value, other.low, other.high) == pytest.approx((1 - found.value, 1 - found.high, 1 - found.low))
    assert other.stderr == pytest.approx(found.stderr, abs=1e-6)
    wider = scorers.corrected_win_rate(preferences, clusters, exam, exam_clusters, 0.99)
    assert wider.low <= found.low <= found.high <= wider.high
    assert wider.stderr == found.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q", "contests", "examined"), [(0.4, 0.75, 91, 44), (0.8, 0.7, 44, 91)])
def test_coverage(p: float, q: float, contests: int, examined: int) -> None:
    """Contests differ in how good the system's captions are and in how well the judge judges them, the exam's too."""
    rng = np.random.default_rng(5)
    covered, runs = 0, 500
    for _ in range(runs):
        everyone = max(contests, examined)
        truth = rng.beta(4 * p, 4 * (1 - p), everyone)
        skill = rng.beta(8 * q, 8 * (1 - q), everyone)
        better = rng.random((contests, 2)) < truth[:contests, None]
        verdicts = np.where(rng.random((contests, 2)) < skill[:contests, None], better, ~better)
        exam = rng.random((examined, 2)) < skill[:examined, None]
        found = scorers.corrected_win_rate(
            verdicts.ravel().astype(float).tolist(),
            np.repeat(np.arange(contests), 2).tolist(),
            exam.ravel().astype(float).tolist(),
            np.repeat(np.arange(examined), 2).tolist(),
        )
        covered += found.low <= p <= found.high
    assert 0.92 <= covered / runs <= 1  # three standard errors of .95 are .03


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="preferences"):
        scorers.corrected_win_rate([2.0], ["a"], [1.0], ["a"])
    with pytest.raises(BadInput, match="1"):
        scorers.corrected_win_rate([1.0], ["a"], [1.5, 1.0], ["a", "b"])
    with pytest.raises(BadInput, match="exam has 1, exam_clusters has 2"):
        scorers.corrected_win_rate([1.0], ["a"], [1.0], ["a", "b"])
    with pytest.raises(BadInput, match="level is 2"):
        scorers.corrected_win_rate([1.0], ["a"], [1.0], ["a"], 2)


@pytest.mark.parametrize(("wins", "exam"), [([], [1.0, 1.0]), ([1.0, 0.0], []), ([], [])])
def test_without_rows_there_is_no_value(wins: list[float], exam: list[float]) -> None:
    found = scorers.corrected_win_rate(wins, range(len(wins)), exam, range(len(exam)))
    assert math.isnan(found.value)
    assert found.n == len(wins) + len(exam)
