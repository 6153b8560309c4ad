"""A table of ratings as numbers, and how far apart ratings are: what the coefficients of agreement share.

A row is an item, a column a rater, None a missing rating. Ratings are told apart as dictionary keys are, so
1, 1.0 and True are one category and "1" another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from numbers import Real
from typing import TYPE_CHECKING, Any

from humor_tasks.errors import BadInput

from .validation import check_same_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

Ratings = Sequence[Sequence[Hashable | None]]


@dataclass(frozen=True)
class Coded:
    """`codes` [items, raters] numbers each rating by its place in `categories`, -1 where there is none.

    `clusters` has the id of each item.
    """

    codes: Integers
    categories: list[Hashable]
    clusters: Sequence[Hashable]

    @property
    def totals(self) -> Integers:
        """Ratings of each item."""
        totals: Integers = (self.codes >= 0).sum(axis=1)
        return totals

    def with_ratings(self, least: int) -> Coded:
        """The items with `least` ratings or more."""
        kept = self.totals >= least
        if kept.all():
            return self
        return Coded(self.codes[kept], self.categories, list(compress(self.clusters, kept.tolist())))

    def cells(self) -> tuple[Integers, Integers, Floats]:
        """Item, category and number of ratings of each category that an item was given, by item."""
        import numpy as np

        q = max(len(self.categories), 1)
        given = self.codes >= 0
        keys = self.codes + q * np.arange(len(self.codes))[:, None]
        found, counts = np.unique(keys[given], return_counts=True)
        return found // q, found % q, counts.astype(float)


def coded(
    ratings: Ratings, clusters: Sequence[Hashable] | None = None, categories: Sequence[Hashable] | None = None
) -> Coded:
    """`ratings` by number; `categories` are the given ones, or those that occur, in order of appearance.

    Without `clusters` each item is its own. Raises BadInput on rows of different length, a nan among the
    ratings, a rating outside `categories`, and clusters that are not one an item.
    """
    import numpy as np

    ids: Sequence[Hashable] = range(len(ratings)) if clusters is None else clusters
    check_same_length(ratings=ratings, clusters=ids)
    width = len(ratings[0]) if len(ratings) else 0
    if set(map(len, ratings)) > {width}:
        i = next(i for i, row in enumerate(ratings) if len(row) != width)
        raise BadInput(f"ratings[{i}] has {len(ratings[i])} ratings, ratings[0] {width}; None stands for none.")
    cells = list(chain.from_iterable(ratings))
    used = dict.fromkeys(cells)
    used.pop(None, None)
    known = used if categories is None else dict.fromkeys(categories)
    if None in known:
        raise BadInput("categories holds None, which stands for a missing rating.")
    for rating in used:
        if rating != rating or rating not in known:
            i, j = divmod(next(place for place, cell in enumerate(cells) if cell is rating), width)
            if rating != rating:
                raise BadInput(f"ratings[{i}][{j}] is {rating!r}; None stands for a missing rating.")
            raise BadInput(f"ratings[{i}][{j}] is {rating!r}, which is not among the categories {list(known)!r}.")
    numbers: dict[Hashable | None, int] = {rating: number for number, rating in enumerate(known)}
    numbers[None] = -1
    # One look-up a cell, in C: half a million take 20 ms.
    codes = np.fromiter(map(numbers.__getitem__, cells), np.intp, len(cells)).reshape(len(ratings), width)
    return Coded(codes, list(known), ids)


def places(categories: Sequence[Hashable], what: str, ordered: bool | None = None) -> Floats:
    """Where categories stand on a line: numbers where they are; others, where `ordered`, at 1, 2, 3 and so on.

    Raises BadInput, in the name of `what`, where they are neither. None: an order would not do.
    """
    import numpy as np

    odd = [k for k in categories if not isinstance(k, Real) or not math.isfinite(k)]
    if not odd:
        return np.asarray(categories, dtype=float)
    if ordered and not any(isinstance(k, Real) for k in odd):
        return np.arange(1.0, len(categories) + 1)
    remedy = "" if ordered is None else ", or `categories` that list them in their order"
    raise BadInput(f"{what} needs ratings that are finite numbers{remedy}; there is {odd[0]!r}.")


def _ratio(a: Any, b: Any) -> Floats:
    import numpy as np

    total = np.asarray(a + b, dtype=float)
    share: Floats = np.divide(a - b, total, out=np.zeros_like(total), where=total != 0)
    return share**2


# How far apart two ratings are, from where they stand.
DISTANCES: dict[str, Callable[[Any, Any], Any]] = {
    "nominal": lambda a, b: a != b,
    "linear": lambda a, b: abs(a - b),
    "squared": lambda a, b: (a - b) ** 2,
    "ratio": _ratio,
}


def sum_of_distances(stand: Floats, counts: Floats, distance: str) -> Floats:
    """From each category, the sum of its distances to `counts` ratings of each category."""
    import numpy as np

    return np.asarray([DISTANCES[distance](place, stand) @ counts for place in stand], dtype=float)
