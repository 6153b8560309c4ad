"""`association`, `right_when_wrong` and `independent_difference`, against SciPy and on planted effects."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from humor_tasks.errors import BadInput
from humor_tasks.scorers.association import association, independent_difference, right_when_wrong
from humor_tasks.scorers.estimate import clustered_mean


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from((0.0, 1.0))), min_size=4, max_size=80))
def test_of_correctness_is_pearsons_chi_square_and_cramers_v(rows: list[tuple[str, float]]) -> None:
    groups, values = zip(*rows, strict=True)
    found = association(groups, values, draws=1)
    if len(set(groups)) < 2 or len(set(values)) < 2:
        assert math.isnan(found.statistic)
        return
    names = sorted(set(groups))
    table = [[sum(g == name and v == value for g, v in rows) for value in (0.0, 1.0)] for name in names]
    expected = stats.chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert (found.dof, found.p) == (expected.dof, pytest.approx(expected.pvalue))
    assert found.v == pytest.approx(stats.contingency.association(np.array(table)), abs=1e-7)
    assert found.expected == pytest.approx(expected.expected_freq.min())


def test_of_ranks_is_kruskal_and_wallis() -> None:
    rng = np.random.default_rng(1)
    groups, values = rng.integers(0, 5, 60), rng.normal(size=60)
    found = association(groups.tolist(), stats.rankdata(values).tolist(), draws=1)
    expected = stats.kruskal(*(values[groups == g] for g in range(5)))
    assert found.statistic * 59 / 60 == pytest.approx(expected.statistic)


def test_the_permutation_p_value_is_that_of_all_permutations() -> None:
    """Of the 20 ways to choose the three right ones of six, 2 are as extreme as all right in one group of three."""
    found = association("aaabbb", [1, 1, 1, 0, 0, 0], draws=20_000)
    assert found.p_permutation == pytest.approx(2 / 20, abs=0.01)
    assert association("aaabbb", [1, 1, 1, 0, 0, 0], draws=20_000) == found


def test_clusters_are_permuted_where_a_group_consists_of_them() -> None:
    """Two folds of five contests, each contest wholly right or wrong: items alone would make the folds differ."""
    contest = [c for c in range(10) for _ in range(10)]
    fold = [c // 5 for c in contest]
    right = [float(c in (0, 1, 2, 3, 7)) for c in contest]
    by_item, by_contest = association(fold, right), association(fold, right, contest)
    assert not by_item.by_cluster
    assert by_contest.by_cluster
    assert by_item.p_permutation < 0.001
    # 5 of 10 contests right; 4 or more, or 1 or fewer, of them in the first fold: 52 of the 252 ways
    assert by_contest.p_permutation == pytest.approx(52 / 252, abs=0.015)
    assert not association(contest, right, contest).by_cluster
    crossing = association([i % 2 for i in range(100)], right, contest)
    assert not crossing.by_cluster


def test_an_item_may_be_in_several_groups() -> None:
    """Each item with both its distractors; whoever sees the hard distractor `h` fails."""
    groups = [("h" if i % 5 == 0 else f"d{i % 7}", f"e{i % 3}") for i in range(100)]
    values = [float(i % 5 != 0) for i in range(100)]
    found = association(groups, values, draws=999)
    assert found.items == 100
    assert found.p_permutation == 1 / 1000
    assert association(groups, [float(i % 2) for i in range(100)], draws=999).p_permutation > 0.05


def test_p_values_are_uniform_without_an_effect() -> None:
    rng = np.random.default_rng(3)
    found = [
        association(rng.integers(0, 30, 120).tolist(), (rng.random(120) < 0.6).astype(float).tolist(), draws=99)
        for _ in range(200)
    ]
    assert 0.02 < np.mean([each.p_permutation <= 0.05 for each in found]) < 0.08


@pytest.mark.parametrize(("groups", "values"), [("aaa", [0, 1, 1]), ("abc", [1, 1, 1]), ("a", [1]), ("", [])])
def test_nothing_to_compare_is_nan(groups: str, values: list[float]) -> None:
    found = association(groups, values)
    assert all(math.isnan(x) for x in (found.statistic, found.v, found.p, found.p_permutation))


def test_association_refuses_lists_of_different_length_and_no_draws() -> None:
    with pytest.raises(BadInput, match="one value per item"):
        association("ab", [1])
    with pytest.raises(BadInput, match=r"values\[1\] is nan; a value is a finite number"):
        association(["a", "b"], [1.0, math.nan])
    with pytest.raises(BadInput, match="draws is 0"):
        association("ab", [1, 0], draws=0)


def test_right_when_wrong() -> None:
    """The paper's direction: two alike systems are right less often where the other is wrong."""
    first, second = [1] * 60 + [0] * 40, [1] * 50 + [0] * 10 + [1] * 5 + [0] * 35
    found = right_when_wrong(first, second)
    assert (found.n, found.share, found.expected) == (45, 10 / 45, 0.6)
    assert found.p == pytest.approx(stats.fisher_exact([[35, 10], [5, 50]]).pvalue)
    never = right_when_wrong([1, 0], [1, 1])
    assert (never.n, math.isnan(never.share), never.expected) == (0, True, 0.5)
    with pytest.raises(BadInput, match=r"second has the value 0\.5"):
        right_when_wrong([1, 0], [1, 0.5])


def test_whole_clusters_are_permuted_where_systems_fail_on_whole_clusters() -> None:
    """Items of a contest fail together: Fisher's test then finds links between systems that have none."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(30), 4).tolist()

    def drawn() -> list[float]:
        return np.repeat(rng.random(30) < 0.6, 4).astype(float).tolist()

    found = [right_when_wrong(drawn(), drawn(), clusters, draws=99) for _ in range(300)]
    assert np.mean([each.p <= 0.05 for each in found]) > 0.2
    assert 0.02 < np.mean([each.p_clusters <= 0.05 for each in found]) < 0.09
    same = drawn()
    assert right_when_wrong(same, same, clusters, draws=99).p_clusters == 0.01


def test_independent_difference_is_welchs() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(1, 1, 12), rng.normal(0, 3, 40)
    found = independent_difference(clustered_mean(a, range(12)), clustered_mean(b, range(40)))
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert (found.value, found.n) == (pytest.approx(a.mean() - b.mean()), 52)
