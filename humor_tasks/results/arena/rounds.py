"""Which battles an arena asks for: a balanced opening, then the pairs whose order is least certain, until it stops.

A round is drawn from all verdicts of earlier rounds (`scorers.battle_design`). The arena looks at the ladder after each
round, so `alpha` is spent over the looks (`rank_sets.spent`): at most that share of arenas declares any two players
apart in the wrong order, however often it looks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.results.arena.judging import Judge, Stage, ask, wanted
from humor_tasks.results.arena.ladder import fit_of, verdict_rows
from humor_tasks.results.arena.players import Show
from humor_tasks.results.arena.store import Battle, Store
from humor_tasks.scorers.battle_design import next_battles, opening
from humor_tasks.scorers.rank_sets import apart, spent

OPENING = 12
"""Battles of each player in the opening, or fewer where the budget or the contests do not allow them."""
GROWTH = 0.2
"""A round's battles as a share of all battles before, so that the number of looks grows with their logarithm."""
LEAST = 20
"""The least number of battles in a round."""
PER_PLAYER = 100
"""The default budget, in battles a player takes part in."""


@dataclass(frozen=True)
class Ended:
    """Why an arena ended. looks: the rounds after which the ladder was looked at."""

    why: str
    looks: int


def battles_of(stage: Stage) -> int:
    """The number of all battles: pairs of players in each contest where both have captions."""
    counts = dict.fromkeys(stage.scenes, 0)
    for player in stage.players.values():
        for contest in player.captions:
            counts[contest] += 1
    return sum(math.comb(count, 2) for count in counts.values())


def budget_of(given: int | None, stage: Stage) -> int:
    """The budget in battles: as given, or PER_PLAYER for each player; never more than there are. Raises BadInput for 0."""
    if given is not None and given < 1:
        raise BadInput(f"--budget {given}: an arena needs at least one battle.")
    most = len(stage.players) * PER_PLAYER // 2 if given is None else given
    return min(most, battles_of(stage))


def play(store: Store, stage: Stage, judges: Sequence[Judge], show: Show, budget: int, alpha: float, seed: int) -> Ended:
    """Ask for the battles of the recorded rounds that lack verdicts, then draw and ask rounds until the arena ends.

    budget: the most battles of all rounds. An arena that was ended by its budget goes on with a larger one.
    """
    ask(wanted(store.played, judges, store, stage), judges, store, stage, show)
    while True:
        used, looks = len(store.played), len(store.rounds)
        entering = _opening(store, stage, min(budget, battles_of(stage)) - used, seed)
        if not entering:
            fit = fit_of(verdict_rows(store, stage))
            neighbours = apart(fit, spent(alpha, max(looks, 1)))
            if all(decided for *_, decided in neighbours):
                return Ended("every two neighbours on the ladder are apart", looks)
        if used >= budget:
            return Ended(f"the budget of {budget} battles is spent", looks)
        size = min(max(LEAST, math.ceil(GROWTH * used)), budget - used)
        battles = entering or _next(fit, store, stage, size, seed + looks, alpha)
        if not battles:
            return Ended("every battle has been asked for", looks)
        store.begin(battles)
        ask(wanted(battles, judges, store, stage), judges, store, stage, show)


def _opening(store: Store, stage: Stage, left: int, seed: int) -> list[Battle]:
    """The opening of the players that have not had one; empty where all have, or nothing is left."""
    entered = {name for battle in store.played for name in battle[1:]}
    new = [name for name in stage.players if name not in entered]
    if not new or left < 1:
        return []
    captions = {name: list(player.captions) for name, player in stage.players.items()}
    drawn = opening(captions, per_player=OPENING, played=store.played, entering=new, seed=seed)
    return [Battle.between(*battle) for battle in drawn][:left]


def _next(fit: Any, store: Store, stage: Stage, size: int, seed: int, alpha: float) -> list[Battle]:
    captions = {name: list(player.captions) for name, player in stage.players.items()}
    drawn = next_battles(fit, captions, played=store.played, count=size, seed=seed, alpha=alpha)
    return [Battle.between(*battle) for battle in drawn]
