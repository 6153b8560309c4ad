"""Krippendorff's alpha: chance-corrected agreement of any number of raters, for ratings with a distance.

N items have two or more ratings. Item u of these has m_u ratings, n is the sum of m_u, and n_k counts the ratings of
category k. With d(a, b) the distance of two ratings,

    A = sum over items of the sum over ordered pairs of the item's ratings of d, over m_u - 1
    E = sum over k, l of n_k n_l d(k, l)
    alpha = 1 - (n - 1) A / E

(Krippendorff 2011, "Computing Krippendorff's alpha-reliability"; Hayes and Krippendorff 2007, Communication Methods and
Measures 1). The distances:

    nominal    1 for unequal ratings         interval   (a - b)^2
    ordinal    (s_a - s_b)^2                 ratio      ((a - b) / (a + b))^2

where s_k, the midrank, is the number of ratings below category k plus half of those in it.

Existing libraries compute the value (krippendorff, under the GPL; evalica and Inspect, against which the tests compare)
or an interval for independent items. A clustered error needs each item's part in A and E, and the sums of these parts
give the value.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, get_args

from humor_tasks.errors import BadInput

from .arrays import Floats, Indices
from .estimate import Estimate, check_level, with_deviations
from .rating_table import DISTANCES, Ratings, RatingTable, positions, rating_table, sum_of_distances

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
_DISTANCE = {"nominal": "nominal", "ordinal": "squared", "interval": "squared", "ratio": "ratio"}


def krippendorff_alpha(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    metric: Metric = "nominal",
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Alpha (formula above). `ratings` has a row per item and a column per rater; None is a missing rating.

    Ratings must be numbers for interval and ratio, and not negative for ratio. For ordinal they are numbers or are
    ordered by `categories`. In the other cases `categories` only restricts the ratings; an unused category changes
    nothing.

    The error is that of the mean over the N items of Gwet's linearised values (2014; the Python irrCAC has them for
    nominal, interval, which it calls quadratic, and ratio). With m = n / N, D_o = (n - 1) A / n^2, D_e = E / n^2 and D
    = A / n:

        deviation_u = (D - d_u + 2 D / D_e (e_u - D_e)) / D_e
        d_u = A_u / m - D_o (m_u / m - 1)
        e_u = sum over its ratings of the mean distance to all ratings / m - D_e (m_u / m - 1)

    For ordinal, which Gwet does not cover, the deviation also includes the effect of an item's ratings on the midranks.
    Errors are clustered as in clustered_mean; without `clusters` each item is its own cluster. `n` counts items with
    two ratings; `high` is not clipped at 1. The value is nan where there are no such items or all ratings are equal
    (0/0). Raises BadInput as `gwet_ac1` does, on an unknown metric, and on ratings that the metric does not allow.
    """
    import numpy as np

    check_level(level)
    if metric not in get_args(Metric):
        raise BadInput(f"metric is {metric!r}; it must be one of {', '.join(get_args(Metric))}.")
    table = rating_table(ratings, clusters, categories)
    position = _positions(table, metric, categories is not None)
    table = table.with_ratings(2)
    item, code, count = table.cells()
    m, n_k = table.totals, np.bincount(code, count, minlength=len(table.categories)).astype(float)
    size, n = len(m), int(m.sum())
    if metric == "ordinal":
        order = np.argsort(position)
        position = _midranks(n_k, order)
    far = sum_of_distances(position, n_k, _DISTANCE[metric])
    parts = _within_item_distances(item, count, position[code], size, _DISTANCE[metric]) / (m - 1)
    apart, chance = float(parts.sum()), float(n_k @ far)
    if chance == 0:
        return with_deviations(math.nan, [math.nan] * size, table.clusters, level)

    share = m * (size / n)
    seen, observed, expected = apart / n, (n - 1) / n * (apart / n), chance / n**2
    d_u = parts * (size / n) - observed * (share - 1)
    e_u = np.bincount(item, count * far[code], minlength=size) * (size / n**2) - expected * (share - 1)
    deviations = (seen - d_u + 2 * seen / expected * (e_u - expected)) / expected
    if metric == "ordinal":
        by_code = _midrank_influence(item, code, count, position, n_k, m, order)
        deviations += size * np.bincount(item, count * by_code[code], minlength=size)
    return with_deviations(1 - (n - 1) * apart / chance, deviations.tolist(), table.clusters, level)


def _positions(table: RatingTable, metric: Metric, ordered: bool) -> Floats:
    """The categories' positions on the scale; their index for nominal."""
    import numpy as np

    if metric == "nominal":
        return np.arange(len(table.categories), dtype=float)
    what = f"krippendorff_alpha with metric={metric!r}"
    position = positions(table.categories, what, ordered if metric == "ordinal" else None)
    if metric == "ratio" and (position < 0).any():
        raise BadInput(f"metric='ratio' needs ratings of 0 or more; found {position.min()}.")
    return position


def _within_item_distances(item: Indices, count: Floats, position: Floats, size: int, distance: str) -> Floats:
    """For each item, the sum of the distances of all ordered pairs of its ratings."""
    import numpy as np

    # A row per index among an item's distinct ratings, a column per item: few rows, however many raters there are.
    starts = np.searchsorted(item, np.arange(size))
    place = np.arange(len(item)) - starts[item]
    rows = int(place.max()) + 1 if len(item) else 0
    value, times = np.zeros((rows, size)), np.zeros((rows, size))
    value[place, item], times[place, item] = position, count
    total = np.zeros(size)
    for i in range(rows):
        for j in range(i):
            total += 2 * times[i] * times[j] * DISTANCES[distance](value[i], value[j])
    return total


def _midranks(n_k: Floats, order: Indices) -> Floats:
    """The midrank s_k of each category; `order` lists the categories from low to high."""
    import numpy as np

    position = np.empty(len(n_k))
    position[order] = np.cumsum(n_k[order]) - n_k[order] / 2
    return position


def _midrank_influence(
    item: Indices, code: Indices, count: Floats, position: Floats, n_k: Floats, m: Indices, order: Indices
) -> Floats:
    """The derivative of 1 - n A / E by one more rating of each category, through the midranks `position`."""
    import numpy as np

    n, size = float(n_k.sum()), len(m)
    sums = np.bincount(item, count * position[code], minlength=size)
    slopes = 4 * count * (m[item] * position[code] - sums[item]) / (m[item] - 1)
    of_a = np.bincount(code, slopes, minlength=len(n_k))
    of_e = 4 * n_k * (n * position - float(n_k @ position))
    # Euler's theorem: A and E are quadratic in the midranks, so each is half of gradient times midranks.
    a, e = float(of_a @ position) / 2, float(of_e @ position) / 2
    slope = (-n / e * (of_a - a / e * of_e))[order]
    moved = np.empty(len(n_k))
    # A rating raises the midranks of the categories above its own by 1 and that of its own by a half.
    moved[order] = slope.sum() - np.cumsum(slope) + slope / 2
    return moved
