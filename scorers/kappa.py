"""Cohen's kappa: the agreement of two raters beyond what their own frequencies would bring.

With d(a, b) the distance of two ratings and n items that both rated,

    kappa = 1 - n * sum over items of d(first_i, second_i) / sum over i, j of d(first_i, second_j)

which is (po - pe) / (1 - pe) without either (Cohen 1960, "A coefficient of agreement for nominal scales",
Educ. Psychol. Meas. 20; weighted: Cohen 1968, Psychol. Bull. 70). Numerator and denominator are exact for
distances that are integers: a rater who always says the same has a kappa of exactly 0.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, with_deviations
from .rating_table import DISTANCES, coded, places, sum_of_distances
from .validation import check_same_length

_WEIGHTS = {None: "nominal", "linear": "linear", "quadratic": "squared"}


def cohen_kappa(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    clusters: Sequence[Hashable] | None = None,
    categories: Sequence[Hashable] | None = None,
    weights: Literal["linear", "quadratic"] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Kappa of the ratings that two raters gave the same items, None where one is missing.

    d is 1 for unequal ratings and 0 for equal ones; with `weights` it is |a - b| or (a - b)^2. Numbers stand
    where they are, also where one between is unused; other ratings at 1, 2, 3 and so on in the order of
    `categories`, which weights then need. Items that lack a rating are left out.

    The error is the mean's over the linearised values, in means po and pe of d that call for no category:

        deviation_i = ((1 - kappa)(first's mean d to second_i + second's to first_i - 2 pe) - (d_i - po)) / pe

    by clustered_mean: without `clusters` it is that of Fleiss, Cohen and Everitt (1969, Psychol. Bull. 72)
    with n - 1 for n. nan where both use one and the same category (0/0). Raises BadInput on lists of
    different length, a nan among the ratings (rating i of `first` is called ratings[i][0]), one outside
    `categories`, and, with `weights`, ratings without order.
    """
    import numpy as np

    check_level(level)
    if weights not in _WEIGHTS:
        raise BadInput(f"weights is {weights!r}; it is None, 'linear' or 'quadratic'.")
    check_same_length(first=first, second=second)
    table = coded(list(zip(first, second, strict=True)), clusters, categories).with_ratings(2)
    n, q = len(table.codes), len(table.categories)
    stand = np.arange(q, dtype=float)
    if weights is not None:
        stand = places(table.categories, f"cohen_kappa with weights={weights!r}", categories is not None)
    if not n:
        return with_deviations(math.nan, [], [], level)
    a, b = table.codes.T
    apart = np.asarray(DISTANCES[_WEIGHTS[weights]](stand[a], stand[b]), dtype=float)
    to_first = sum_of_distances(stand, np.bincount(a, minlength=q).astype(float), _WEIGHTS[weights])
    to_second = sum_of_distances(stand, np.bincount(b, minlength=q).astype(float), _WEIGHTS[weights])
    chance = float(to_second[a].sum())
    if chance == 0:
        return with_deviations(math.nan, [math.nan] * n, table.clusters, level)
    ratio = n * float(apart.sum()) / chance
    observed, expected = float(apart.mean()), chance / n**2
    deviations = (ratio * ((to_second[a] + to_first[b]) / n - 2 * expected) - (apart - observed)) / expected
    return with_deviations(1 - ratio, deviations.tolist(), table.clusters, level)
