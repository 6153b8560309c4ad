"""Which battles to ask for: a balanced opening, then those that settle the order of neighbours soonest.

A battle is one contest and two players. Both functions are deterministic: the same seed gives the same battles.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from humor_tasks.errors import BadInput

from .davidson import Fit
from .rank_sets import apart

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

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
    """The next `count` battles, those first that make the order of neighbours most certain; fewer if none are left.

    With v_n the variance of the difference of the neighbours n, in the model's covariance V of the strengths, a battle
    of the players a and b lowers the sum of v_n by

        w / (1 + w x'Vx) * sum over n of (n'Vx)^2,   x = e_a - e_b

    where w is the information of a battle: verdicts per battle so far, times that of a verdict at the present
    strengths. Only neighbours not yet apart at `alpha` count (`rank_sets.apart`); all do when all are apart. The pair
    with the greatest gain is taken, V brought up to date by Sherman and Morrison's formula, and so on. A pair's battle
    is in the contest with the fewest battles of those where both have captions and have not met yet.

    The neighbours are not weighted by how close they seem. Weighted by the probability that their order is wrong, those
    that chance brought near each other are asked most and those that it drew apart least, which spreads all strengths:
    by a fifth in simulated arenas (speed/arena.py) with strengths .3 apart, whose 95 % intervals then held the truth in
    92 %, and it saves no battles.

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
    load, battles = np.zeros(len(contests)), 0
    for contest, a, b in played:
        if a not in numbers or b not in numbers:
            raise BadInput(f"the battle of {a!r} and {b!r} in contest {contest!r} is of a player without a verdict.")
        battles += 1
        if contest in place:
            i, j, c = numbers[a], numbers[b], place[contest]
            left[i, j, c] = left[j, i, c] = False
            load[c] += 1
    first, second = np.triu_indices(k, 1)
    free = left[first, second]
    remaining = free.sum(axis=1)
    neighbours = _neighbours(fit, alpha)
    worth = _information(fit)[first, second] * (sum(fit.by_judge) / max(battles, 1))
    covariance = fit.model[:k, :k].copy()
    lot = np.random.default_rng(seed).permutation(len(contests))
    found: list[Battle] = []
    while len(found) < count and remaining.any():
        reach = neighbours @ covariance
        variance = covariance.diagonal()[first] + covariance.diagonal()[second] - 2 * covariance[first, second]
        gain = np.square(reach[:, first] - reach[:, second]).sum(axis=0) * worth / (1 + worth * variance)
        best = int(np.argmax(np.where(remaining > 0, gain, -1)))
        a, b = first[best], second[best]
        choice = np.flatnonzero(free[best])
        c = choice[np.lexsort((lot[choice], load[choice]))[0]]
        free[best, c] = False
        remaining[best] -= 1
        load[c] += 1
        column = covariance[:, a] - covariance[:, b]
        covariance -= np.outer(column, column) * (worth[best] / (1 + worth[best] * variance[best]))
        found.append((contests[c], names[a], names[b]))
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


def _neighbours(fit: Fit, alpha: float) -> Floats:
    """The contrasts of the neighbours that are not apart [neighbours, K]; of all, if all are."""
    import numpy as np

    pairs = apart(fit, alpha)
    pairs = [pair for pair in pairs if not pair.apart] or pairs
    contrasts = np.zeros((len(pairs), len(fit.names)))
    for row, pair in enumerate(pairs):
        contrasts[row, fit.names.index(pair.stronger)] = 1
        contrasts[row, fit.names.index(pair.weaker)] = -1
    return contrasts


def _information(fit: Fit) -> Floats:
    """The information of one verdict on the difference of two players [K, K], the mean over judges."""
    import numpy as np

    start = len(fit.names) + len(fit.ordered)
    nu = np.exp(fit.parameters[start : start + len(fit.judges)])
    half = (fit.values[:, None] - fit.values)[..., None] / 2
    up, down = np.exp(half), np.exp(-half)
    total = up + down + nu
    variance = ((up + down) / total - np.square((up - down) / total)) / 4
    shares = np.asarray(fit.by_judge) / sum(fit.by_judge)
    return np.asarray(variance @ shares)


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
