"""`powered_strengths`: where it is one of its parts, and its gain and coverage in drawn arenas."""

from __future__ import annotations

import numpy as np
import pytest
from arena import NAMES, Arena, drawn, opening

from humor_tasks.errors import BadInput
from humor_tasks.scorers import powered_strengths
from humor_tasks.scorers.davidson import Fit, davidson


def fits(seed: int, flipped: float) -> tuple[Fit, Fit, Fit]:
    """By people on 56 of 168 battles of equally strong players, and by a judge whose verdicts are theirs but some."""
    rng = np.random.default_rng(seed)
    people = drawn(np.zeros(8), 60, rng)
    battles = opening(NAMES, range(60), seed, 42)
    part = [battles[k] for k in rng.permutation(len(battles))[:56]]
    turned = np.where(rng.random(people.results.shape) < flipped, 1 - people.results, people.results)
    judge = Arena(turned, people.lengths)
    return people.fit(part), judge.fit(part), judge.fit(battles)


def test_a_judge_of_peoples_battles_alone_adds_nothing() -> None:
    people, part, _ = fits(0, 0.2)
    found = powered_strengths(people, part, part)
    assert found.weight == 0
    for name, e in people.strengths().items():
        assert vars(found.strengths[name]) == pytest.approx(vars(e))


def test_a_judge_that_says_what_people_say_stands_for_them() -> None:
    people, part, whole = fits(1, 0)
    found = powered_strengths(people, part, whole)
    assert found.weight > 0.8
    assert np.mean([e.stderr for e in found.strengths.values()]) < 0.7 * np.mean(
        [e.stderr for e in people.strengths().values()]
    )
    expected = people.values + found.weight * (
        whole.values[[whole.names.index(name) for name in people.names]]
        - part.values[[part.names.index(name) for name in people.names]]
    )
    assert [found.strengths[name].value for name in people.names] == pytest.approx(expected.tolist())


def test_a_judge_that_knows_nothing_is_not_heard() -> None:
    people, part, whole = fits(2, 0.5)
    assert powered_strengths(people, part, whole).weight < 0.25


def test_coverage() -> None:
    hits = []
    for seed in range(12):
        found = powered_strengths(*fits(seed, 0.25))
        hits += [e.low <= 0 <= e.high for e in found.strengths.values()]
    assert np.mean(hits) > 0.9


def test_players_that_people_did_not_judge() -> None:
    people = davidson(["a", "b"], ["b", "a"], [1, 1], ["x"] * 2, [0, 1])
    whole = davidson(["a", "b"], ["b", "c"], [1, 1], ["x"] * 2, [0, 1])
    with pytest.raises(BadInput, match="whole and people differ in the players c;"):
        powered_strengths(people, people, whole)
