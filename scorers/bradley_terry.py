"""Strengths of systems from pairwise comparisons: the Bradley-Terry model (Bradley and Terry 1952, Biometrika 39).

    P(i is preferred to j) = 1 / (1 + exp(s_j - s_i))

The strengths s are natural log odds: a system 0.7 stronger is preferred two times in three. A tie is half a win for
each; a preference p counts as p of a win. The library evalica computes the maximum-likelihood estimate (by Newman 2023,
JMLR 24), and Newton steps refine it: evalica's result is off by 0.3 where few comparisons connect two groups of
systems, and it reports neither that nor the case that no finite maximum exists.

A finite maximum exists if a chain of wins or ties leads from each system to each other one; that is, no group of
systems won every comparison against the rest (Ford 1957, Am. Math. Monthly 64). The largest group with this property is
called the core here. Its members have finite strengths, fitted on the comparisons among them. In the limit, comparisons
with systems outside the core are certain and add nothing to the likelihood.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from humor_tasks.errors import BadInput

from .arrays import Flags, Floats
from .estimate import Estimate, check_level, cluster_codes
from .preference import check_draws, check_preferences, logistic_fit
from .validation import check_same_length


@dataclass(frozen=True)
class Strength:
    """A system's estimated strength and the bounds of its rank.

    `estimate` is in natural log odds; its `n` and `clusters` count this system's comparisons and their clusters. `best`
    and `worst` bound the rank (1 is the strongest): of N systems, `best` - 1 are significantly stronger and N - `worst`
    significantly weaker. Each comparison is a one-sided bootstrap test at (1 - level) / 2, without correction for
    multiple tests. `draws` is the number of bootstrap draws behind the interval.
    """

    estimate: Estimate
    best: int
    worst: int
    draws: int

    @property
    def elo(self) -> Estimate:
        """The strength in Elo points, 400 / ln 10 per unit: 400 points more is preferred ten times in eleven."""
        return elo(self.estimate)


def elo(e: Estimate) -> Estimate:
    """A strength, or a difference of strengths, in Elo points."""
    points = 400 / math.log(10)
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
    times: Sequence[int] | None = None,
) -> dict[str, Strength]:
    """Every system's strength, strongest first. `preferences` holds each row's result for `first`, from 0 (lost) to 1
    (won). `times`: the number of comparisons that each row stands for, with their mean preference; None: one each.

    Strengths are relative to the mean of the core. With a `reference` they are differences from that system, with the
    intervals of the differences, and the core is the reference's group; use this to compare two systems. Outside the
    core a strength is inf (a chain of wins leads to the core and none back, as for a system that never lost), -inf (the
    reverse) or nan (neither). If two groups are equally large, neither is the core, and without a reference all
    strengths are nan; this includes two systems of which one won everything.

    `stderr` and the percentile interval come from `draws` resamplings of whole clusters (multinomial). A system's draws
    with a strength of nan are left out: the system was not drawn or, where the zero is the core's mean, a member of the
    core was not drawn or won or lost everything. Infinite draws stay in the interval, which may therefore end at
    infinity, and are left out of `stderr`. Many draws of either kind mean that there are too few clusters. A strength
    that is not finite has a stderr and interval of nan; so has every strength where there is one cluster. The same seed
    gives the same intervals.

    Raises BadInput on groups of systems that no comparison connects (naming them), a system compared with itself, a
    missing system name, preferences as `win_rate` does, an unknown reference, fewer than two draws, and if evalica is
    not installed.
    """
    import numpy as np

    check_level(level)
    check_draws(draws)
    times = [1] * len(preferences) if times is None else times
    check_same_length(first=first, second=second, preferences=preferences, clusters=clusters, times=times)
    check_preferences(preferences)
    names = system_names(first, second)
    if reference is not None and reference not in names:
        raise BadInput(f"reference is {reference!r}, which is none of the systems: {', '.join(map(repr, names))}.")
    if not names:
        return {}
    numbers = {name: k for k, name in enumerate(names)}
    rows, columns = [numbers[name] for name in first], [numbers[name] for name in second]
    codes, count = cluster_codes(clusters)
    cells, won = _wins_by_cluster(rows, columns, preferences, times, codes, count, len(names))

    def matrix(totals: Floats) -> Floats:
        wins = np.zeros(len(names) ** 2)
        wins[cells] = totals
        return wins.reshape(len(names), len(names))

    wins = matrix(won.sum(axis=0))
    check_connected(wins, names)
    zero = np.array([name == reference for name in names])
    if reference is None:
        zero = _core(_reachable(wins), ~zero)
    values = _strengths(wins, zero)
    drawn = np.full((0, len(names)), math.nan)
    if count > 1:
        weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), draws)
        drawn = np.array([_strengths(matrix(totals), zero, values) for totals in weights @ won])
    pairs = set(zip(rows, codes, strict=True)) | set(zip(columns, codes, strict=True))
    games, groups = np.zeros(len(names), dtype=int), Counter(k for k, _ in pairs)
    np.add.at(games, [*rows, *columns], [*times, *times])
    table = {
        name: Strength(
            _bootstrap_estimate(float(values[k]), drawn[:, k], level, int(games[k]), groups[k]),
            *_ranks(drawn, k, level),
            int((~np.isnan(drawn[:, k])).sum()),
        )
        for name, k in numbers.items()
    }
    return dict(sorted(table.items(), key=lambda item: _order(item[1].estimate.value)))


def system_names(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """The systems in order of appearance; BadInput on a missing name and on a system compared with itself."""
    for i, (one, other) in enumerate(zip(first, second, strict=True)):
        for column, name in (("first", one), ("second", other)):
            if not isinstance(name, str) or not name:
                raise BadInput(f"{column}[{i}] is {name!r}; it must be the name of a system.")
        if one == other:
            raise BadInput(f"first[{i}] and second[{i}] are both {one!r}; a comparison is of two systems.")
    return list(dict.fromkeys(name for pair in zip(first, second, strict=True) for name in pair))


def _wins_by_cluster(
    rows: list[int],
    columns: list[int],
    preferences: Sequence[float],
    times: Sequence[int],
    codes: list[int],
    count: int,
    systems: int,
) -> tuple[Floats, Floats]:
    """The matrix cells with wins (flat indices), and each cluster's wins in them (clusters x cells, sparse)."""
    import numpy as np
    from scipy.sparse import csr_array

    i, j, p, n = np.asarray(rows), np.asarray(columns), np.asarray(preferences, dtype=float), np.asarray(times)
    cells, place = np.unique(np.concatenate((i * systems + j, j * systems + i)), return_inverse=True)
    worth = np.concatenate((n * p, n * (1 - p)))
    return cells, csr_array((worth, (np.concatenate((codes, codes)), place)), shape=(count, len(cells)))


def _reachable(wins: Floats) -> Flags:
    """Transitive closure: whether a chain of wins leads from the system of the row to that of the column; True on the
    diagonal.
    """
    import numpy as np

    step = (wins > 0) | np.eye(len(wins), dtype=bool)
    while True:
        further = step.astype(float) @ step > 0
        if (further == step).all():
            return further
        step = further


def check_connected(wins: Floats, names: Sequence[str]) -> None:
    """Raise BadInput, naming them, on groups of systems that no comparison joins; wins: one row and column a system."""
    connected = _reachable(wins + wins.T)
    if connected.all():
        return
    groups = {tuple(name for name, inside in zip(names, row, strict=True) if inside) for row in connected.tolist()}
    listed = "; ".join(", ".join(group) for group in sorted(groups))
    raise BadInput(
        f"no comparison joins these groups of systems, so their strengths have no common scale: {listed}. "
        "Add comparisons between them, or fit each group alone."
    )


def _core(reachable: Flags, among: Flags) -> Flags:
    """The strongly connected group with the most members in `among`; empty if two groups have equally many."""
    import numpy as np

    mutual = reachable & reachable.T
    held = (mutual & among).sum(axis=1)
    core: Flags = held == held.max()
    return core if (core == mutual[np.argmax(held)]).all() else np.zeros_like(core)


def _strengths(wins: Floats, zero: Flags, start: Floats | None = None) -> Floats:
    """Strengths relative to the mean of `zero`, as `bradley_terry` documents; `start` holds starting values (None:
    evalica's).
    """
    import numpy as np

    strengths = np.full(len(wins), math.nan)
    reachable = _reachable(wins)
    core = _core(reachable, zero)
    if not core.any():
        return strengths
    above, below = reachable[:, core].any(axis=1), reachable[core].any(axis=0)
    strengths[above & ~core], strengths[below & ~core] = math.inf, -math.inf
    if not core[zero].all():
        return strengths
    inner = wins[np.ix_(core, core)]
    strengths[core] = 0.0
    if len(inner) > 1:
        strengths[core] = _maximum_likelihood(inner, _evalica_strengths(inner) if start is None else start[core])
        strengths[core] -= strengths[zero].mean()
    return strengths


def _evalica_strengths(wins: Floats) -> Floats:
    """evalica's strengths after its 100 iterations, as starting values; they may be inaccurate."""
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


def _maximum_likelihood(wins: Floats, start: Floats) -> Floats:
    """Maximum-likelihood strengths with the first system's fixed at 0; nan if Newton's method does not converge."""
    import numpy as np

    games, unit = wins + wins.T, np.eye(len(wins))
    i, j = np.nonzero(np.triu(games))
    # The first strength is fixed at 0: adding a constant to all strengths does not change the likelihood.
    rest, _ = logistic_fit((unit[i] - unit[j])[:, 1:], wins[i, j], games[i, j], start[1:] - start[0])
    return np.concatenate(([0.0], rest))


def _bootstrap_estimate(value: float, drawn: Floats, level: float, n: int, clusters: int) -> Estimate:
    """`value` with the standard error and the percentile interval of its bootstrap draws."""
    import numpy as np

    known = drawn[~np.isnan(drawn)]
    finite = known[np.isfinite(known)]
    if not math.isfinite(value) or len(finite) < 2:
        return Estimate(value, math.nan, math.nan, math.nan, n, clusters)
    # No interpolation: it is undefined between a number and infinity.
    low, high = np.percentile(known, [50 * (1 - level), 50 * (1 + level)], method="nearest")
    return Estimate(value, float(finite.std(ddof=1)), float(low), float(high), n, clusters)


def _ranks(drawn: Floats, k: int, level: float) -> tuple[int, int]:
    """The best and worst rank of system k: 1 + the systems significantly stronger, and all minus those significantly
    weaker.
    """
    import numpy as np

    system = drawn[:, [k]]
    known = (~np.isnan(drawn) & ~np.isnan(system)).sum(axis=0)
    stronger, weaker = (drawn > system).sum(axis=0), (drawn < system).sum(axis=0)
    allowed = known * (1 - level) / 2
    above = (known > 0) & (known - stronger <= allowed)
    below = (known > 0) & (known - weaker <= allowed)
    return 1 + int(above.sum()), drawn.shape[1] - int(below.sum())


def _order(value: float) -> float:
    """Sort key: strongest first, nan last."""
    return math.inf if math.isnan(value) else -value
