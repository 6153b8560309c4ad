"""A table of ratings as integer codes, and distances between ratings; shared by the agreement coefficients.

A row is an item, a column a rater, None a missing rating. Ratings are compared as dictionary keys, so 1, 1.0 and True
are one category and "1" is another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from numbers import Real
from typing import Any

from humor_tasks.errors import BadInput

from .arrays import Floats, Indices
from .validation import check_same_length

Ratings = Sequence[Sequence[Hashable | None]]


@dataclass(frozen=True)
class RatingTable:
    """Ratings as integer codes.

    `codes` [items, raters] holds each rating's index in `categories`; -1 is a missing rating. `clusters` holds the
    cluster id of each item.
    """

    codes: Indices
    categories: list[Hashable]
    clusters: Sequence[Hashable]

    @property
    def totals(self) -> Indices:
        """The number of ratings of each item."""
        totals: Indices = (self.codes >= 0).sum(axis=1)
        return totals

    def with_ratings(self, least: int) -> RatingTable:
        """The items with at least `least` ratings."""
        rated = self.totals >= least
        if rated.all():
            return self
        return RatingTable(self.codes[rated], self.categories, list(compress(self.clusters, rated.tolist())))

    def cells(self) -> tuple[Indices, Indices, Floats]:
        """The non-zero cells of the item x category counts, sorted by item: item, category and count."""
        import numpy as np

        q = max(len(self.categories), 1)
        given = self.codes >= 0
        keys = self.codes + q * np.arange(len(self.codes))[:, None]
        unique, counts = np.unique(keys[given], return_counts=True)
        return unique // q, unique % q, counts.astype(float)


def rating_table(
    ratings: Ratings, clusters: Sequence[Hashable] | None = None, categories: Sequence[Hashable] | None = None
) -> RatingTable:
    """`ratings` as a RatingTable; `categories` default to those that occur, in order of appearance.

    Without `clusters` each item is its own cluster. Raises BadInput on rows of different length, a nan among the
    ratings, a rating outside `categories`, None among `categories`, and `clusters` that are not one per item.
    """
    import numpy as np

    ids: Sequence[Hashable] = range(len(ratings)) if clusters is None else clusters
    check_same_length(ratings=ratings, clusters=ids)
    width = len(ratings[0]) if len(ratings) else 0
    if set(map(len, ratings)) > {width}:
        i = next(i for i, row in enumerate(ratings) if len(row) != width)
        raise BadInput(f"ratings[{i}] has {len(ratings[i])} ratings, ratings[0] has {width}; a missing rating is None.")
    cells = list(chain.from_iterable(ratings))
    used = dict.fromkeys(cells)
    used.pop(None, None)
    known = used if categories is None else dict.fromkeys(categories)
    if None in known:
        raise BadInput("categories contains None, which means a missing rating; remove it.")
    for rating in used:
        if rating != rating or rating not in known:
            i, j = divmod(next(place for place, cell in enumerate(cells) if cell is rating), width)
            if rating != rating:
                raise BadInput(f"ratings[{i}][{j}] is {rating!r}; a missing rating is None.")
            raise BadInput(f"ratings[{i}][{j}] is {rating!r}, which is not among the categories {list(known)!r}.")
    numbers: dict[Hashable | None, int] = {rating: number for number, rating in enumerate(known)}
    numbers[None] = -1
    # One dictionary look-up per cell, in C: half a million cells take 20 ms.
    codes = np.fromiter(map(numbers.__getitem__, cells), np.intp, len(cells)).reshape(len(ratings), width)
    return RatingTable(codes, list(known), ids)


def positions(categories: Sequence[Hashable], what: str, ordered: bool | None = None) -> Floats:
    """The categories' positions on a line: their own value for numbers; if `ordered`, 1, 2, 3, ... for others.

    `ordered` is None where the metric needs numbers. Raises BadInput, beginning with `what`, where neither applies.
    """
    import numpy as np

    others = [k for k in categories if not isinstance(k, Real) or not math.isfinite(k)]
    if not others:
        return np.asarray(categories, dtype=float)
    if ordered and not any(isinstance(k, Real) for k in others):
        return np.arange(1.0, len(categories) + 1)
    remedy = "" if ordered is None else ", or `categories` that list them in order"
    raise BadInput(f"{what} needs ratings that are finite numbers{remedy}; found {others[0]!r}.")


def _ratio(a: Any, b: Any) -> Floats:
    import numpy as np

    total = np.asarray(a + b, dtype=float)
    share: Floats = np.divide(a - b, total, out=np.zeros_like(total), where=total != 0)
    return share**2


# Distance of two ratings, from their positions.
DISTANCES: dict[str, Callable[[Any, Any], Any]] = {
    "nominal": lambda a, b: a != b,
    "linear": lambda a, b: abs(a - b),
    "squared": lambda a, b: (a - b) ** 2,
    "ratio": _ratio,
}


def sum_of_distances(position: Floats, counts: Floats, distance: str) -> Floats:
    """For each category, the sum of its distances to all ratings; `counts` holds the number of ratings per category."""
    import numpy as np

    return np.asarray([DISTANCES[distance](place, position) @ counts for place in position], dtype=float)
