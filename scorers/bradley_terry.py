"""Strengths of many systems from comparisons of two at a time (Bradley and Terry 1952, Biometrika 39).

    P(i is preferred to j) = 1 / (1 + exp(s_j - s_i))

The strengths s are natural logarithms of odds: 0.7 more is preferred two times in three. A tie is half a win
for each; a preference p is p of a win. The maximum of the likelihood is the library evalica's (by Newman
2023, JMLR 24), finished by Newton steps: its own are off by 0.3 where two groups of systems are joined by few
comparisons, and it does not say so. Nor does it say where there is no maximum.

There is one where no part of the systems won everything against the others (Ford 1957, Am. Math. Monthly 64):
from each system a chain of wins, or ties, leads to each. The largest group of which that holds is called
the core here. Its members have finite strengths, fitted on the comparisons among them; in the limit all others
are certain and add nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, cluster_codes
from .preference import check_draws, check_preferences, logistic_fit
from .validation import check_same_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Strength:
    """A system's strength and its place among all.

    `estimate` is in natural logarithms; its `n` and `clusters` are the system's own comparisons and their
    clusters. `best` and `worst` bound the rank, 1 the strongest: best - 1 of the others are stronger and all
    but worst - 1 of them weaker, each by a one-sided bootstrap test at (1 - level) / 2, without a correction for
    the number of tests. `draws` is how many the interval rests on.
    """

    estimate: Estimate
    best: int
    worst: int
    draws: int

    @property
    def elo(self) -> Estimate:
        """The strength in Elo points, 400 / ln 10 of them to one: 400 more is preferred ten times in eleven."""
        e, points = self.estimate, 400 / math.log(10)
        return Estimate(e.value * points, e.stderr * points, e.low * points, e.high * points, e.n, e.clusters)


def bradley_terry(
    first: Sequence[str],
    second: Sequence[str],
    preferences: Sequence[float],
    clusters: Sequence[Hashable],
    draws: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    reference: str | None = None,
) -> dict[str, Strength]:
    """Every system's strength, the strongest first; `preferences` are the worth of each row to `first`, 0 to 1.

    Zero is the mean of the core. With a `reference` zero is that system, the core is its group, and strengths are
    differences from it, with their intervals: what to ask for to compare two systems. Outside the core a
    strength is inf (a chain of wins leads to the core and none back, as for one that never lost), -inf (the
    other way) or nan (neither). Where two groups are equally large, none is the core, and without a reference
    all is nan; so it is with two systems of which one won everything.

    `stderr` and the percentile interval are those of `draws` resamplings of whole clusters (multinomial). Draws
    in which a strength is nan are left out of its own: the system was not drawn or, for the core's mean
    as zero, one of the core was not drawn or won or lost everything. Infinite draws stay in the interval, which
    may so end at infinity, and are left out of `stderr`. Many of either kind mean too few clusters. A
    strength that is not finite itself has neither stderr nor interval (nan), nor has any from one cluster. The
    same seed gives the same intervals.

    Raises BadInput on groups of systems that no comparison joins, naming them, on a system compared with itself
    or missing, on preferences as `win_rate` does, an unknown reference, fewer than two draws, and without evalica.
    """
    import numpy as np

    check_level(level)
    check_draws(draws)
    check_same_length(first=first, second=second, preferences=preferences, clusters=clusters)
    names = _names(first, second, preferences)
    if reference is not None and reference not in names:
        raise BadInput(f"reference is {reference!r}, which is none of the systems: {', '.join(map(repr, names))}.")
    if not names:
        return {}
    numbers = {name: k for k, name in enumerate(names)}
    rows, columns = [numbers[name] for name in first], [numbers[name] for name in second]
    codes, count = cluster_codes(clusters)
    cells, won = _won(rows, columns, preferences, codes, count, len(names))

    def matrix(totals: Floats) -> Floats:
        wins = np.zeros(len(names) ** 2)
        wins[cells] = totals
        return wins.reshape(len(names), len(names))

    wins = matrix(won.sum(axis=0))
    _check_joined(wins, names)
    zero = np.array([name == reference for name in names])
    if reference is None:
        zero = _core(_reached(wins), ~zero)
    values = _strengths(wins, zero)
    drawn = np.full((0, len(names)), math.nan)
    if count > 1:
        weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), draws)
        drawn = np.array([_strengths(matrix(totals), zero, values) for totals in weights @ won])
    pairs = set(zip(rows, codes, strict=True)) | set(zip(columns, codes, strict=True))
    games, groups = Counter([*rows, *columns]), Counter(k for k, _ in pairs)
    table = {
        name: Strength(
            _with_spread(float(values[k]), drawn[:, k], level, games[k], groups[k]),
            *_ranks(drawn, k, level),
            int((~np.isnan(drawn[:, k])).sum()),
        )
        for name, k in numbers.items()
    }
    return dict(sorted(table.items(), key=lambda item: _order(item[1].estimate.value)))


def _names(first: Sequence[str], second: Sequence[str], preferences: Sequence[float]) -> list[str]:
    """The systems in order of appearance."""
    check_preferences(preferences)
    for i, (one, other) in enumerate(zip(first, second, strict=True)):
        for column, name in (("first", one), ("second", other)):
            if not isinstance(name, str) or not name:
                raise BadInput(f"{column}[{i}] is {name!r}; it must be the name of a system.")
        if one == other:
            raise BadInput(f"first[{i}] and second[{i}] are both {one!r}; a comparison is of two systems.")
    return list(dict.fromkeys(name for pair in zip(first, second, strict=True) for name in pair))


def _won(
    rows: list[int], columns: list[int], preferences: Sequence[float], codes: list[int], count: int, systems: int
) -> tuple[Floats, Floats]:
    """The cells of the matrix of wins that occur, and what each cluster adds to them (clusters x cells, sparse)."""
    import numpy as np
    from scipy.sparse import csr_array

    i, j, p = np.asarray(rows), np.asarray(columns), np.asarray(preferences, dtype=float)
    cells, place = np.unique(np.concatenate((i * systems + j, j * systems + i)), return_inverse=True)
    worth = np.concatenate((p, 1 - p))
    return cells, csr_array((worth, (np.concatenate((codes, codes)), place)), shape=(count, len(cells)))


def _reached(wins: Floats) -> Flags:
    """From which system (row) a chain of wins leads to which (column); to itself always."""
    import numpy as np

    step = (wins > 0) | np.eye(len(wins), dtype=bool)
    while True:
        further = step.astype(float) @ step > 0
        if (further == step).all():
            return further
        step = further


def _check_joined(wins: Floats, names: Sequence[str]) -> None:
    joined = _reached(wins + wins.T)
    if joined.all():
        return
    groups = {tuple(name for name, inside in zip(names, row, strict=True) if inside) for row in joined.tolist()}
    listed = "; ".join(", ".join(group) for group in sorted(groups))
    raise BadInput(
        f"no comparison joins these groups of systems, so their strengths have no common scale: {listed}. "
        "Compare across them, or take each group alone."
    )


def _core(reached: Flags, among: Flags) -> Flags:
    """The group, reaching each other, with the most of `among`; nobody where two have as many."""
    import numpy as np

    mutual = reached & reached.T
    held = (mutual & among).sum(axis=1)
    core: Flags = held == held.max()
    return core if (core == mutual[np.argmax(held)]).all() else np.zeros_like(core)


def _strengths(wins: Floats, zero: Flags, near: Floats | None = None) -> Floats:
    """Strengths over the mean of `zero`, as `bradley_terry` says; `near` are some to start from, evalica's if None."""
    import numpy as np

    found = np.full(len(wins), math.nan)
    reached = _reached(wins)
    core = _core(reached, zero)
    if not core.any():
        return found
    above, below = reached[:, core].any(axis=1), reached[core].any(axis=0)
    found[above & ~core], found[below & ~core] = math.inf, -math.inf
    if not core[zero].all():
        return found
    inner = wins[np.ix_(core, core)]
    found[core] = 0.0
    if len(inner) > 1:
        found[core] = _fitted(inner, _by_evalica(inner) if near is None else near[core])
        found[core] -= found[zero].mean()
    return found


def _by_evalica(wins: Floats) -> Floats:
    """Strengths as evalica has them after its 100 steps; they may be far off."""
    import numpy as np

    try:
        import evalica
    except ImportError as error:
        raise BadInput('bradley_terry needs evalica: pip install "humor-tasks[preference]"') from error
    winners, losers = np.nonzero(wins)
    fit = evalica.bradley_terry(
        winners.tolist(), losers.tolist(), [evalica.Winner.X] * len(winners), weights=wins[winners, losers].tolist()
    )
    strengths: Floats = np.log(fit.scores.reindex(range(len(wins))).to_numpy())
    return strengths


def _fitted(wins: Floats, near: Floats) -> Floats:
    """The strengths with the greatest likelihood, the first system's 0; nan should the steps not settle."""
    import numpy as np

    games, each = wins + wins.T, np.eye(len(wins))
    i, j = np.nonzero(np.triu(games))
    # The first is left out, that is 0: strengths all moved by the same are as likely.
    rest, _ = logistic_fit((each[i] - each[j])[:, 1:], wins[i, j], games[i, j], near[1:] - near[0])
    return np.concatenate(([0.0], rest))


def _with_spread(value: float, drawn: Floats, level: float, n: int, clusters: int) -> Estimate:
    """`value` with the error and the percentile interval of its draws."""
    import numpy as np

    known = drawn[~np.isnan(drawn)]
    finite = known[np.isfinite(known)]
    if not math.isfinite(value) or len(finite) < 2:
        return Estimate(value, math.nan, math.nan, math.nan, n, clusters)
    # No interpolation, for between a number and infinity there is nothing.
    low, high = np.percentile(known, [50 * (1 - level), 50 * (1 + level)], method="nearest")
    return Estimate(value, float(finite.std(ddof=1)), float(low), float(high), n, clusters)


def _ranks(drawn: Floats, k: int, level: float) -> tuple[int, int]:
    """The best and the worst rank of system k: those surely stronger, and those not surely weaker, come first."""
    import numpy as np

    own = drawn[:, [k]]
    known = (~np.isnan(drawn) & ~np.isnan(own)).sum(axis=0)
    stronger, weaker = (drawn > own).sum(axis=0), (drawn < own).sum(axis=0)
    allowed = known * (1 - level) / 2
    above = (known > 0) & (known - stronger <= allowed)
    below = (known > 0) & (known - weaker <= allowed)
    return 1 + int(above.sum()), drawn.shape[1] - int(below.sum())


def _order(value: float) -> float:
    """Strongest first, nan last."""
    return math.inf if math.isnan(value) else -value
