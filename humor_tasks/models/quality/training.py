"""Training of the quality model: two linear discriminants, each on the rated contests of one parity.

Within every contest the features are centred, because a cartoon's topic says nothing about a caption's quality. With X
the centred features, y = 1 for the best and -1 for the worst captions, and n captions, a discriminant's weights are

    w = (X'X / n + RIDGE * I)^-1 X'y / n

(Fisher's, up to its scale, as both classes have the same size). The scale turns w'x into log-odds: the difference of
the class means over the variance within classes. X'X and X'y are sums over contests, so that memory does not grow with
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.errors import BadInput
from humor_tasks.models.quality.features import features
from humor_tasks.models.quality.model import SIDES, Encoder, Quality, sides_of

RIDGE = 1e-3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """What contests add: captions, X'X [f, f], X'y [f], and the sum of the features as they are [f]."""

    captions: int
    squares: Floats
    products: Floats
    total: Floats

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Sums)))


def sums(vectors: NDArray[Any], captions: Sequence[str], best: Sequence[bool]) -> Sums:
    """The sums of a contest's training captions. best: whether each is one of the best, or else of the worst."""
    x = features(vectors, captions)
    y = np.where(np.asarray(best, dtype=bool), 1.0, -1.0)
    centred = x - x.mean(axis=0) if len(x) else x
    return Sums(len(x), centred.T @ centred, centred.T @ (y - y.mean() if len(y) else y), x.sum(axis=0))


def fit(by_contest: Iterable[tuple[int, Sums]], encoder: Encoder, same: Iterable[tuple[int, int]] = ()) -> Quality:
    """The quality model from (contest, its sums), added in the order given: it decides the last bits of the weights.

    same: pairs of contests with the same captions. Both count as of the parity of the first of them and as seen, even
    where one is not rated, so that no model saw the captions that it judges. Raises BadInput where a parity has no
    captions.
    """
    parity = sides_of((), same)
    totals: dict[int, Sums] = {}
    contests: tuple[set[int], set[int]] = (set(), set())
    for number, contest in by_contest:
        if contest.captions:
            side = parity.get(number, number % 2)
            totals[side] = totals[side] + contest if side in totals else contest
            contests[side].add(number)
    for number, side in parity.items():
        contests[side].add(number)
    for side, name in enumerate(SIDES):
        if side not in totals:
            raise BadInput(
                f"quality model: no rated contest has an {name} number. Two models are trained, on even and on odd "
                "contests, so that none judges a contest it saw; give rated contests of both, or --quality FOLDER."
            )
    discriminants = [_discriminant(totals[side]) for side in (0, 1)]
    weights, centre, scale = (np.array(parts) for parts in zip(*discriminants, strict=True))
    even, odd = (tuple(sorted(side)) for side in contests)
    return Quality(encoder, weights * scale[:, None], centre, (even, odd))


def _discriminant(total: Sums) -> tuple[Floats, Floats, float]:
    """(weights, mean of the features, scale to log-odds)."""
    n, f = total.captions, len(total.total)
    weights = np.asarray(np.linalg.solve(total.squares / n + RIDGE * np.eye(f), total.products / n), dtype=np.float64)
    difference = 2 * float(weights @ total.products) / n
    within = float(weights @ total.squares @ weights) / n - (difference / 2) ** 2
    return weights, total.total / n, difference / within if within > 0 else 1.0
