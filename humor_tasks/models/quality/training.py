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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.errors import BadInput
from humor_tasks.models.quality.features import features
from humor_tasks.models.quality.halves import sides_of
from humor_tasks.models.quality.model import Encoder, Quality

RIDGE = 1e-3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """What one contest adds: captions, X'X [f, f], X'y [f], and the sum of the features as they are [f]."""

    captions: int
    squares: Floats
    products: Floats
    total: Floats


def sums(vectors: NDArray[Any], captions: Sequence[str], best: Sequence[bool]) -> Sums:
    """The sums of a contest's training captions. best: whether each is one of the best, or else of the worst."""
    x = features(vectors, captions)
    y = np.where(np.asarray(best, dtype=bool), 1.0, -1.0)
    centred = x - x.mean(axis=0) if len(x) else x
    return Sums(len(x), centred.T @ centred, centred.T @ (y - y.mean() if len(y) else y), x.sum(axis=0))


def fit(found: Iterable[tuple[int, Sums]], encoder: Encoder, same: Iterable[tuple[int, int]] = ()) -> Quality:
    """The quality model from (contest, its sums), added in the order given: it decides the last bits of the weights.

    same: pairs of contests with the same captions. Both count as of the parity of the first of them and as seen, even
    where one is not rated, so that no model saw the captions that it judges. Raises BadInput where a parity has no
    captions.
    """
    twins = list(same)
    parity = sides_of((), twins)
    totals: list[Sums | None] = [None, None]
    contests: list[list[int]] = [[], []]
    for number, each in found:
        side = parity.get(number, number % 2)
        if each.captions:
            totals[side] = _added(totals[side], each)
            contests[side].append(number)
    for twin in {number for pair in twins for number in pair}:
        contests[parity.get(twin, twin % 2)].append(twin)
    contests = [sorted(set(side)) for side in contests]
    models = []
    for side, total in enumerate(totals):
        if total is None:
            name = ("even", "odd")[side]
            raise BadInput(
                f"quality model: no rated contest has an {name} number. Two models are trained, on even and on odd "
                "contests, so that none judges a contest it saw; give rated contests of both, or --quality FOLDER."
            )
        models.append(_discriminant(total))
    weights, centre, scale = (np.array(each) for each in zip(*models, strict=True))
    return Quality(encoder, weights * scale[:, None], centre, (tuple(contests[0]), tuple(contests[1])))


def _added(total: Sums | None, each: Sums) -> Sums:
    if total is None:
        return each
    captions = total.captions + each.captions
    return Sums(captions, total.squares + each.squares, total.products + each.products, total.total + each.total)


def _discriminant(total: Sums) -> tuple[Floats, Floats, float]:
    """(weights, mean of the features, scale to log-odds)."""
    n, f = total.captions, len(total.total)
    weights = np.asarray(np.linalg.solve(total.squares / n + RIDGE * np.eye(f), total.products / n), dtype=np.float64)
    difference = 2 * float(weights @ total.products) / n
    within = float(weights @ total.squares @ weights) / n - (difference / 2) ** 2
    return weights, total.total / n, difference / within if within > 0 else 1.0
