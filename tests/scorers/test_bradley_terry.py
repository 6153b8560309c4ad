"""`bradley_terry`: by hand, a published table, a plain iteration, graphs without a maximum, and the bootstrap."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers import preference

Row = tuple[str, str, float, int]  # first, second, preference, cluster
NAN = math.nan

comparisons = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from([0, 0.25, 0.5, 1]), st.integers(0, 4)),
    min_size=1,
    max_size=30,
).map(lambda rows: [row for row in rows if row[0] != row[1]])


def fitted(rows: list[Row], **options: Any) -> dict[str, scorers.Strength]:
    first, second, preferences, clusters = ([row[k] for row in rows] for k in range(4))
    return scorers.bradley_terry(first, second, preferences, clusters, **{"draws": 20} | options)  # type: ignore[arg-type]


def values(found: dict[str, scorers.Strength]) -> dict[str, float]:
    return {name: strength.estimate.value for name, strength in found.items()}


def reached(rows: list[Row], start: str) -> set[str]:
    """Whom a chain of wins, or ties, leads to."""
    found = {start}
    while True:
        more = {b for a, b, p, _ in rows if p > 0 and a in found} | {a for a, b, p, _ in rows if p < 1 and b in found}
        if more <= found:
            return found
        found |= more


def naive_fit(rows: list[Row], steps: int = 20_000) -> dict[str, float]:
    """Zermelo's iteration (1929): each system's wins over what it meets, one system after another."""
    odds = dict.fromkeys((name for row in rows for name in row[:2]), 1.0)
    for _ in range(steps):
        before = dict(odds)
        for name in odds:
            won = sum(p if a == name else 1 - p for a, b, p, _ in rows if name in (a, b))
            odds[name] = won / sum(1 / (odds[a] + odds[b]) for a, b, _, _ in rows if name in (a, b))
        mean = math.exp(sum(map(math.log, odds.values())) / len(odds))
        odds = {name: value / mean for name, value in odds.items()}
        if max(abs(odds[name] / before[name] - 1) for name in odds) < 1e-13:
            break
    return {name: math.log(value) for name, value in odds.items()}


def drawn_rows(rows: list[Row], counts: Any) -> list[Row]:
    times = dict(zip(dict.fromkeys(row[3] for row in rows), counts, strict=True))
    return [row for row in rows for _ in range(times[row[3]])]


def league(seed: int = 0, contests: int = 12, each: int = 8) -> list[Row]:
    rng, strengths = np.random.default_rng(seed), {"a": 0.8, "b": 0.2, "c": -0.1, "d": -0.9}
    rows: list[Row] = []
    for contest in range(contests):
        for _ in range(each):
            a, b = rng.choice(list(strengths), 2, replace=False).tolist()
            won = rng.random() < 1 / (1 + math.exp(strengths[b] - strengths[a]))
            rows.append((a, b, 0.5 if rng.random() < 0.2 else float(won), contest))
    return rows


# ---- the fit ------------------------------------------------------------------------------------


def test_two_systems_by_hand() -> None:
    # 3 of 4 won: odds of 3; ln 3 apart, half of it above and below the mean
    rows: list[Row] = [("a", "b", 1, 0), ("b", "a", 0, 1), ("a", "b", 1, 2), ("a", "b", 0, 3)]
    found = fitted(rows)
    assert values(found) == pytest.approx({"a": math.log(3) / 2, "b": -math.log(3) / 2})
    assert found["a"].elo.value == pytest.approx(400 * math.log10(3) / 2)
    assert values(fitted(rows, reference="b")) == pytest.approx({"a": math.log(3), "b": 0})
    # Two ties are a win each.
    assert values(fitted([*rows[:2], ("a", "b", 0.5, 2), ("b", "a", 0.5, 3)]))["a"] == pytest.approx(math.log(3) / 2)


TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
# Of the row's team over the column's; Agresti 2002, "Categorical Data Analysis", 2nd edition, p. 438.
WON = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]
# baseballModel1 of the R package BradleyTerry2's vignette (Turner and Firth 2012, J. Stat. Softw. 48(9)).
PRINTED = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]


def test_the_american_league_of_1987() -> None:
    games = [(a, b) for a in range(7) for b in range(7) for _ in range(WON[a][b])]
    rows: list[Row] = [(TEAMS[a], TEAMS[b], 1, i) for i, (a, b) in enumerate(games)]
    found = fitted(rows, draws=200, reference="Baltimore")
    assert list(found) == TEAMS
    assert values(found) == pytest.approx(dict(zip(TEAMS, PRINTED, strict=True)), abs=5e-5)
    # Each game its own cluster; the vignette's standard error of Boston by the information is 0.3339.
    assert found["Boston"].estimate.stderr == pytest.approx(0.3339, rel=0.15)
    assert (found["Boston"].estimate.n, found["Baltimore"].worst) == (78, 7)


@settings(max_examples=60)
@given(comparisons)
def test_strengths_are_those_of_the_plain_iteration(rows: list[Row]) -> None:
    names = {name for row in rows for name in row[:2]}
    assume(names and all(reached(rows, name) == names for name in names))
    assert values(fitted(rows, draws=2)) == pytest.approx(naive_fit(rows), abs=1e-6)


def test_groups_that_few_comparisons_join_are_fitted_to_the_end() -> None:
    """Where evalica stops by itself, they are a third of a natural logarithm nearer each other."""
    rng = np.random.default_rng(1)
    rows: list[Row] = []
    for group in ("abcdefgh", "ijklmnop"):
        for a in group:
            rows += [(a, b, p, 0) for b in group if a < b for p in [0.0] * rng.poisson(60) + [1.0] * rng.poisson(60)]
    rows += [("a", "i", 1, 0), ("a", "i", 1, 0), ("a", "i", 0, 0)]
    found = values(fitted(rows))
    # The link decides: a beat i two times in three, whatever else they did.
    assert found["a"] - found["i"] == pytest.approx(math.log(2), abs=1e-8)
    scores = dict.fromkeys(found, 0.0)
    for a, b, p, _ in rows:
        expected = 1 / (1 + math.exp(found[b] - found[a]))
        scores[a] += p - expected
        scores[b] -= p - expected
    assert max(map(abs, scores.values())) < 1e-6


def test_a_long_ladder_of_hard_won_places() -> None:
    """Strengths some 4,000 apart, whose exponentials no computer number holds."""
    rows: list[Row] = [(f"s{k}", f"s{k + 1}", 1 - 1e-6, 0) for k in range(300)]
    found = values(fitted(rows))
    steps = [found[f"s{k}"] - found[f"s{k + 1}"] for k in range(300)]
    assert steps == pytest.approx([math.log(1e6 - 1)] * 300, abs=1e-6)


def test_the_strongest_comes_first() -> None:
    found = fitted([*league(), ("z", "a", 1, 0), ("d", "x", 1, 1)])
    ordered = list(values(found).values())
    assert ordered == sorted(ordered, reverse=True)
    assert (next(iter(found)), list(found)[-1]) == ("z", "x")


def test_davidsons_model_without_ties_and_order_is_this_one() -> None:
    rows = [row for row in league() if row[2] != 0.5]
    first, second, preferences, clusters = (list(column) for column in zip(*rows, strict=True))
    # A row is many verdicts, beside which davidson's prior weighs nothing.
    found = scorers.davidson(
        first, second, preferences, ["x"] * len(rows), clusters, ordered=[], times=[1e7] * len(rows)
    )
    assert dict(zip(found.names, found.values.tolist(), strict=True)) == pytest.approx(values(fitted(rows)), abs=1e-4)


# ---- where there is no maximum ------------------------------------------------------------------


def test_one_that_never_lost_is_beyond_the_others() -> None:
    rows: list[Row] = [("b", "c", 1, 0), ("c", "d", 1, 1), ("d", "b", 1, 2), ("b", "d", 1, 3), ("c", "d", 0.5, 4)]
    alone = values(fitted(rows))
    found = fitted([*rows, ("a", "b", 1, 0), ("a", "d", 1, 1), ("c", "e", 1, 2)])
    assert values(found) == pytest.approx({"a": math.inf, **alone, "e": -math.inf})
    for name in "ae":
        estimate = found[name].estimate
        assert all(math.isnan(x) for x in (estimate.stderr, estimate.low, estimate.high))
    assert math.isinf(found["a"].elo.value)


def test_one_that_stands_beside_the_core_has_no_strength() -> None:
    """y and the core both lost to z alone: nothing tells which of them is the stronger."""
    core: list[Row] = [("a", "b", 1, 0), ("b", "a", 1, 1)]
    found = values(fitted([*core, ("z", "a", 1, 2), ("z", "y", 1, 3)]))
    assert (found["a"], found["b"], found["z"]) == (0, 0, math.inf)
    assert math.isnan(found["y"])
    assert list(found) == ["z", "a", "b", "y"]


def test_two_groups_as_large_leave_no_core_but_a_reference_chooses() -> None:
    rows: list[Row] = [("a", "b", 1, 0), ("b", "a", 1, 1), ("c", "d", 1, 2), ("c", "d", 0, 3), ("a", "d", 1, 4)]
    assert all(math.isnan(value) for value in values(fitted(rows)).values())
    assert values(fitted(rows, reference="d")) == {"a": math.inf, "b": math.inf, "c": 0, "d": 0}
    assert values(fitted(rows, reference="a")) == {"a": 0, "b": 0, "c": -math.inf, "d": -math.inf}


def test_two_systems_of_which_one_won_everything() -> None:
    rows: list[Row] = [("a", "b", 1, k) for k in range(5)]
    for strength in fitted(rows).values():
        assert math.isnan(strength.estimate.value)
        assert (strength.best, strength.worst, strength.draws, strength.estimate.n) == (1, 2, 0, 5)
    found = fitted(rows, reference="b")
    assert values(found) == {"a": math.inf, "b": 0}
    assert (found["a"].worst, found["b"].best) == (1, 2)


def test_systems_that_were_never_compared_are_named_by_group() -> None:
    rows: list[Row] = [("b", "a", 1, 0), ("a", "b", 1, 0), ("d", "c", 1, 0), ("e", "d", 0.5, 0)]
    with pytest.raises(BadInput, match=r"no comparison joins .*: b, a; d, c, e\. Add comparisons"):
        fitted(rows)


def test_a_fit_that_does_not_settle_is_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preference, "_MAX_STEPS", 1)
    assert all(math.isnan(value) for value in values(fitted(league(), draws=2)).values())


# ---- the bootstrap ------------------------------------------------------------------------------


def naive_strengths(rows: list[Row], names: list[str], zero: list[str]) -> dict[str, float]:
    """One draw in which all of `zero` may or may not reach each other; no other system is in the core."""
    if all(reached(rows, name) >= set(zero) for name in zero):
        inner = [row for row in rows if row[0] in zero and row[1] in zero]
        fit = naive_fit(inner)
        shift = sum(fit.values()) / len(zero)
        return {name: fit[name] - shift if name in zero else NAN for name in names}
    return dict.fromkeys(names, NAN)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_draws_are_of_whole_clusters(level: float) -> None:
    rows, draws = league(), 60
    names, clusters = list("abcd"), list(dict.fromkeys(row[3] for row in rows))
    counts = np.random.default_rng(5).multinomial(len(clusters), [1 / len(clusters)] * len(clusters), draws)
    naive = [naive_strengths(drawn_rows(rows, row), names, names) for row in counts]
    found = fitted(rows, draws=draws, seed=5, level=level)
    for name in names:
        known = [draw[name] for draw in naive if not math.isnan(draw[name])]
        low, high = np.percentile(known, [50 - 50 * level, 50 + 50 * level], method="nearest")
        estimate = found[name].estimate
        assert (estimate.stderr, estimate.low, estimate.high) == pytest.approx((np.std(known, ddof=1), low, high))
        assert found[name].draws == len(known)
        assert estimate.n == sum(name in row[:2] for row in rows)
        assert estimate.clusters == len({row[3] for row in rows if name in row[:2]})
    for a in names:
        above = [b for b in names if sum(d[b] <= d[a] for d in naive) <= (1 - level) / 2 * draws]
        below = [b for b in names if sum(d[b] >= d[a] for d in naive) <= (1 - level) / 2 * draws]
        assert (found[a].best, found[a].worst) == (1 + len(above), 4 - len(below))


def test_the_seed_decides() -> None:
    rows = league()
    assert fitted(rows, draws=20, seed=1) == fitted(rows, draws=20, seed=1) != fitted(rows, draws=20, seed=2)


@pytest.mark.slow
def test_a_draw_without_a_system_is_left_out_of_its_strength() -> None:
    """d is met in one contest of twelve: a draw misses it with (11/12)^12 = .352."""
    rows = [row for row in league(3) if "d" not in row[:2]]
    rows += [("d", "a", 1, 0), ("a", "d", 1, 0), ("d", "b", 0.5, 0)]
    found = fitted(rows, draws=2000, reference="a")
    assert found["d"].draws == pytest.approx(2000 * (1 - (11 / 12) ** 12), abs=4 * math.sqrt(2000 * 0.352 * 0.648))
    assert found["b"].draws == 2000
    # Zero as the mean of all needs all of them.
    assert {strength.draws for strength in fitted(rows, draws=2000).values()} == {found["d"].draws}


def test_draws_in_which_it_won_everything_leave_the_interval_open() -> None:
    """b beat a in one contest of eight; a third of the draws miss it."""
    rows: list[Row] = [("a", "b", float(k > 0), k) for k in range(8)]
    a, b = (fitted(rows, draws=1000, reference=name) for name in "ab")
    assert b["a"].estimate.high == math.inf
    assert b["a"].estimate.value == pytest.approx(math.log(7))
    assert a["b"].estimate.low == -math.inf
    assert (b["a"].draws, b["b"].estimate.stderr, b["a"].estimate.clusters) == (1000, 0, 8)
    assert math.isfinite(b["a"].estimate.stderr)


def test_over_the_mean_such_draws_tell_of_the_winner_alone() -> None:
    """The mean of the three is beyond all numbers, too: what b and c are over it is not known."""
    rows: list[Row] = [(a, b, p, k) for k in range(8) for a, b, p in (("a", "b", float(k > 0)), ("b", "c", 0.5))]
    found = fitted(rows, draws=1000)
    missed = 1000 * (7 / 8) ** 8
    assert [found[name].draws for name in "abc"] == [1000, found["b"].draws, found["b"].draws]
    assert 1000 - found["b"].draws == pytest.approx(missed, abs=4 * math.sqrt(missed))
    assert found["a"].estimate.high == math.inf
    assert all(math.isfinite(found[name].estimate.low) for name in "abc")


def test_one_cluster_says_nothing_of_others() -> None:
    for strength in fitted([("a", "b", 1, 0), ("b", "a", 1, 0)]).values():
        estimate = strength.estimate
        assert (estimate.value, strength.best, strength.worst, strength.draws) == (0, 1, 2, 0)
        assert all(math.isnan(x) for x in (estimate.stderr, estimate.low, estimate.high))


def test_elo_is_the_same_on_another_scale() -> None:
    strength = fitted(league())["a"]
    one, points = strength.estimate, strength.elo
    for key in ("value", "stderr", "low", "high"):
        assert getattr(points, key) == pytest.approx(getattr(one, key) * 400 / math.log(10))
    assert (points.n, points.clusters) == (one.n, one.clusters)


# ---- bad input ----------------------------------------------------------------------------------


def test_nothing_compared() -> None:
    assert scorers.bradley_terry([], [], [], []) == {}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fitted([("a", "b", 1, 0), ("a", "a", 1, 0)]), r"first\[1\] and second\[1\] are both 'a'"),
        (lambda: fitted([("a", "b", 1, 0), ("a", "b", 2, 0)]), r"preferences\[1\] is 2"),
        (lambda: fitted([("a", "b", NAN, 0)]), r"preferences\[0\] is nan"),
        (lambda: fitted([("a", None, 1, 0)]), r"second\[0\] is None"),  # type: ignore[list-item]
        (lambda: fitted([("", "b", 1, 0)]), r"first\[0\] is ''"),
        (lambda: fitted([("a", "b", 1, None)]), r"clusters\[0\] is None"),  # type: ignore[list-item]
        (lambda: fitted(league(), reference="e"), r"reference is 'e', which is none of the systems: '\w', '\w'"),
        (lambda: fitted(league(), draws=1), "draws is 1"),
        (lambda: fitted(league(), level=0), "level is 0"),
        (lambda: scorers.bradley_terry(["a"], ["b"], [1, 0], [0]), "preferences has 2"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()


def test_without_evalica_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "evalica", None)
    with pytest.raises(BadInput, match=r'pip install "humor-tasks\[preference\]"'):
        fitted(league())
