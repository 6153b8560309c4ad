"""Tests of two systems on the same items, by hand, against SciPy and statsmodels, and their errors in simulations."""

from __future__ import annotations

import dataclasses
import itertools
import math
import runpy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test
from standins.paths import REPOSITORY
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers import paired
from humor_tasks.scorers.paired import PairedTest, holm, mcnemar, paired_tests, permutation_items

NAN = math.nan
SCRIPT = REPOSITORY / "speed" / "compare_errors.py"
binary = st.integers(0, 1)
rows = st.lists(st.tuples(binary, binary, st.integers(0, 6)), min_size=1, max_size=30)
rating = st.integers(-300, 300).map(lambda k: k * math.pi / 100)  # on no grid
ratings = st.lists(st.tuples(rating, rating, st.integers(0, 25)), min_size=1, max_size=40)


def paired_test(first: Any, second: Any, clusters: Any, **settings: Any) -> PairedTest:
    return paired_tests([(first, second, clusters)], **settings)[0]


def columns(found: list[tuple[Any, Any, int]]) -> tuple[list[Any], list[Any], list[int]]:
    first, second, clusters = zip(*found, strict=True)
    return list(first), list(second), list(clusters)


def plainly(first: list[float], second: list[float], clusters: list[int]) -> float:
    """The share of all sign patterns of the clusters' sums that are at least as extreme."""
    sums: dict[int, float] = {}
    for a, b, cluster in zip(first, second, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0) + a - b
    observed = abs(sum(sums.values())) - 1e-9
    patterns = list(itertools.product((-1, 1), repeat=len(sums)))
    return sum(abs(np.dot(signs, list(sums.values()))) >= observed for signs in patterns) / len(patterns)


# ---- by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "clusters", "p_value", "p_mcnemar", "counts"),
    [
        ([1, 1, 1, 1], [0, 0, 0, 0], "abcd", 2 / 16, 2 / 16, (4, 0, 0)),
        ([1, 1, 1, 1], [0, 0, 0, 0], "aabb", 2 / 4, 2 / 16, (4, 0, 0)),  # a contest is one observation
        ([1, 1, 1, 1], [0, 0, 0, 0], "aaaa", 1, 2 / 16, (4, 0, 0)),  # one cluster shows nothing
        ([1, 0, 1, 0], [1, 0, 1, 0], "abcd", 1, 1, (0, 0, 4)),  # all equal
        # sums 2, 1, 1: |sum| = 4 under 2 of 8 patterns
        ([1, 1, 1, 1, 1], [0, 0, 0, 0, 1], "aabcc", 2 / 8, 2 / 16, (4, 0, 1)),
        ([0.5, 1, 0.25], [0, 0, 0], "abc", 2 / 8, NAN, (3, 0, 0)),
        ([math.pi, 1, 2], [0, 0, 3], "abc", 6 / 8, NAN, (2, 1, 0)),  # on no grid: enumerated
        ([], [], "", 1, 1, (0, 0, 0)),
    ],
)
def test_by_hand(
    first: list[float],
    second: list[float],
    clusters: str,
    p_value: float,
    p_mcnemar: float,
    counts: tuple[int, int, int],
) -> None:
    found = paired_test(first, second, clusters)
    assert (found.p_value, found.draws) == (pytest.approx(p_value), 0)
    assert found.mcnemar == pytest.approx(p_mcnemar, nan_ok=True)
    assert (found.higher, found.lower, found.equal) == counts


def test_without_variance_the_t_test_says_nothing_and_needed_is_unknown() -> None:
    same, shifted, one = (paired_test(*x) for x in (([1, 0], [1, 0], "ab"), ([1, 1], [0, 0], "ab"), ([1], [0], "a")))
    assert (same.t_p_value, same.difference.stderr, same.needed) == (1, 0, None)
    assert math.isnan(shifted.t_p_value)
    assert shifted.needed is None
    assert math.isnan(one.t_p_value)
    assert math.isnan(one.difference.low)
    assert one.needed is None


def test_the_difference_and_the_number_of_items_are_those_of_the_functions_that_exist() -> None:
    rng = np.random.default_rng(0)
    first, second, clusters = rng.random(60).tolist(), rng.random(60).tolist(), rng.integers(0, 20, 60).tolist()
    found = paired_test(first, second, clusters, level=0.9, power=0.7)
    assert found.difference == scorers.paired_difference(first, second, clusters, 0.9)
    assert found.needed == permutation_items(first, second, clusters, found.difference.value, 0.7, 0.9)
    assert found.needed >= scorers.needed_items(first, second, clusters, found.difference.value, 0.7, 0.9)


def test_with_one_item_a_cluster_the_number_of_items_is_connors() -> None:
    # 15 only the first gets right, 5 only the second: psi = .2, difference .1
    first, second = [1] * 15 + [0] * 5 + [1] * 80, [0] * 15 + [1] * 5 + [1] * 80
    spread = (0.2 - 0.01) * 100 / 99  # n - 1
    wanted = (norm.ppf(0.975) * math.sqrt(spread + 0.01) + norm.ppf(0.8) * math.sqrt(spread)) ** 2 / 0.01
    assert permutation_items(first, second, range(100), 0.1) == math.ceil(wanted) == 157
    # ten items a contest, all alike: the mean of a contest is one observation
    many = [[x for x in column for _ in range(10)] for column in (first, second, range(100))]
    assert permutation_items(*many, 0.1) == pytest.approx(1570, abs=10)


# ---- other libraries ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_mcnemar_and_the_clustered_t_test_are_those_of_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 300))
    first, second = (rng.random(n) < rng.random()).astype(int), (rng.random(n) < rng.random()).astype(int)
    clusters = rng.integers(0, max(3, n // 4), n)
    found = paired_test(first.tolist(), second.tolist(), clusters.tolist())
    table = [[int(((first == i) & (second == j)).sum()) for j in (1, 0)] for i in (1, 0)]
    assert found.mcnemar == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue)
    fit = OLS(first - second, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    assert found.t_p_value == pytest.approx(float(fit.pvalues[0]))
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(fit.conf_int()[0]))


@pytest.mark.parametrize("seed", range(3))
def test_with_one_item_a_cluster_the_permutation_test_is_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0.4, 1, 11), rng.normal(0, 1, 11)
    expected = permutation_test(
        (first, second), lambda a, b: (a - b).mean(), permutation_type="samples", n_resamples=math.inf
    )
    assert paired_test(first.tolist(), second.tolist(), range(11)).p_value == pytest.approx(expected.pvalue)


def test_holm_is_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gc.collect", lambda: 0)  # statsmodels calls it, and beside a whole suite it takes a second
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7, 40):
        p_values = (rng.random(n) ** 3).round(2).tolist()  # small ones, and ties
        assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [([], []), ([0.04], [0.04]), ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]), ([0.9, 0.9], [1, 1])],
)
def test_holm_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


# ---- properties ---------------------------------------------------------------------------------


@settings(max_examples=40)
@given(rows)
def test_binary_scores_give_the_exact_share_of_all_patterns(found: list[tuple[int, int, int]]) -> None:
    tested = paired_test(*columns(found))
    assert (tested.p_value, tested.draws) == (pytest.approx(plainly(*columns(found))), 0)


@settings(max_examples=40)
@given(ratings.filter(lambda found: len({cluster for *_, cluster in found}) <= 7))
def test_few_clusters_are_enumerated(found: list[tuple[float, float, int]]) -> None:
    tested = paired_test(*columns(found))
    assert (tested.p_value, tested.draws) == (pytest.approx(plainly(*columns(found))), 0)


@given(rows)
def test_with_one_item_a_cluster_it_is_mcnemars_test(found: list[tuple[int, int, int]]) -> None:
    first, second, _ = columns(found)
    tested = paired_test(first, second, range(len(first)))
    assert tested.p_value == pytest.approx(tested.mcnemar)


@settings(max_examples=60)
@given(st.one_of(rows, ratings), st.randoms())
def test_swapped_systems_and_another_order_of_items_change_no_p_value(found: list[Any], random: Any) -> None:
    tested = paired_test(*columns(found), draws=50)
    swapped = paired_test(*columns([(b, a, cluster) for a, b, cluster in found]), draws=50)
    assert swapped.difference.value == pytest.approx(-tested.difference.value)
    assert (swapped.difference.low, swapped.difference.high) == pytest.approx(
        (-tested.difference.high, -tested.difference.low), nan_ok=True
    )
    assert (swapped.higher, swapped.lower, swapped.needed) == (tested.lower, tested.higher, tested.needed)
    mixed = random.sample(found, len(found))
    shuffled = paired_test(*columns(mixed), draws=50)
    for other in (swapped, shuffled):
        names = ("p_value", "t_p_value", "mcnemar")
        assert [getattr(other, n) for n in names] == pytest.approx([getattr(tested, n) for n in names], nan_ok=True)


def drawn_ratings(groups: int = 40) -> tuple[list[float], list[float], list[int]]:
    rng = np.random.default_rng(1)
    return rng.normal(0.15, 1, 3 * groups).tolist(), rng.normal(0, 1, 3 * groups).tolist(), list(range(groups)) * 3


def test_random_patterns_agree_with_the_t_test_and_have_a_seed() -> None:
    tested = paired_test(*drawn_ratings(), draws=20_000)
    assert tested.draws == 20_000
    assert tested.p_value == pytest.approx(tested.t_p_value, abs=0.02)
    assert paired_test(*drawn_ratings(), draws=20_000) == tested
    assert paired_test(*drawn_ratings(), draws=20_000, seed=1).p_value != tested.p_value


def test_random_patterns_and_the_exact_distribution_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    first, second = (rng.random(200) < 0.65).astype(float).tolist(), (rng.random(200) < 0.5).astype(float).tolist()
    clusters = rng.integers(0, 50, 200).tolist()
    exact = paired_test(first, second, clusters)
    monkeypatch.setattr(paired, "_LONGEST", 0)
    sampled = paired_test(first, second, clusters, draws=40_000)
    assert (exact.draws, sampled.draws) == (0, 40_000)
    assert sampled.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(exact.p_value / 40_000))


def test_a_p_value_is_never_zero() -> None:
    rng = np.random.default_rng(0)
    second = rng.random(100).tolist()
    tested = paired_test(
        [s + 5 + x for s, x in zip(second, rng.random(100), strict=True)], second, range(100), draws=99
    )
    assert (tested.p_value, tested.draws) == (0.01, 99)
    assert 0 < paired_test([1] * 900, [0] * 900, range(900)).p_value < 1e-250


def test_pairs_together_are_tested_as_alone_and_corrected_for_each_other() -> None:
    pairs = [([1, 0, 1], [0, 0, 0], [0, 1, 2]), drawn_ratings(), drawn_ratings(20)]
    together, alone = paired_tests(pairs, draws=500), [paired_test(*pair, draws=500) for pair in pairs]
    for a, b in zip(together[:2], alone[:2], strict=True):  # the third is shorter than the columns drawn for both
        assert dataclasses.replace(a, adjusted=b.adjusted, needed=b.needed) == b
    assert [t.adjusted for t in together] == pytest.approx(holm([t.p_value for t in together]))
    assert [t.adjusted for t in alone] == [t.p_value for t in alone]
    first, second, clusters = pairs[1]
    gap = together[1].difference.value
    assert together[1].needed == permutation_items(first, second, clusters, gap, level=1 - 0.05 / 3)
    assert together[1].needed > (alone[1].needed or 0)
    assert paired_tests([]) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_test([1], [1, 2], "a"), "second has 2"),
        (lambda: paired_test([1, NAN], [1, 2], "ab"), r"first\[1\] is nan"),
        (lambda: paired_test([1, 2], [1, 2], ["a", None]), r"clusters\[1\] is None"),
        (lambda: paired_test([1], [1], "a", draws=0), "draws is 0"),
        (lambda: paired_test([1], [1], "a", level=95), "level is 95"),
        (lambda: paired_test([1, 1, 0], [0, 0, 1], "abc", power=1), "power is 1"),
        (lambda: holm([0.1, NAN]), r"p_values\[1\] is nan"),
        (lambda: holm([1.1]), r"p_values\[0\] is 1\.1"),
        (lambda: mcnemar(-1, 3), "counts are -1 and 3"),
    ],
)
def test_bad_input_is_named(call: Callable[[], PairedTest], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()


# ---- errors and power ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "t_fails", "mcnemar_fails"),
    [
        ((3, 100, 10, "uneven", 0.3), False, True),
        ((3, 120, 30, "half", 0.7), True, True),
        ((4, 200, 40, "even", 0.3, "copies"), False, False),
        ((4, 200, 20, "uneven", 0.3, "ratings"), False, False),
    ],
)
def test_equal_systems_are_seldom_told_apart_after_holm(shape: Any, t_fails: bool, mcnemar_fails: bool) -> None:
    script = runpy.run_path(str(SCRIPT))
    found = script["errors"](script["Cell"](*shape), 200, draws=200)
    assert found["permutation"] <= 0.055
    assert not t_fails or found["clustered t"] > 0.055
    assert not mcnemar_fails or found["McNemar"] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "simulations", "least", "most"), [(2, 300, 0.74, 0.86), (4, 80, 0.7, 0.95)])
def test_planted_differences_are_found_with_the_promised_power(
    systems: int, simulations: int, least: float, most: float
) -> None:
    script = runpy.run_path(str(SCRIPT))
    cell, found = script["power"](script["Cell"](systems, 400, 100, "even", 0.3), 0.1, simulations)
    assert cell.items > 400
    assert least <= found["permutation"] <= most  # of four, Holm's correction is milder than the one of `needed`
