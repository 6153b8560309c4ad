"""Which battles an arena asks for: a balanced opening, then the pairs whose order is open, until it stops.

A round is drawn from all verdicts of earlier rounds (`scorers.battle_design`). The arena looks at the ladder after each
round, so `alpha` is spent over the looks (`rank_sets.spent`): at most that share of arenas declares any two players
apart in the wrong order, however often it looks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from humor_tasks.errors import BadInput, listed
from humor_tasks.scorers.battle_design import next_battles, opening
from humor_tasks.scorers.rank_sets import apart, spent
from humor_tasks.studies.arena.judging import ArenaJudge, ask, wanted
from humor_tasks.studies.arena.ladder import Row, fit_of, verdict_rows
from humor_tasks.studies.arena.players import Battle, Roster, Show, check_joined
from humor_tasks.studies.arena.store import Store

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


def battles_of(stage: Roster) -> int:
    """The number of all battles: pairs of players in each contest where both have captions."""
    counts = dict.fromkeys(stage.scenes, 0)
    for player in stage.players.values():
        for contest in player.captions:
            counts[contest] += 1
    return sum(math.comb(count, 2) for count in counts.values())


def budget_of(given: int | None, stage: Roster) -> int:
    """The budget in battles: as given, or PER_PLAYER for each player; never more than there are.

    Raises BadInput for fewer than connect all players.
    """
    players = len(stage.players)
    if given is not None and given < players:
        raise BadInput(f"--budget {given}: {players} players need at least {players} battles to be on one ladder.")
    return min(players * PER_PLAYER // 2 if given is None else given, battles_of(stage))


def play(
    store: Store, stage: Roster, judges: Sequence[ArenaJudge], show: Show, budget: int, alpha: float, seed: int
) -> Ended:
    """Ask for the battles of the recorded rounds that lack verdicts, then draw and ask rounds until the arena ends.

    budget: the most battles of all rounds. An arena that was ended by its budget goes on with a larger one.
    """
    ask(wanted(store.played, judges, store, stage), judges, store, stage, show)
    while True:
        left, looks = budget - len(store.played), len(store.rounds)
        begun = _opening(store, stage, seed)
        battles = begun[: max(left, 0)]
        if begun:
            remedy = "Give a larger --budget, or captions for the same contests"
            check_joined(stage.players, [*store.played, *battles], "no battle in the opening between them", remedy)
        else:
            rows = [row for row in verdict_rows(store, stage) if row.result is not None]
            _check_readable(rows, stage)
            fit = fit_of(rows)
            if all(pair.apart for pair in apart(fit, spent(alpha, looks))):
                return Ended("every two neighbours on the ladder are apart", looks)
            if left < 1 and len(store.played) < battles_of(stage):
                return Ended(f"the budget of {budget:,} battles is spent", looks)
            size = min(max(LEAST, math.ceil(GROWTH * len(store.played))), max(left, 0))
            available = {name: stage.players[name].captions for name in fit.names}
            drawn = next_battles(fit, store.played, available, size, seed + looks, alpha)
            battles = [Battle.between(str(contest), one, other) for contest, one, other in drawn]
        if not battles:
            return Ended("every battle has been asked for", looks)
        store.begin(battles)
        ask(wanted(battles, judges, store, stage), judges, store, stage, show)


def _opening(store: Store, stage: Roster, seed: int) -> list[Battle]:
    """The opening of the players that have not battled yet, against all; empty where every player has."""
    played = set(store.played)
    entered = {name for battle in played for name in battle[1:]}
    if entered >= set(stage.players):
        return []
    available = {name: player.captions for name, player in stage.players.items()}
    drawn = opening(list(stage.players), list(stage.scenes), seed, OPENING, available)
    battles = [Battle.between(str(contest), one, other) for contest, one, other in drawn]
    return [battle for battle in battles if not entered >= {battle.one, battle.other} and battle not in played]


def _check_readable(rows: Sequence[Row], stage: Roster) -> None:
    """Raise BadInput unless the verdicts that could be read join all players, and are of two contests at least."""
    remedy = (
        "The logs in the arena's folder hold the judges' replies. Add a judge with --judge, or run the command again, "
        "which repeats the requests that failed"
    )
    judged = {name for row in rows for name in row.key[1:3]}
    if without := [name for name in stage.players if name not in judged]:
        raise BadInput(f"{listed('player', without)} without a readable verdict. {remedy}.")
    check_joined(judged, (row.key.battle for row in rows), "no readable verdict between them", remedy)
    if len({row.key.contest for row in rows}) < 2:
        raise BadInput(f"all readable verdicts are of one contest, which does not show how contests vary. {remedy}.")
