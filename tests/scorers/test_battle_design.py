"""`opening` and `next_battles`: what is balanced, that nothing repeats, and the choice against a plain one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humor_tasks.errors import BadInput
from humor_tasks.scorers.battle_design import Battle, next_battles, opening
from humor_tasks.scorers.davidson import Fit, davidson
from humor_tasks.scorers.rank_sets import order_of_pairs


def keys(battles: list[Battle]) -> list[tuple[Any, frozenset[str]]]:
    return [(contest, frozenset((a, b))) for contest, a, b in battles]


def names(k: int) -> list[str]:
    return [f"p{i}" for i in range(k)]


def judged(battles: list[Battle], seed: int = 0) -> Fit:
    """Verdicts of one judge in both orders, of players that are the stronger the lower their number."""
    rng = np.random.default_rng(seed)
    rows = [row for contest, a, b in battles for row in ((contest, a, b), (contest, b, a))]
    chances = [1 / (1 + np.exp(0.5 * (int(a[1:]) - int(b[1:])))) for _, a, b in rows]
    results = [0.5 if rng.random() < 0.2 else float(rng.random() < p) for p in chances]
    contests, first, second = (list(column) for column in zip(*rows, strict=True))
    return davidson(first, second, results, ["x"] * len(rows), contests)  # type: ignore[arg-type]


# ---- the opening --------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(2, 9), st.integers(1, 12), st.integers(1, 20), st.integers(0, 5))
def test_the_opening_is_balanced(k: int, contests: int, per_player: int, seed: int) -> None:
    battles = opening(names(k), range(contests), seed, per_player)
    assert battles == opening(names(k), range(contests), seed, per_player)
    assert len(set(keys(battles))) == len(battles)
    most = min(per_player, (k - 1) * contests)
    assert len(battles) == (most * k + 1) // 2
    games = Counter(name for _, *pair in battles for name in pair)
    assert sorted(games[name] for name in names(k)) == [most] * (k - 1) + [most + most * k % 2]
    loads = [Counter(contest for contest, *_ in battles)[c] for c in range(contests)]
    assert max(loads) - min(loads) <= 1
    if most > 1 or k == 2:
        reached = {"p0"}
        for _ in range(k):
            reached |= {name for _, *pair in battles if reached & set(pair) for name in pair}
        assert reached == set(names(k))


def test_a_full_round_before_the_next() -> None:
    pairs = Counter(frozenset(pair) for _, *pair in opening(names(6), range(50), 3, 10))
    assert set(pairs.values()) == {2}
    assert len(pairs) == 15


def test_players_of_a_contest_spread() -> None:
    """Two battles a contest are of four players."""
    battles = opening(names(8), range(28), 0, 14)
    for contest in range(28):
        assert len({name for c, *pair in battles if c == contest for name in pair}) == 4


def test_the_opening_asks_for_no_caption_that_is_missing() -> None:
    available = {"p0": {0, 1}, "p1": {1, 2, 3}, "p2": {0, 2, 3}, "p3": range(4)}
    battles = opening(names(4), range(4), 0, 100, available)
    wanted = {(c, frozenset((a, b))) for c in range(4) for a in available for b in available if a < b}
    assert set(keys(battles)) == {(c, pair) for c, pair in wanted if all(c in available[name] for name in pair)}
    assert len(set(keys(battles))) == len(battles)


# ---- the next battles ---------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.integers(2, 6), st.integers(2, 6), st.integers(0, 3), st.data())
def test_nothing_is_asked_twice_and_everything_in_the_end(
    k: int, contests: int, seed: int, data: st.DataObject
) -> None:
    available = {name: data.draw(st.sets(st.integers(0, contests - 1), min_size=2)) for name in names(k)}
    available["p0"] = set(range(contests))
    played = opening(names(k), range(contests), seed, 4, available)
    found = judged(played, seed)
    battles = next_battles(found, played, available, 10**6, seed)
    possible = {
        (c, frozenset((a, b))) for a in available for b in available if a < b for c in available[a] & available[b]
    }
    assert set(keys(battles)) == possible - set(keys(played))
    assert len(set(keys(battles))) == len(battles)
    assert next_battles(found, [*played, *battles], available, 5, seed) == []
    assert next_battles(found, played[::-1], available, 3, seed) == battles[:3]


def plain_choice(found: Fit, played: list[Battle], count: int, alpha: float) -> Counter[frozenset[str]]:
    """How often each open pair has been asked about after `count` more battles, each for the one with the fewest."""
    order = order_of_pairs(found, alpha)
    k = len(found.names)
    open_pairs = [frozenset((found.names[a], found.names[b])) for a in range(k) for b in range(a) if order[a, b] == 0]
    times = Counter(pair for _, *two in played if (pair := frozenset(two)) in open_pairs)
    for _ in range(count):
        times[min(open_pairs, key=lambda pair: times[pair])] += 1
    return times


@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_the_choice_against_a_plain_one(alpha: float) -> None:
    played = opening(names(6), range(40), 0, 20)
    found = judged(played)
    battles = next_battles(found, played, dict.fromkeys(names(6), range(40)), 25, 0, alpha)
    plain = plain_choice(found, played, 25, alpha)
    times = Counter(pair for _, *two in [*played, *battles] if (pair := frozenset(two)) in plain)
    assert sorted(times.values()) == sorted(plain.values())
    assert {frozenset(two) for _, *two in battles} <= set(plain)


def test_contests_fill_evenly() -> None:
    played = opening(names(6), range(30), 0, 10)
    battles = next_battles(judged(played), played, dict.fromkeys(names(6), range(30)), 60, 0)
    loads = Counter(contest for contest, *_ in [*played, *battles])
    assert set(loads.values()) == {3}
    other = next_battles(judged(played), played, dict.fromkeys(names(6), range(30)), 60, 1)
    assert other != battles


def test_pairs_that_are_apart_are_asked_about_last() -> None:
    played = opening(names(6), range(40), 0, 60)
    found = judged(played)
    order = order_of_pairs(found, 0.05)
    battles = next_battles(found, played, dict.fromkeys(names(6), range(40)), 10**4, 0)
    settled = [order[found.names.index(a), found.names.index(b)] != 0 for _, a, b in battles]
    assert settled
    assert not any(settled)
    after = next_battles(found, [*played, *battles], dict.fromkeys(names(6), range(40)), 10**4, 0)
    assert all(order[found.names.index(a), found.names.index(b)] != 0 for _, a, b in after)


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], [0], 0, 2), "1 players are given; an arena needs at least 2"),
        ((["a", "b"], [], 0, 2), "0 contests are given"),
        ((["a", "b", "a"], [0], 0, 2), "players has 'a' twice"),
        ((["a", "b"], [7, 7], 0, 2), "contests has 7 twice"),
        ((["a", "b"], [0], 0, 0), "per_player is 0"),
        ((["a", "b"], [0], 0, 1, {"a": [0]}), "available lacks the player 'b'"),
    ],
)
def test_bad_openings(arguments: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        opening(*arguments)


def test_battles_of_players_without_a_verdict() -> None:
    found = judged(opening(names(3), range(4), 0, 2))
    with pytest.raises(BadInput, match="available lacks the player 'p2'"):
        next_battles(found, [], {"p0": [0], "p1": [0]}, 1, 0)
    with pytest.raises(BadInput, match="available has the player 'p3', which has no verdict yet"):
        next_battles(found, [], dict.fromkeys(names(4), range(1)), 1, 0)
    with pytest.raises(BadInput, match="contest 0 is of a player without a verdict"):
        next_battles(found, [(0, "p0", "p9")], dict.fromkeys(names(3), range(1)), 1, 0)
