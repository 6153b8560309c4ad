"""Intervals of proportions: against statsmodels, in closed form, by their properties, and by simulation."""

from __future__ import annotations

import dataclasses
import math
from itertools import chain

import interval_coverage
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers.proportion import binomial_interval

rows = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from("abcdefgh")), min_size=2, max_size=40
).filter(lambda drawn: len({cluster for _, cluster in drawn}) > 1)


def split(drawn: list[tuple[float, str]]) -> tuple[list[float], list[str]]:
    return [value for value, _ in drawn], [cluster for _, cluster in drawn]


def bounds(estimate: scorers.Estimate) -> list[float]:
    return [estimate.low, estimate.high]


# ---- known results ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.99])
@pytest.mark.parametrize(("hits", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 528), (499, 500), (1, 2)])
def test_without_clusters_it_is_statsmodels_clopper_pearson(hits: int, n: int, level: float) -> None:
    found = scorers.clustered_proportion([1] * hits + [0] * (n - hits), range(n), level)
    expected = proportion_confint(hits, n, alpha=1 - level, method="beta")
    assert bounds(found) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_it_is_never_narrower_than_statsmodels_wilson_by_much() -> None:
    for hits in range(101):
        low, high = proportion_confint(hits, 100, method="wilson")
        found = scorers.clustered_proportion([1] * hits + [0] * (100 - hits), range(100))
        assert found.high - found.low > 0.97 * (high - low)


def test_equal_rows_count_once() -> None:
    """Clusters of five equal rows say what one row of each says, also 0 and 1 of n."""
    for hits in (0, 3, 12, 20):
        values = [float(i < hits) for i in range(20)]
        once = scorers.clustered_proportion(values, range(20))
        five = scorers.clustered_proportion(
            [v for v in values for _ in range(5)], [i for i in range(20) for _ in "five!"]
        )
        assert bounds(five) == pytest.approx(bounds(once), rel=1e-9)


def test_the_formula_by_hand() -> None:
    """Six rows of three clusters: p 1/2, d (1, -1/2, -1/2), deff 3/2 * 1.5 * 5/36 / .25, g 36/12."""
    found = scorers.clustered_proportion([1, 1, 1, 0, 0, 0], "aabbcc")
    deff, most, noise = 1.5 * 2 * 5 / 36 / 0.25, 5 / 2, (1 + 1) / 4 - 1 / 3
    w = 1 / (1 + (3 * noise) ** 2)
    f = 5 / (deff**w * most ** (1 - w))
    from scipy.stats import beta, t

    n = (1 + f) * (t.ppf(0.975, f) / t.ppf(0.975, 2)) ** 2
    assert bounds(found) == pytest.approx(
        [beta.ppf(0.025, n / 2, n / 2 + 1), beta.ppf(0.975, n / 2 + 1, n / 2)], rel=1e-9
    )
    assert found.stderr == scorers.clustered_mean([1, 1, 1, 0, 0, 0], "aabbcc").stderr


# ---- properties ---------------------------------------------------------------------------------


@given(rows)
def test_value_and_stderr_are_those_of_the_mean(drawn: list[tuple[float, str]]) -> None:
    found, mean = scorers.clustered_proportion(*split(drawn)), scorers.clustered_mean(*split(drawn))
    assert dataclasses.replace(found, low=0, high=0) == dataclasses.replace(mean, low=0, high=0)


@given(rows, st.sampled_from([0.5, 0.95, 0.999]))
def test_it_is_inside_and_never_a_point(drawn: list[tuple[float, str]], level: float) -> None:
    found = scorers.clustered_proportion(*split(drawn), level)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.01  # forty rows


@given(rows)
def test_a_higher_level_is_wider(drawn: list[tuple[float, str]]) -> None:
    narrow, wide = (scorers.clustered_proportion(*split(drawn), level) for level in (0.8, 0.95))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(rows)
def test_it_is_symmetric(drawn: list[tuple[float, str]]) -> None:
    values, clusters = split(drawn)
    found, other = (scorers.clustered_proportion(x, clusters) for x in (values, [1 - v for v in values]))
    assert bounds(other) == pytest.approx([1 - found.high, 1 - found.low], rel=1e-6, abs=1e-9)


@given(st.integers(2, 60), st.data())
def test_more_hits_are_higher(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n - 1))
    fewer, more = (scorers.clustered_proportion([1] * k + [0] * (n - k), range(n)) for k in (hits, hits + 1))
    assert fewer.low < more.low
    assert fewer.high < more.high


@given(rows)
def test_more_clusters_of_the_same_kind_are_narrower(drawn: list[tuple[float, str]]) -> None:
    values, clusters = split(drawn)
    once = scorers.clustered_proportion(values, clusters)
    ten = scorers.clustered_proportion(values * 10, [f"{c}{i}" for i in range(10) for c in clusters])
    assert ten.high - ten.low < once.high - once.low


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([1.0], ["a"]), ([1.0, 0.0], "aa"), ([1, math.nan], "ab")])
def test_what_shows_nothing_about_clusters_has_no_interval(values: list[float], clusters: list[str]) -> None:
    assert all(math.isnan(bound) for bound in bounds(scorers.clustered_proportion(values, clusters)))


def test_clusters_that_cancel_out_are_no_certainty() -> None:
    found = scorers.clustered_proportion([0, 1] * 9, [i // 2 for i in range(18)])
    assert (found.stderr, found.high - found.low > 0.5) == (0.0, True)


def test_ties_are_less_uncertain_than_wins_and_losses() -> None:
    ties = scorers.clustered_proportion([0.0, 1.0] * 10 + [0.5] * 60, range(80))
    sides = scorers.clustered_proportion([0.0, 1.0] * 40, range(80))
    assert ties.high - ties.low < 0.6 * (sides.high - sides.low)
    assert scorers.clustered_proportion([0.5] * 10, range(10)).high > 0.7  # nothing varies, in ten rows


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match=r"values\[1\] is 1.5; in a proportion it lies between 0 and 1"):
        scorers.clustered_proportion([1, 1.5], "ab")
    with pytest.raises(
        BadInput, match=r"numerators\[0\] is 2; in a proportion it lies between 0 and its denominator, 1"
    ):
        scorers.clustered_share([2, 0], [1, 1], "ab")
    with pytest.raises(BadInput, match="level is 95"):
        scorers.clustered_proportion([1, 0], "ab", 95)


# ---- ratios and folds ---------------------------------------------------------------------------


@given(rows, st.data())
def test_a_share_is_the_ratio_with_the_interval_of_its_rows(
    drawn: list[tuple[float, str]], data: st.DataObject
) -> None:
    values, clusters = split(drawn)
    counted = data.draw(st.lists(st.sampled_from([0, 1]), min_size=len(values), max_size=len(values)))
    top = [v * c for v, c in zip(values, counted, strict=True)]
    found, ratio = scorers.clustered_share(top, counted, clusters), scorers.clustered_ratio(top, counted, clusters)
    assert [repr(x) for x in (found.value, found.stderr, found.n, found.clusters)] == [
        repr(x) for x in (ratio.value, ratio.stderr, ratio.n, ratio.clusters)
    ]
    kept = [row for row, c in zip(drawn, counted, strict=True) if c]
    if not math.isnan(found.stderr):
        assert bounds(found) == pytest.approx(bounds(scorers.clustered_proportion(*split(kept))), rel=1e-6, abs=1e-9)


def test_a_precise_judge_has_no_precision_above_one() -> None:
    """38 rows passed of 400, one of them wrongly: t reaches 1.02."""
    labels = [True] * 37 + [False] + [i % 2 == 0 for i in range(362)]
    verdicts = [True] * 38 + [False] * 362
    clusters = [i % 130 for i in range(400)]
    found = scorers.judge_exam(labels, verdicts, clusters)["precision"]
    passed = [float(label) for label, verdict in zip(labels, verdicts, strict=True) if verdict]
    assert scorers.clustered_ratio(passed + [0.0] * 362, [float(v) for v in verdicts], clusters).high > 1
    assert 0.8 < found.low < found.value < found.high < 1


def test_equal_folds_have_the_interval_of_all_rows() -> None:
    values = [[float((i * k) % 3 == 0) for i in range(30)] for k in (1, 2, 4)]
    clusters = [[f"{k} {i % 7}" for i in range(30)] for k in range(3)]
    found = scorers.proportion_of_folds(values, clusters)
    folds = [scorers.clustered_proportion(x, c) for x, c in zip(values, clusters, strict=True)]
    mean, whole = (
        scorers.mean_of_folds(folds),
        scorers.clustered_proportion(*(list(chain(*x)) for x in (values, clusters))),
    )
    assert (found.value, found.stderr, found.n, found.clusters) == (mean.value, mean.stderr, mean.n, mean.clusters)
    assert bounds(found) == pytest.approx(bounds(whole), rel=1e-9)


def test_folds_without_a_hit_have_an_upper_bound() -> None:
    found = scorers.proportion_of_folds([[0.0] * 10, [0.0] * 20], [range(10), range(10, 30)])
    assert (found.value, found.low) == (0, 0)
    assert 0.1 < found.high < 0.2


def test_folds_that_cannot_be_averaged_have_no_interval() -> None:
    for values, clusters in (([[1, 0], [1, 0]], ["ab", "cc"]), ([[1, 0], []], ["ab", ""]), ([], [])):
        assert all(math.isnan(bound) for bound in bounds(scorers.proportion_of_folds(values, clusters)))
    one = scorers.proportion_of_folds([[1, 0, 1]], ["abc"])
    assert bounds(one) == pytest.approx(bounds(scorers.clustered_proportion([1, 0, 1], "abc")))


# ---- coverage -----------------------------------------------------------------------------------


def test_the_simulation_draws_what_the_scorer_computes() -> None:
    """The intervals of the simulation, from clusters' sums, are those of the rows."""
    cell = interval_coverage.of_rows(40, 12, "uneven", 0.3, 0.3)
    drawn = cell.drawn(np.random.default_rng(0), 5)
    low, high = interval_coverage.ours(drawn)
    for i, (hits, sizes) in enumerate(zip(drawn.sums.astype(int), drawn.weights.astype(int), strict=True)):
        values = [float(k < h) for h, size in zip(hits, sizes, strict=True) for k in range(size)]
        clusters = [c for c, size in enumerate(sizes) for _ in range(size)]
        assert bounds(scorers.clustered_proportion(values, clusters)) == pytest.approx([low[i], high[i]], rel=1e-9)


@pytest.mark.parametrize(
    ("n", "clusters", "p", "rho", "by_t"),
    [(10, 10, 0.1, 0.0, 0.66), (130, 40, 0.05, 0.3, 0.86), (528, 141, 0.97, 0.3, 0.93), (500, 140, 0.002, 0.1, 0.60)],
)
def test_the_cells_that_the_t_interval_misses(n: int, clusters: int, p: float, rho: float, by_t: float) -> None:
    found = interval_coverage.measured(interval_coverage.of_rows(n, clusters, "even", p, rho), 2_000)
    assert found.coverage["t"] < by_t + 0.01
    assert found.coverage["ours"] >= interval_coverage.GOAL


@pytest.mark.slow
def test_every_cell_holds_but_the_one_that_none_can() -> None:
    """Of 500 samples the standard error of a coverage of .935 is .011; a cell may be two of them below."""
    found = {(cell.name, cell.truth): interval_coverage.held_by_ours(cell, 500) for cell in interval_coverage.cells()}
    missed = {name for (name, _), share in found.items() if share < interval_coverage.GOAL - 0.022}
    assert len(found) > 300
    assert missed == {"20 clusters, 5% of them large"}


def test_bounds_of_many_are_bounds_of_each() -> None:
    low, high = binomial_interval(np.array([0.0, 0.3, 1.0]), np.array([10.0, 7.5, 4.0]))
    for i, (value, n) in enumerate([(0.0, 10.0), (0.3, 7.5), (1.0, 4.0)]):
        assert (low[i], high[i]) == tuple(float(bound) for bound in binomial_interval(value, n))


# ---- differences ---------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.booleans(), st.sampled_from("abcdefgh")), max_size=30))
def test_a_difference_of_shares_is_that_of_the_means_and_never_a_point(drawn: list[tuple[float, bool, str]]) -> None:
    values, first, clusters = [list(column) for column in zip(*drawn, strict=True)] or ([], [], [])
    found = scorers.difference_of_shares(values, first, clusters)
    sides = [[v for v, of, _ in drawn if of is side] for side in (True, False)]
    if all(sides):
        assert found.value == pytest.approx(np.mean(sides[0]) - np.mean(sides[1]))
    else:
        assert math.isnan(found.value)
    if all(sides) and len(set(clusters)) > 1:
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high
        swapped = scorers.difference_of_shares(values, [not of for of in first], clusters)
        assert bounds(swapped) == pytest.approx([-found.high, -found.low])


def test_pairs_that_agree_have_bonett_and_prices_interval() -> None:
    """All of 20 pairs alike: 0 +/- t(19) sqrt(2) / 22."""
    found = scorers.difference_of_shares([1.0] * 40, [True, False] * 20, [i // 2 for i in range(40)])
    assert (found.value, found.stderr) == (0, pytest.approx(math.sqrt(2) / 22))
    assert found.high == pytest.approx(2.0930240544 * math.sqrt(2) / 22, rel=1e-9)
