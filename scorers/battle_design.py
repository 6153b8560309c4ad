"""Which battles to ask for: a balanced opening, then the pairs whose order is open.

A battle is one contest and two players. Both functions are deterministic: the same seed gives the same battles.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from humor_tasks.errors import BadInput

from .arrays import Flags, Floats
from .davidson import Fit
from .rank_sets import order_of_pairs

Battle = tuple[Hashable, str, str]  # contest, player, player
Available = Mapping[str, Collection[Hashable]]  # the contests for which a player has captions


def opening(
    players: Sequence[str],
    contests: Sequence[Hashable],
    seed: int,
    per_player: int,
    available: Available | None = None,
) -> list[Battle]:
    """A balanced design: each player `per_player` times, each contest equally often, no pair twice in one contest.

    Players stand in a circle in a random order, and everyone meets those 1, 2, ... places on (a cyclic design). So the
    design is connected from two battles a player on. An odd number of battles for an odd number of players is
    impossible; one player then has one more. After a full round of pairs the next one begins.

    A battle goes to the contest with the fewest so far, of these to one where its two players have the fewest. Contests
    differ by at most one battle, unless players lack captions. available: the contests of each player (None: all of
    them have all); a battle without a contest left is left out. Raises BadInput on fewer than two players, a player or
    contest named twice, no contest, a player that `available` lacks, and a `per_player` below 1.
    """
    import numpy as np

    _check(players, contests, per_player)
    rng = np.random.default_rng(seed)
    k = len(players)
    order, lot = rng.permutation(k), rng.permutation(len(contests))
    left = _both(_open(players, contests, available))
    load, busy = np.zeros(len(contests)), np.zeros((k, len(contests)))
    battles: list[tuple[int, int, int]] = []
    for a, b in order[np.array(_circle(k, per_player))].tolist():
        free = np.flatnonzero(left[a, b])
        if len(free):
            c = int(free[np.lexsort((lot[free], busy[a, free] + busy[b, free], load[free]))[0]])
            left[a, b, c] = left[b, a, c] = False
            load[c] += 1
            busy[[a, b], c] += 1
            battles.append((c, a, b))
    _even_out(battles, left, load)
    return [(contests[c], players[a], players[b]) for c, a, b in battles]


def next_battles(
    fit: Fit,
    played: Iterable[Battle],
    available: Available,
    count: int,
    seed: int,
    alpha: float = 0.05,
) -> list[Battle]:
    """The next `count` battles, of the pairs whose order is open; fewer if none are left.

    Every pair that is not apart at `alpha` (`rank_sets.order_of_pairs`) is asked about equally often: the one with the
    fewest battles so far comes next, in the contest with the fewest battles of those where both have captions and have
    not met yet. So pairs far apart on the ladder, which few battles settle, leave the rest to the close ones. If all
    are apart, all are asked about.

    Close pairs are not preferred further, because the fit would be wrong. Where neighbours alone are asked about, those
    that chance brought together are asked most, those that it drew apart never again, and every gap on the ladder is
    one that came out positive: it stretches. In simulated arenas of 13 equal players (speed/arena.py) the rank sets
    then held together in 25 % instead of 95 %.

    played: the battles so far; the order of the two players in one does not matter. available: the contests of each
    player. Raises BadInput on a player of a battle or of `available` that the fit lacks (its opening comes first), and
    on a player of the fit that `available` lacks.
    """
    import numpy as np

    names, k = fit.names, len(fit.names)
    numbers = {name: i for i, name in enumerate(names)}
    for name in available:
        if name not in numbers:
            raise BadInput(f"available has the player {name!r}, which has no verdict yet; ask for its opening first.")
    contests = list(dict.fromkeys(c for name in names for c in _of(available, name)))
    place = {contest: i for i, contest in enumerate(contests)}
    left = _both(_open(names, contests, available))
    load, times = np.zeros(len(contests)), np.zeros((k, k))
    for contest, a, b in played:
        if a not in numbers or b not in numbers:
            raise BadInput(f"the battle of {a!r} and {b!r} in contest {contest!r} is of a player without a verdict.")
        i, j = numbers[a], numbers[b]
        times[[i, j], [j, i]] += 1
        if contest in place:
            left[[i, j], [j, i], place[contest]] = False
            load[place[contest]] += 1
    rng = np.random.default_rng(seed)
    lot, lots = rng.permutation(len(contests)), rng.random((k, k))
    found: list[Battle] = []
    order = order_of_pairs(fit, alpha)
    for pairs in (np.argwhere(np.triu(order == 0, 1)), np.argwhere(np.triu(order != 0, 1))):
        waiting = [(times[i, j], lots[i, j], i, j) for i, j in pairs.tolist() if left[i, j].any()]
        heapify(waiting)
        while waiting and len(found) < count:
            battles, drawn, i, j = heappop(waiting)
            free = np.flatnonzero(left[i, j])
            c = free[np.lexsort((lot[free], load[free]))[0]]
            left[[i, j], [j, i], c] = False
            load[c] += 1
            found.append((contests[c], names[i], names[j]))
            if left[i, j].any():
                heappush(waiting, (battles + 1, drawn, i, j))
        if found:
            break
    return found


def _circle(k: int, per_player: int) -> list[tuple[int, int]]:
    """The places of the two players of each battle, on a circle of k places."""
    half = k // 2
    steps = [[(i, (i + step) % k) for i in range(k)] for step in range(1, (k + 1) // 2)]
    # One battle a player: with those opposite; for odd k, along the last step, whose circle holds all players.
    once = (
        [(i, i + half) for i in range(half)]
        if k % 2 == 0
        else [(i * half % k, (i + 1) * half % k) for i in range(0, k, 2)]
    )
    whole, left = divmod(per_player, k - 1)
    everyone = [*steps, once] if k % 2 == 0 else steps
    rounds = everyone * whole + steps[: left // 2] + [once] * (left % 2)
    return [edge for edges in rounds for edge in edges]


def _even_out(battles: list[tuple[int, int, int]], left: Flags, load: Floats) -> None:
    """Move battles from the fullest contest to the emptiest until they differ by at most one.

    Of the pairs in the fuller contest, one at least has not met in the other: it holds fewer.
    """
    while load.max() - load.min() > 1:
        high, low = int(load.argmax()), int(load.argmin())
        movable = [i for i, (c, a, b) in enumerate(battles) if c == high and left[a, b, low]]
        if not movable:
            return  # captions are missing
        _, a, b = battles[movable[-1]]
        battles[movable[-1]] = low, a, b
        left[a, b, low] = left[b, a, low] = False
        left[a, b, high] = left[b, a, high] = True
        load[high] -= 1
        load[low] += 1


def _check(players: Sequence[str], contests: Sequence[Hashable], per_player: int) -> None:
    for what, column, least in (("players", players, 2), ("contests", contests, 1)):
        if len(column) < least:
            raise BadInput(f"{len(column)} {what} are given; an arena needs at least {least}.")
        if len(set(column)) < len(column):
            twice = next(x for i, x in enumerate(column) if x in column[:i])
            raise BadInput(f"{what} has {twice!r} twice; name each once.")
    if per_player < 1:
        raise BadInput(f"per_player is {per_player}; each player needs at least one battle.")


def _of(available: Available, name: str) -> Collection[Hashable]:
    if name not in available:
        raise BadInput(f"available lacks the player {name!r}; give the contests for which it has captions.")
    return available[name]


def _open(players: Sequence[str], contests: Sequence[Hashable], available: Available | None) -> Flags:
    """Whether a player has captions for a contest [players, contests]."""
    import numpy as np

    if available is None:
        return np.ones((len(players), len(contests)), dtype=bool)
    held = [set(_of(available, name)) for name in players]
    return np.array([[contest in mine for contest in contests] for mine in held], dtype=bool)


def _both(open_: Flags) -> Flags:
    """Whether two players both have captions for a contest [players, players, contests]."""
    both: Flags = open_[:, None] & open_[None]
    return both
