"""Which players are apart, and the set of ranks that each may have, all at once.

Mogstad, Romano, Shaikh and Wilhelm (2024, "Inference for Ranks with Applications to Mobility across Neighbourhoods and
Academic Achievement across Countries", Review of Economic Studies 91): from intervals of all differences of two players
that hold together with the confidence level, a player's best rank is 1 + the players certainly stronger, its worst all
players less those certainly weaker. All these sets hold the true ranks together with at least that level. Their second,
stepwise part is left out here. The R package csranks has both, for normal estimates; Python has none at hand.

The intervals are those of `davidson.Fit`, each with its own degrees of freedom. What the level of each must be for all
to hold together follows from the greatest |z| over all pairs of normal draws with the strengths' covariance (max-t).
Few draws lie beyond a far quantile, so a draw's rank is taken that is too strict by two of its standard errors, and
Bonferroni's level (alpha over the number of pairs) wherever that is the laxer.

Where an interval holds 0 only because one player beats the other always or nearly so, the score test of the two being
equal decides (`Fit.score_test`), at the level of the interval.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from humor_tasks.errors import BadInput

from .arrays import Floats, Integers
from .davidson import Fit
from .estimate import Estimate, check_level

DRAWS = 50_000
TESTED = 2.5
"""The least difference, in standard errors, that is put to a score test."""


@dataclass(frozen=True)
class Neighbours:
    """Two players next to each other in the estimated order, and whether they are apart."""

    stronger: str
    weaker: str
    apart: bool


def rank_sets(fit: Fit, level: float = 0.95, *, seed: int = 0) -> dict[str, tuple[int, int]]:
    """Each player's best and worst rank, strongest player first; rank 1 is the strongest.

    All sets together hold the true ranks with probability `level`. Raises BadInput on a level outside (0, 1).
    """
    import numpy as np

    check_level(level)
    signs = order_of_pairs(fit, 1 - level, seed=seed)
    best, worst = 1 + (signs < 0).sum(axis=1), len(signs) - (signs > 0).sum(axis=1)
    order = np.argsort(-fit.values, kind="stable")
    return {fit.names[k]: (int(best[k]), int(worst[k])) for k in order}


def apart(fit: Fit, alpha: float = 0.05, *, seed: int = 0) -> list[Neighbours]:
    """The neighbours in the estimated order, strongest first, and which of them are apart.

    They are where one is certainly stronger (see the module), by tests that hold for all pairs together. So with at
    most the probability alpha any pair, neighbours or not, is said to be apart in the wrong order. Raises BadInput on
    an alpha outside (0, 1).
    """
    import numpy as np

    order = np.argsort(-fit.values, kind="stable").tolist()
    pairs = list(pairwise(order))
    signs = order_of_pairs(fit, alpha, seed=seed, wanted=pairs)
    return [Neighbours(fit.names[a], fit.names[b], bool(signs[a, b] > 0)) for a, b in pairs]


def order_of_pairs(
    fit: Fit, alpha: float = 0.05, *, seed: int = 0, wanted: Collection[tuple[int, int]] | None = None
) -> Integers:
    """By two players [K, K]: 1 where the first is certainly stronger, -1 where the second is, 0 where it is open.

    Holds for all pairs together but for alpha. wanted: the pairs, by the numbers of the players in `fit.names`, to put
    to a score test where their interval holds 0 (None: all). Raises BadInput on an alpha outside (0, 1).
    """
    import numpy as np
    from scipy.special import stdtrit

    if not 0 < alpha < 1:
        raise BadInput(f"alpha is {alpha!r}; the probability of a wrong order lies between 0 and 1, for example 0.05.")
    k = len(fit.names)
    first, second = np.triu_indices(k, 1)
    weights = np.zeros((len(first), len(fit.parameters)))
    rows = np.arange(len(first))
    weights[rows, first], weights[rows, second] = 1, -1
    values, stderr, dof = fit.contrasts(weights)
    level = _pointwise(fit, weights, alpha, seed)
    decided = abs(values) > stdtrit(dof, 1 - level / 2) * stderr
    for i in np.flatnonzero(~decided & (abs(values) > TESTED * stderr)):
        a, b = int(first[i]), int(second[i])
        if wanted is None or (a, b) in wanted or (b, a) in wanted:
            statistic, p = fit.score_test(fit.names[a], fit.names[b])
            decided[i] = p < level and statistic * values[i] > 0
    signs = np.zeros((k, k), dtype=int)
    signs[first, second] = np.where(decided, np.sign(values), 0)
    return signs - signs.T


def spent(alpha: float, look: int) -> float:
    """The error that the look number `look`, from 1, may have where verdicts are looked at after every round.

        alpha / (look * (look + 1))

    Over any number of looks these sum to at most alpha. So the probability that any look errs is at most alpha (the
    union bound), whenever one stops and whatever made one stop. It is a spending function (Lan and DeMets 1983,
    Biometrika 70) that needs no number of looks in advance, and uses nothing of how looks depend on each other. Each
    look costs more than the one before: let the verdicts grow by a share, not by a number, between them. Raises
    BadInput on an alpha outside (0, 1) and a look below 1.
    """
    if not 0 < alpha < 1:
        raise BadInput(f"alpha is {alpha!r}; the probability of an error lies between 0 and 1, for example 0.05.")
    if look < 1:
        raise BadInput(f"look is {look!r}; looks are counted from 1.")
    return alpha / (look * (look + 1))


def together(fit: Fit, level: float = 0.95, *, reference: str | None = None, seed: int = 0) -> dict[str, Estimate]:
    """Every player's strength from the mean player's or from `reference`, strongest first, with intervals that all hold
    at once.

    For the drawing of a ladder: of K equally strong players, the intervals of `Fit.strengths` overlap less often than
    the level promises, because each holds alone. Raises BadInput on an unknown reference and on a level outside (0, 1).
    """
    import numpy as np

    check_level(level)
    k = len(fit.names)
    weights = np.zeros((k, len(fit.parameters)))
    weights[:, :k] = np.eye(k) - (1 / k if reference is None else [name == reference for name in fit.names])
    weights = weights[weights.any(axis=1)]  # the reference's difference from itself is 0
    return fit.strengths(reference, 1 - _pointwise(fit, weights, 1 - level, seed))


def _pointwise(fit: Fit, weights: Floats, alpha: float, seed: int) -> float:
    """The error that each two-sided interval of these contrasts of strengths [rows, P] may have, so that all hold
    together but for alpha.
    """
    import numpy as np
    from scipy.special import ndtr

    beyond = alpha * DRAWS
    place = int(beyond - 2 * np.sqrt(beyond))
    if place < 1:
        return alpha / len(weights)
    k = len(fit.names)
    root = weights[:, :k] @ np.linalg.cholesky(fit.model[:k, :k])
    root /= np.sqrt(np.square(root).sum(axis=1))[:, None]
    rng = np.random.default_rng(seed)
    greatest = [abs(rng.standard_normal((DRAWS // 10, k)) @ root.T).max(axis=1) for _ in range(10)]
    cut = float(np.sort(np.concatenate(greatest))[-place])
    return max(alpha / len(weights), 2 * float(ndtr(-cut)))
