"""`rank_sets`, `apart`, `together` and `spent`: by hand, against each other, and in simulated arenas."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from arena import EQUAL, NAMES, drawn, opening
from hypothesis import given, settings
from hypothesis import strategies as st

from humor_tasks.errors import BadInput
from humor_tasks.scorers.davidson import Fit, davidson
from humor_tasks.scorers.rank_sets import Neighbours, apart, rank_sets, spent, together


def fit(values: list[float], sd: float, clusters: int = 3000) -> Fit:
    """Strengths with independent normal errors, and equal clusters."""
    names = [f"p{k}" for k in range(len(values))]
    pairs = [(a, b) for a in names for b in names if a != b]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = davidson(first, second, [0.5] * len(pairs), ["x"] * len(pairs), [k % 2 for k in range(len(pairs))])
    size = len(found.parameters)
    covariance, k = np.eye(size), found.names.index
    covariance[: len(names), : len(names)] *= sd**2
    parameters = np.zeros(size)
    parameters[[k(name) for name in names]] = values
    # Equal clusters are as many effective ones.
    information = np.broadcast_to(np.eye(size), (clusters, size, size))
    return replace(found, parameters=parameters, covariance=covariance, model=covariance, information=information)


def test_three_players_by_hand() -> None:
    # Tukey's q(3, infinity; .95) = 3.314, so that differences beyond 3.314 standard errors of one player are apart.
    edge = 3.314
    assert rank_sets(fit([1.05 * edge, 0, 0], 1)) == {"p0": (1, 1), "p1": (2, 3), "p2": (2, 3)}
    assert rank_sets(fit([0.97 * edge, 0, 0], 1)) == {"p0": (1, 3), "p1": (1, 3), "p2": (1, 3)}
    # A chain: neighbours are open, the ends are apart.
    assert rank_sets(fit([0.6 * edge, 0, -0.6 * edge], 1)) == {"p0": (1, 2), "p1": (1, 3), "p2": (2, 3)}
    assert apart(fit([-1.05 * edge, 0, 0.2], 1)) == [Neighbours("p2", "p1", False), Neighbours("p1", "p0", True)]


def test_two_players_are_one_difference() -> None:
    # sqrt(2) * 1.96 = 2.77; two standard errors of the simulated quantile are some 2 % of it.
    assert rank_sets(fit([2.85, 0], 1)) == {"p0": (1, 1), "p1": (2, 2)}
    assert rank_sets(fit([2.77, 0], 1)) == {"p0": (1, 2), "p1": (1, 2)}
    e = together(fit([1, -1], 1))["p0"]
    assert e.high - e.value == pytest.approx(1.96 / np.sqrt(2), rel=0.03)


def test_few_clusters_need_more() -> None:
    """t(4; .975) = 2.776 for 1.96."""
    assert rank_sets(fit([3.5, 0], 1))["p0"] == (1, 1)
    assert rank_sets(fit([3.5, 0], 1, clusters=5))["p0"] == (1, 2)


def test_far_tails_are_bonferronis() -> None:
    """alpha of 2e-4 and two draws' ranks: the normal quantile of 1e-4 / 3 on either side, 3.988."""
    assert rank_sets(fit([4.0 * np.sqrt(2), 0, 0], 1), level=1 - 2e-4)["p0"] == (1, 1)
    assert rank_sets(fit([3.97 * np.sqrt(2), 0, 0], 1), level=1 - 2e-4)["p0"] == (1, 3)


@settings(max_examples=25)
@given(st.lists(st.integers(-30, 30), min_size=2, max_size=6), st.sampled_from([0.3, 1, 3]))
def test_sets_hold_the_estimated_rank_and_grow_with_the_level(steps: list[int], sd: float) -> None:
    found = fit([step / 10 for step in steps], sd)
    narrow, wide = rank_sets(found, 0.8), rank_sets(found, 0.99)
    for k, name in enumerate(narrow):
        assert wide[name][0] <= narrow[name][0] <= k + 1 <= narrow[name][1] <= wide[name][1]
    for pair in apart(found, 0.2):
        # Where neighbours are apart, so are the players on either side of them who are farther from each other.
        assert not pair.apart or narrow[pair.stronger][0] < narrow[pair.weaker][1]
    alone, joint = found.strengths(), together(found)
    assert all(joint[name].low < alone[name].low <= alone[name].high < joint[name].high for name in alone)


def test_the_error_spent_never_exceeds_alpha() -> None:
    assert [spent(0.06, look) for look in (1, 2, 3)] == pytest.approx([0.03, 0.01, 0.005])
    # 1 - 1 / (looks + 1) of alpha.
    assert sum(spent(0.05, look) for look in range(1, 1000)) == pytest.approx(0.05 * 0.999)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: rank_sets(f, 95), "level is 95"),
        (lambda f: together(f, 0), "level is 0"),
        (lambda f: apart(f, 1), "alpha is 1"),
        (lambda f: spent(0, 1), "alpha is 0"),
        (lambda f: spent(0.05, 0), "look is 0"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call(fit([1, 0], 1))


def test_judges_that_see_the_position_alone() -> None:
    """speed/arena.py draws more of them: at least 95 % of the ladders are flat."""
    rng, flat, open_sets = np.random.default_rng(1), [], []
    for seed in range(25):
        found = drawn(EQUAL, 44, rng, at_random=True).fit(opening(NAMES, range(44), seed, 14))
        each = together(found).values()
        flat.append(max(e.low for e in each) <= min(e.high for e in each))
        open_sets.append(all(sets == (1, 8) for sets in rank_sets(found).values()))
    assert all(flat)
    assert sum(open_sets) >= 23  # the sets hold together in 95 % of arenas


def test_intervals_that_hold_together_from_a_reference() -> None:
    found = drawn(EQUAL, 44, np.random.default_rng(2)).fit(opening(NAMES, range(44), 2, 14))
    alone, joint = found.strengths(NAMES[0]), together(found, reference=NAMES[0])
    assert (joint[NAMES[0]].low, joint[NAMES[0]].value, joint[NAMES[0]].high) == (0, 0, 0)
    assert all(joint[name].value == alone[name].value for name in NAMES)
    assert all(joint[name].high > alone[name].high for name in NAMES[1:])
    with pytest.raises(BadInput, match="'nobody' is none of the players"):
        together(found, reference="nobody")


def unanimous(contests: int, agree: int = 0) -> Fit:
    """A judge that prefers a to b, and b to c, in both orders of all contests; `agree`: but for every such one."""
    rows = []
    for contest in range(contests):
        up = not (agree and contest % agree == 0)
        for better, worse in (("a", "b"), ("b", "c"), ("a", "c")):
            one, other = (better, worse) if up else (worse, better)
            rows += [(one, other, 1.0, contest), (other, one, 0.0, contest)]
    first, second, results, clusters = zip(*rows, strict=True)
    return davidson(first, second, results, ["judge"] * len(rows), clusters)


def test_players_that_always_win_are_apart() -> None:
    """A Wald test never says so, however many contests there are: its error grows with the difference."""
    few, many = unanimous(8), unanimous(20)
    difference = many.difference("a", "b")
    assert difference.value < 4 * difference.stderr
    for contests, found in ((8, few), (20, many)):
        statistic, p = found.score_test("a", "b")
        assert statistic == pytest.approx(contests**0.5)
        assert p == pytest.approx(max(2 * (1 - NormalDist().cdf(statistic)), 2 ** (1 - contests)))
        assert found.score_test("b", "a") == (-statistic, pytest.approx(p))
    assert [pair.apart for pair in apart(few, 0.001)] == [False, False]
    assert [pair.apart for pair in apart(many, 0.001)] == [True, True]
    assert rank_sets(many, 0.999) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}


def test_the_score_test_agrees_with_intervals_where_nobody_always_wins() -> None:
    found = unanimous(60, agree=3)
    difference, (statistic, _) = found.difference("a", "c"), found.score_test("a", "c")
    assert statistic == pytest.approx(difference.value / difference.stderr, rel=0.25)
