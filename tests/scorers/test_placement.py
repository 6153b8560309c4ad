"""`percentiles` and `rank_correlation`: by hand, against a count and SciPy, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput

few = st.integers(-3, 3).map(float)


@pytest.mark.parametrize(
    ("score", "among", "expected"),
    [
        (0.0, [1.0, 2.0], 0.0),
        (3.0, [1.0, 2.0], 100.0),
        (1.5, [2.0, 1.0], 50.0),
        (1.0, [1.0, 2.0], 25.0),
        (1.0, [1.0], 50.0),
        (1.0, [1.0, 1.0, 0.0, 2.0], 50.0),
        (math.inf, [1.0, math.inf], 75.0),
    ],
)
def test_percentile(score: float, among: list[float], expected: float) -> None:
    assert scorers.percentile(score, among) == expected


@given(st.lists(few, max_size=10), st.lists(few, min_size=1, max_size=30))
def test_percentiles_against_a_count(scores: list[float], among: list[float]) -> None:
    assert scorers.percentiles(scores, among) == pytest.approx(
        [100 * sum((y < x) + (y == x) / 2 for y in among) / len(among) for x in scores]
    )


@given(st.lists(few, min_size=1, max_size=30))
def test_a_contests_own_captions_are_at_50_in_the_mean(among: list[float]) -> None:
    assert np.mean(scorers.percentiles(among, among)) == pytest.approx(50)


def test_among_none_there_is_no_place() -> None:
    assert math.isnan(scorers.percentile(1.0, []))
    assert scorers.percentiles([], [1.0]) == []


@pytest.mark.parametrize(("scores", "among", "name"), [([math.nan], [1.0], "scores"), ([1.0], [math.nan], "among")])
def test_nan_is_refused(scores: list[float], among: list[float], name: str) -> None:
    with pytest.raises(BadInput, match=f"{name} has nan: leave captions without a score out"):
        scorers.percentiles(scores, among)


def test_rank_correlation_by_hand() -> None:
    #         contest a: in order     b: one swap of 3, rho = 1/2   c: constant     d: two
    scores = [1.0, 2.0, 3.0, 9.0, 1.0, 2.0, 3.0, 5.0, 5.0, 5.0, 1.0, 2.0]
    truths = [1.0, 1.5, 2.0, 2.5, 1.0, 2.5, 2.0, 1.0, 2.0, 3.0, 1.0, 2.0]
    clusters = list("aaaabbbcccdd")
    each = scorers.rank_correlations(scores, truths, clusters)
    assert list(each) == list("abcd")
    assert list(each.values()) == pytest.approx([1, 0.5, math.nan, math.nan], nan_ok=True)
    found = scorers.rank_correlation_by_cluster(scores, truths, clusters)
    assert (found.value, found.stderr, found.n, found.clusters) == pytest.approx((0.75, 0.25, 7, 2))
    assert found.high - found.value == pytest.approx(scipy.stats.t.ppf(0.975, 1) * 0.25)


@settings(max_examples=40)
@given(st.lists(st.tuples(few, few, st.sampled_from("abcd")), max_size=40))
def test_rank_correlations_against_scipy(rows: list[tuple[float, float, str]]) -> None:
    scores, truths, clusters = ([row[k] for row in rows] for k in range(3))
    found = scorers.rank_correlations(scores, truths, clusters)  # type: ignore[arg-type]
    kept = []
    for cluster in dict.fromkeys(clusters):
        x, y = ([row[k] for row in rows if row[2] == cluster] for k in (0, 1))
        if len(x) < 3 or len(set(x)) == 1 or len(set(y)) == 1:
            assert math.isnan(found[cluster])
        else:
            kept.append(scipy.stats.spearmanr(x, y).statistic)
            assert found[cluster] == pytest.approx(kept[-1])
    mean = scorers.rank_correlation_by_cluster(scores, truths, clusters)  # type: ignore[arg-type]
    assert mean.clusters == len(kept)
    assert mean.value == pytest.approx(np.mean(kept) if kept else math.nan, nan_ok=True)
    assert mean.stderr == pytest.approx(scipy.stats.sem(kept) if len(kept) > 1 else math.nan, nan_ok=True)


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(BadInput, match="scores has 1, truths has 2, clusters has 1"):
        scorers.rank_correlation_by_cluster([1.0], [1.0, 2.0], ["a"])


def test_a_score_that_is_nan_is_refused() -> None:
    with pytest.raises(BadInput):
        scorers.rank_correlations([1.0, math.nan, 2.0], [1.0, 2.0, 3.0], "aaa")
