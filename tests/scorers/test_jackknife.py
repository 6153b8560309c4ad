"""`pseudo_values` and `swap_values`: by hand, for a mean, and against linearised errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers.jackknife import pseudo_values, swap_values
from humor_tasks.scorers.paired import paired_tests


def mean_of(values: Sequence[float]) -> Callable[[Sequence[int]], float]:
    return lambda kept: math.fsum(values[i] for i in kept) / len(kept)


@pytest.mark.parametrize(
    ("values", "clusters", "expected"),
    [
        ([1, 2, 6], "abc", [1, 2, 6]),  # of a mean over single items: the items themselves
        ([1, 2, 6, 8], "aabb", [1.5, 7]),
        ([1, 2], "aa", [1.5]),
        ([], "", []),
    ],
)
def test_by_hand(values: list[float], clusters: str, expected: list[float]) -> None:
    assert pseudo_values(mean_of(values), clusters) == pytest.approx(expected)


def test_a_ratio_by_hand() -> None:
    tops, bottoms = [1, 2, 3], [2, 2, 8]
    found = pseudo_values(lambda kept: sum(tops[i] for i in kept) / sum(bottoms[i] for i in kept), "abc")
    # 6/12 of all; without each 5/10, 4/10, 3/4, whose mean is .55
    assert found == pytest.approx([0.5 + 2 * (0.55 - x) for x in (0.5, 0.4, 0.75)])


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=60), st.integers(2, 9))
def test_the_mean_is_the_statistic_with_any_number_of_groups(values: list[float], groups: int) -> None:
    found = pseudo_values(mean_of(values), range(len(values)), groups)
    assert len(found) == min(groups, len(values))
    assert sum(found) / len(found) == pytest.approx(sum(values) / len(values), abs=1e-9)


def test_its_error_is_that_of_the_linearised_rmse() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(150), 4).tolist()
    gold = rng.uniform(0, 3, 600)
    pred = (gold + rng.normal(0, 0.5, 600) + rng.normal(0, 0.3, 150)[clusters]).tolist()
    gold = gold.tolist()

    def rmse(kept: Sequence[int]) -> float:
        return math.sqrt(sum((pred[i] - gold[i]) ** 2 for i in kept) / len(kept))

    linear = scorers.rmse(pred, gold, clusters)
    for groups, tolerance in ((150, 0.02), (50, 0.25)):
        found = pseudo_values(rmse, clusters, groups)
        jackknifed = scorers.clustered_mean(found, range(groups))
        assert jackknifed.value == pytest.approx(linear.value)
        assert jackknifed.stderr == pytest.approx(linear.stderr, rel=tolerance)
    assert pseudo_values(rmse, clusters) == pseudo_values(rmse, clusters)
    assert pseudo_values(rmse, clusters, seed=1) != pseudo_values(rmse, clusters)


Both = Callable[[Sequence[int], Sequence[int]], float]


def together(first: Sequence[float], second: Sequence[float], root: bool = False) -> Both:
    """The mean, or the root mean square, of both systems' values."""
    power = 2 if root else 1

    def statistic(of_first: Sequence[int], of_second: Sequence[int]) -> float:
        values = [first[i] for i in of_first] + [second[i] for i in of_second]
        return (math.fsum(v**power for v in values) / len(values)) ** (1 / power)

    return statistic


clustered = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5), st.integers(0, 8)), min_size=2, max_size=40)


@given(clustered, st.integers(2, 5))
def test_for_a_mean_swap_values_are_the_groups_sums_of_differences(
    rows: list[tuple[float, float, int]], groups: int
) -> None:
    first, second, clusters = map(list, zip(*rows, strict=True))
    found = swap_values(together(first, second), clusters, groups)
    expected = scorers.paired_difference(first, second, clusters).value
    assert len(found) == min(groups, len(set(clusters)))
    assert sum(found) == pytest.approx(expected, abs=1e-9)
    everything = swap_values(together(first, second), clusters)  # each cluster its own group, by appearance
    sums = [sum(a - b for a, b, c in rows if c == cluster) / len(rows) for cluster in dict.fromkeys(clusters)]
    assert everything == pytest.approx(sums, abs=1e-9)


@given(clustered.filter(lambda rows: len({c for *_, c in rows}) > 1), st.data())
def test_swapping_two_systems_in_a_cluster_changes_that_sign_alone(
    rows: list[tuple[float, float, int]], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(sorted({c for *_, c in rows})))
    swapped = [(b, a, c) if c == chosen else (a, b, c) for a, b, c in rows]
    signs = [-1 if c == chosen else 1 for c in dict.fromkeys(c for *_, c in rows)]
    before, after = (
        swap_values(together(first, second, root=True), clusters)
        for first, second, clusters in (map(list, zip(*each, strict=True)) for each in (rows, swapped))
    )
    assert after == pytest.approx([sign * value for sign, value in zip(signs, before, strict=True)], abs=1e-7)


def test_the_permutation_test_of_an_rmse_is_that_of_the_squared_errors() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(12), 10).tolist()
    first, second = (abs(rng.normal(0, spread, 120)).tolist() for spread in (0.8, 1))
    swaps = swap_values(together(first, second, root=True), clusters)
    assert sum(swaps) == pytest.approx(
        math.sqrt(np.mean(np.square(first))) - math.sqrt(np.mean(np.square(second))), rel=0.05
    )
    values = [pseudo_values(lambda kept, x=x: together(x, x, True)(kept, ()), clusters) for x in (first, second)]
    (found,) = paired_tests([(*values, range(12))], swapped=[swaps])
    squares = paired_tests([(np.square(first).tolist(), np.square(second).tolist(), clusters)])[0]
    assert found.p_value == pytest.approx(squares.p_value, abs=0.01)  # the same order, but for rounding
    assert found.draws == squares.draws == 0
    assert found.difference.value == pytest.approx(sum(swaps), rel=0.05)


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="groups is 1"):
        pseudo_values(mean_of([1, 2]), "ab", 1)
    with pytest.raises(BadInput, match="groups is 0"):
        swap_values(together([1, 2], [2, 1]), "ab", 0)
    with pytest.raises(BadInput, match=r"clusters\[1\] is None"):
        pseudo_values(mean_of([1, 2]), ["a", None])
