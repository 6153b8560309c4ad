"""Krippendorff's alpha: the agreement of any number of raters beyond chance, for ratings that are near or far.

Of the N items with two ratings or more, item u has m_u, n is the sum of m_u and n_k counts their ratings of
category k. With d(a, b) the distance of two ratings,

    A = sum over items of the sum over ordered pairs of the item's ratings of d, over m_u - 1
    E = sum over k, l of n_k n_l d(k, l)
    alpha = 1 - (n - 1) A / E

(Krippendorff 2011, "Computing Krippendorff's alpha-reliability"; Hayes and Krippendorff 2007, Communication
Methods and Measures 1). The distances:

    nominal    1 for unequal ratings         interval   (a - b)^2
    ordinal    (s_a - s_b)^2                 ratio      ((a - b) / (a + b))^2

with s_k the ratings below category k and half of those in it.

Libraries offer the value (krippendorff, under the GPL; evalica and Inspect, which the tests compare with)
or an interval for independent items. An error for clusters needs each item's part in A and E, and these
sums are the value.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, with_deviations
from .rating_table import DISTANCES, Coded, Ratings, coded, places, sum_of_distances

if TYPE_CHECKING:
    from .rating_table import Floats, Integers

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
_DISTANCE = {"nominal": "nominal", "ordinal": "squared", "interval": "squared", "ratio": "ratio"}


def krippendorff_alpha(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    metric: Metric = "nominal",
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Alpha of `ratings` (see above): a row an item, a column a rater, None a missing rating.

    Ratings are numbers for interval and ratio, and not negative for the latter; for ordinal they are numbers
    or stand in the order of `categories`. Otherwise `categories` are there to be checked against: an unused
    one changes nothing.

    The error is the mean's over the N items of Gwet's linearised values (2014; those of the Python irrCAC for
    nominal, interval, which it calls quadratic, and ratio). With m = n / N, D_o = (n - 1) A / n^2, D_e = E / n^2
    and D = A / n:

        deviation_u = (D - d_u + 2 D / D_e (e_u - D_e)) / D_e
        d_u = A_u / m - D_o (m_u / m - 1)
        e_u = sum over its ratings of the mean distance to all ratings / m - D_e (m_u / m - 1)

    and for ordinal, which Gwet does not have, what an item's ratings do to the distances themselves. By
    clustered_mean: without `clusters` each item is its own. `n` counts items with two ratings; `high` is not
    clipped at 1. nan where there are none or all ratings are equal (0/0). Raises BadInput as `gwet_ac1` does,
    and on ratings that do not suit the metric.
    """
    import numpy as np

    check_level(level)
    if metric not in get_args(Metric):
        raise BadInput(f"metric is {metric!r}; it is one of {', '.join(get_args(Metric))}.")
    table = coded(ratings, clusters, categories)
    stand = _stand(table, metric, categories is not None)
    table = table.with_ratings(2)
    item, code, count = table.cells()
    m, n_k = table.totals, np.bincount(code, count, minlength=len(table.categories)).astype(float)
    size, n = len(m), int(m.sum())
    if metric == "ordinal":
        order = np.argsort(stand)
        stand = _midranks(n_k, order)
    far = sum_of_distances(stand, n_k, _DISTANCE[metric])
    parts = _pairs(item, count, stand[code], size, _DISTANCE[metric]) / (m - 1)
    apart, chance = float(parts.sum()), float(n_k @ far)
    if chance == 0:
        return with_deviations(math.nan, [math.nan] * size, table.clusters, level)

    share = m * (size / n)
    seen, observed, expected = apart / n, (n - 1) / n * (apart / n), chance / n**2
    d_u = parts * (size / n) - observed * (share - 1)
    e_u = np.bincount(item, count * far[code], minlength=size) * (size / n**2) - expected * (share - 1)
    deviations = (seen - d_u + 2 * seen / expected * (e_u - expected)) / expected
    if metric == "ordinal":
        by_code = _through_midranks(item, code, count, stand, n_k, m, order)
        deviations += size * np.bincount(item, count * by_code[code], minlength=size)
    return with_deviations(1 - (n - 1) * apart / chance, deviations.tolist(), table.clusters, level)


def _stand(table: Coded, metric: Metric, ordered: bool) -> Floats:
    """Where the categories stand; their own number will do for nominal."""
    import numpy as np

    if metric == "nominal":
        return np.arange(len(table.categories), dtype=float)
    what = f"krippendorff_alpha with metric={metric!r}"
    stand = places(table.categories, what, ordered if metric == "ordinal" else None)
    if metric == "ratio" and (stand < 0).any():
        raise BadInput(f"metric='ratio' needs ratings of 0 or more; {stand.min()} is less.")
    return stand


def _pairs(item: Integers, count: Floats, stand: Floats, size: int, distance: str) -> Floats:
    """For each item, the sum of the distances of all ordered pairs of its ratings."""
    import numpy as np

    # One row per place among an item's distinct ratings, a column per item: few rows, however many raters.
    starts = np.searchsorted(item, np.arange(size))
    place = np.arange(len(item)) - starts[item]
    rows = int(place.max()) + 1 if len(item) else 0
    value, times = np.zeros((rows, size)), np.zeros((rows, size))
    value[place, item], times[place, item] = stand, count
    total = np.zeros(size)
    for i in range(rows):
        for j in range(i):
            total += 2 * times[i] * times[j] * DISTANCES[distance](value[i], value[j])
    return total


def _midranks(n_k: Floats, order: Integers) -> Floats:
    """s_k of each category, `order` listing them from low to high."""
    import numpy as np

    stand = np.empty(len(n_k))
    stand[order] = np.cumsum(n_k[order]) - n_k[order] / 2
    return stand


def _through_midranks(
    item: Integers, code: Integers, count: Floats, stand: Floats, n_k: Floats, m: Integers, order: Integers
) -> Floats:
    """How much one more rating of each category moves 1 - n A / E by moving the midranks `stand`."""
    import numpy as np

    n, size = float(n_k.sum()), len(m)
    sums = np.bincount(item, count * stand[code], minlength=size)
    slopes = 4 * count * (m[item] * stand[code] - sums[item]) / (m[item] - 1)
    of_a = np.bincount(code, slopes, minlength=len(n_k))
    of_e = 4 * n_k * (n * stand - float(n_k @ stand))
    # Half the sum of squared distances' slope times distance: A and E are quadratic in the midranks.
    a, e = float(of_a @ stand) / 2, float(of_e @ stand) / 2
    slope = (-n / e * (of_a - a / e * of_e))[order]
    moved = np.empty(len(n_k))
    # A rating lifts the categories above its own by 1, its own by a half.
    moved[order] = slope.sum() - np.cumsum(slope) + slope / 2
    return moved
