"""A small arena: four invented systems of known rank over thirty requests, and judges that know it."""

from __future__ import annotations

import pytest

from humor_tasks.studies.arena.players import Player, Roster, Scene

RANKED = ("best", "good", "fair", "poor")


@pytest.fixture
def stage() -> Roster:
    scenes = {str(n): Scene(str(n), f"A whale at desk {n}.") for n in range(1, 31)}
    players = {
        name: Player(name, {contest: (f"{name} joke {contest} " + "x" * (4 - i),) for contest in scenes})
        for i, name in enumerate(RANKED)
    }
    return Roster(scenes, players)
