from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers.jackknife import pseudo_values


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


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="groups is 1"):
        pseudo_values(mean_of([1, 2]), "ab", 1)
    with pytest.raises(BadInput, match=r"clusters\[1\] is None"):
        pseudo_values(mean_of([1, 2]), ["a", None])
