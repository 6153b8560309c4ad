"""`spread` by hand, against loops over the formula, under changes that must not matter, and in the simulation."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import spread_coverage
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers import Estimate


def numbers(e: Estimate) -> list[float]:
    return [e.value, e.stderr, e.low, e.high]


# t(3; .975) = 3.18245, t(7; .975) = 2.36462, t(1; 1 - .05/6) = 38.1885, t(2.8125; .975) = 3.30590
@pytest.mark.parametrize(
    ("values", "clusters", "bounded", "expected"),
    [
        # d = 0 1 0 0, of which e^2 sums to .75 and e^4 to .328125: r = .5833 - .25, and 2 / r = 6 is more than 3
        ([[1, 1, 0, 0], [1, 0, 0, 0]], 4, False, [0.25, 0.25, 0, 0.25 + 3.18245 * 0.25]),
        ([[1, 1, 0, 0], [1, 0, 0, 0]], 4, True, [0.25, math.sqrt(0.75 / 12 + 2 / 36), 0, 1]),
        # eight groups of twenty clusters: what no item tells apart
        ([[1, 0] * 4, [1, 0] * 4], 20, True, [0, math.sqrt(2) / 22, 0, 2.36462 * math.sqrt(2) / 22]),
        ([[1, 0] * 4, [1, 0] * 4], 20, False, [0, 0, 0, 0]),
        # three pairs, d = -2 and -6, -4 and -10, -2 and -4: widths of 38.2 times 2, 3 and 1
        ([[0, 0], [2, 6], [4, 10]], 2, False, [7, 3, 0, 7 + 3 * 38.1885]),
        # d = nine times 1 and 10: r = .81111 - .1, and 2 / r = 2.8125 is less than 9
        ([[1] * 9 + [11], [0] * 9 + [1]], 10, False, [1.9, 0.9, 0, 1.9 + 0.9 * 3.30590]),
    ],
)
def test_by_hand(values: list[list[float]], clusters: int, bounded: bool, expected: list[float]) -> None:
    found = scorers.spread(values, 40, clusters, bounded)
    assert numbers(found) == pytest.approx(expected, rel=1e-5)
    assert (found.n, found.clusters) == (40, clusters)


quarters = st.integers(0, 8).map(lambda quarter: quarter / 4)
tables = st.integers(2, 12).flatmap(
    lambda groups: st.lists(st.lists(quarters, min_size=groups, max_size=groups), min_size=2, max_size=5)
)


def by_loops(values: list[list[float]], clusters: int, bounded: bool, level: float) -> list[float]:
    groups, found, noise = len(values[0]), [], []
    pairs = list(combinations(values, 2))
    for first, second in pairs:
        gaps = [a - b for a, b in zip(first, second, strict=True)]
        mean = sum(gaps) / groups
        squares = [(gap - mean) ** 2 for gap in gaps]
        if sum(squares) > 1e-20:
            noise.append(sum(s * s for s in squares) / sum(squares) ** 2 - 1 / groups)
        found.append((abs(mean), sum(squares) / groups / (groups - 1) + bounded * 2 / (clusters + 2) ** 2))
    dof: float = groups - 1
    if not bounded and noise and sum(noise) > 1e-9:
        dof = min(dof, 2 * len(noise) / sum(noise))
    t = float(stdtrit(dof, 1 - (1 - level) / 2 / len(pairs)))
    value = max(mean for mean, _ in found)
    low = max(0.0, *(mean - t * math.sqrt(variance) for mean, variance in found))
    high = max(mean + t * math.sqrt(variance) for mean, variance in found)
    return [
        value,
        max(math.sqrt(variance) for mean, variance in found if mean > value - 1e-9),
        low,
        min(high, 1.0) if bounded else high,
    ]


@given(tables, st.integers(0, 400), st.booleans(), st.sampled_from([0.8, 0.95]))
def test_against_loops(values: list[list[float]], more: int, bounded: bool, level: float) -> None:
    clusters = len(values[0]) + more
    found = scorers.spread(values, 1, clusters, bounded, level)
    assert numbers(found) == pytest.approx(by_loops(values, clusters, bounded, level), abs=1e-7)


@given(tables, st.booleans(), st.randoms(use_true_random=False), st.integers(-3, 3))
def test_order_and_a_constant_do_not_matter(values: list[list[float]], bounded: bool, random, constant: int) -> None:
    clusters = len(values[0])
    before = numbers(scorers.spread(values, 1, clusters, bounded))
    settings = random.sample(values, len(values))
    groups = random.sample(range(clusters), clusters)
    moved = [[setting[g] + constant for g in groups] for setting in settings]
    assert numbers(scorers.spread(moved, 1, clusters, bounded)) == pytest.approx(before, abs=1e-7)


@given(tables, st.integers(2, 5), st.booleans())
def test_equal_settings_spread_exactly_0(values: list[list[float]], settings: int, bounded: bool) -> None:
    found = scorers.spread([values[0]] * settings, 1, len(values[0]), bounded)
    assert (found.value, found.low) == (0, 0)
    assert (found.high > 0) == bounded


def test_two_settings_that_differ_evenly_have_the_interval_of_a_paired_difference() -> None:
    first, second = [3.0, 5.0] * 6, [1.0, 2.0] * 6
    found = scorers.spread([first, second], 12, 12)
    paired = scorers.clustered_mean([a - b for a, b in zip(first, second, strict=True)], range(12))
    assert numbers(found) == pytest.approx(numbers(paired))


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ([], math.nan),
        ([[1, 2]], math.nan),
        ([[], []], math.nan),
        ([[1, math.nan], [1, 2]], math.nan),
        ([[1], [3], [2]], 2),
    ],
)
def test_what_has_no_interval(values: list[list[float]], value: float) -> None:
    found = scorers.spread(values, 5, 4)
    assert numbers(found) == pytest.approx([value, math.nan, math.nan, math.nan], nan_ok=True)
    assert (found.n, found.clusters) == (5, 4)


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match=r"values\[1\] has 1 values and values\[0\] has 2; .*same clusters and seed"):
        scorers.spread([[1, 2], [1]], 2, 2)
    with pytest.raises(BadInput, match="3 values, but clusters is 2"):
        scorers.spread([[1, 2, 3], [1, 2, 3]], 3, 2)
    with pytest.raises(BadInput, match="level is 95"):
        scorers.spread([[1, 2], [1, 2]], 2, 2, level=95)


# ---- coverage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["accuracy", "rmse"])
def test_the_simulation_draws_what_the_scorer_computes(kind: str) -> None:
    """The pseudo-values of the simulation, from clusters' sums, are those of the rows."""
    cell = spread_coverage.Cell(kind, 3, 60, 1, 0.2, 0.5)
    drawn = spread_coverage.sums(cell, np.random.default_rng(0), 1)
    (found,) = spread_coverage.pseudo_values(cell, drawn)

    def statistic(rows: list[float]):
        return lambda kept: float(cell.metric(math.fsum(rows[i] for i in kept) / len(kept)))

    for values, rows in zip(found, drawn[0].tolist(), strict=True):
        assert values == pytest.approx(scorers.pseudo_values(statistic(rows), range(60)), abs=1e-5)


@pytest.mark.parametrize(
    ("cell", "bootstrap"),
    [
        (spread_coverage.Cell("accuracy", 5, 131, 1, 0.01, 0.5), 0.01),
        (spread_coverage.Cell("accuracy .95", 2, 60, 1, 0.01, 0.9), 0.8),
        (spread_coverage.Cell("rmse", 5, 20, 1, 0.0, 0.9), 0.01),
        (spread_coverage.Cell("heavy", 2, 60, 1, 0.2, 0.9), 0.95),
    ],
)
def test_hard_cells_hold_where_the_bootstrap_does_not(cell: spread_coverage.Cell, bootstrap: float) -> None:
    found = spread_coverage.measured(cell, 1_500)
    assert found.coverage >= spread_coverage.GOAL
    assert found.bootstrap <= bootstrap
