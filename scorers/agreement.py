"""Agreement among raters, as it is and beyond chance: raw agreement, Gwet's AC1, Fleiss' kappa.

Kappa falls to nothing where one category dominates, however well raters agree; AC1 does not (Gwet
2008, "Computing inter-rater reliability and its variance in the presence of high agreement", Br. J.
Math. Stat. Psychol. 61; Gwet 2014, "Handbook of Inter-Rater Reliability", 4th edition, chapters 2
and 5). Numbers, missing ratings included, are those of Gwet's own R package irrCAC and its Python
translation.

Of the n items with a rating, item i has r_i, r_ik of them in category k; n' items have two or more. q is
the number of categories.

    pa_i = sum over k of r_ik (r_ik - 1) / (r_i (r_i - 1)), pa its mean over the n' items
    pi_k = mean over the n items of r_ik / r_i
    pe_i = sum over k of c_k r_ik / r_i, pe its mean over the n items

    c_k = (1 - pi_k) / (q - 1) for AC1, pi_k for Fleiss' kappa
    coefficient = (pa - pe) / (1 - pe)

pa, the raw agreement, is the chance that two raters of an item agree. Two raters of their own for every
item, who may prefer different categories, have `kappa`; ratings that are near or far, not only equal or
not, have `krippendorff`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

from .estimate import Estimate, check_level, clustered_mean, with_deviations
from .kappa import cohen_kappa
from .krippendorff import Metric, krippendorff_alpha
from .rating_table import Ratings, coded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .rating_table import Floats, Integers


def raw_agreement(ratings: Ratings, clusters: Sequence[Hashable] | None = None, level: float = 0.95) -> Estimate:
    """The share of an item's pairs of ratings that agree, mean over the items with two or more (pa above).

    Error and interval are those of `clustered_mean`; `n` counts items with two ratings. (irrCAC counts items
    with one as well: where there are some, its error is larger.) Raises BadInput as `gwet_ac1` does.
    """
    check_level(level)
    rated = _rated(ratings, clusters)
    kept = list(compress(rated.clusters, rated.paired.tolist()))
    return clustered_mean(rated.agreeing[rated.paired].tolist(), kept, level)


def gwet_ac1(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """AC1 of `ratings` (see above): a row an item, a column a rater, None a missing rating.

    The error is that of the mean over the n items of Gwet's linearised values,

        n/n' (pa_i - pe) / (1 - pe) - 2 (1 - AC1)(pe_i - pe) / (1 - pe)      (first term 0 where r_i < 2)

    by clustered_mean: without `clusters` each item is its own, which is Gwet's variance (of an infinite
    population) and t(n - 1) interval; with them it holds for items that are not independent. `n`
    counts items with a rating. Unlike irrCAC's, `high` is not clipped at 1.

    `categories` are all that could have been given; without them, those that were. They matter: an
    unused one raises q. Where only one is known, pe is 0/0; AC1 is then 1 and its error nan, as
    irrCAC has it (two categories, one of them unused, give 1 with an error of 0).

    nan where no item has two ratings; stderr and interval are nan where those that have are of one
    item or cluster. Raises BadInput on rows of different length, a nan among the ratings, and a rating
    outside `categories`.
    """
    check_level(level)
    rated = _rated(ratings, clusters, categories)
    q = len(rated.pi)
    if q == 1 and rated.paired.any():
        return with_deviations(1.0, [math.nan] * len(rated.clusters), rated.clusters, level)
    return _beyond_chance(rated, (1 - rated.pi) / (q - 1) if q > 1 else rated.pi, level)


def fleiss_kappa(ratings: Ratings, clusters: Sequence[Hashable] | None = None, level: float = 0.95) -> Estimate:
    """Fleiss' kappa of `ratings` (see above), which need not all be there.

    Fleiss (1971, "Measuring nominal scale agreement among many raters", Psychol. Bull. 76) has as many
    ratings of every item; with those missing this is the generalisation of Gwet (2014). With two raters it
    is Scott's pi (1955).

    The error is that of Gwet's linearised values, formed as for AC1: that of the kappa observed, where
    Fleiss' own is the one to be expected of raters who guess. `n` counts items with a rating; `high` is not
    clipped. nan where no item has two ratings or only one category is used (0/0); stderr and interval as
    for AC1. Raises BadInput as `gwet_ac1` does.
    """
    check_level(level)
    rated = _rated(ratings, clusters)
    return _beyond_chance(rated, rated.pi, level)


def agreement(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    metric: Metric = "nominal",
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """Every coefficient side by side, by name: raw_agreement, gwet_ac1, krippendorff_alpha, fleiss_kappa.

    Where the table has two columns, cohen_kappa as well. `metric` is alpha's alone: the others tell equal
    ratings from unequal ones. Raises BadInput as they do.
    """
    found = {
        "raw_agreement": raw_agreement(ratings, clusters, level),
        "gwet_ac1": gwet_ac1(ratings, clusters, categories, level),
        "krippendorff_alpha": krippendorff_alpha(ratings, clusters, metric, categories, level),
        "fleiss_kappa": fleiss_kappa(ratings, clusters, level),
    }
    if len(ratings) and len(ratings[0]) == 2:
        first, second = zip(*ratings, strict=True)
        found["cohen_kappa"] = cohen_kappa(first, second, clusters, categories, level=level)
    return found


@dataclass(frozen=True)
class _Rated:
    """The items with a rating: pa_i and whether there is one; r_ik / r_i by `item` and `code`; pi_k."""

    clusters: Sequence[Hashable]
    agreeing: Floats
    paired: NDArray[np.bool_]
    item: Integers
    code: Integers
    share: Floats
    pi: Floats


def _rated(
    ratings: Ratings, clusters: Sequence[Hashable] | None, categories: Sequence[Hashable] | None = None
) -> _Rated:
    import numpy as np

    table = coded(ratings, clusters, categories).with_ratings(1)
    n, r = len(table.codes), table.totals
    item, code, count = table.cells()
    agreeing = np.bincount(item, count * (count - 1), minlength=n) / np.maximum(r * (r - 1), 1)
    share = count / r[item]
    pi = np.bincount(code, share, minlength=len(table.categories)) / max(n, 1)
    return _Rated(table.clusters, agreeing, r > 1, item, code, share, pi)


def _beyond_chance(rated: _Rated, chance: Floats, level: float) -> Estimate:
    """(pa - pe) / (1 - pe) with `chance` the c_k of the coefficient."""
    import numpy as np

    n, pairs = len(rated.clusters), int(rated.paired.sum())
    pe_i = np.bincount(rated.item, rated.share * chance[rated.code], minlength=n)
    pe = float(pe_i.mean()) if pairs else 1.0
    if pe == 1:  # exactly, where all ratings are of one category: all the shares are 1
        return with_deviations(math.nan, [math.nan] * n, rated.clusters, level)
    value = (float(rated.agreeing[rated.paired].mean()) - pe) / (1 - pe)
    if len(set(compress(rated.clusters, rated.paired.tolist()))) < 2:
        return with_deviations(value, [math.nan] * n, rated.clusters, level)
    agreed = np.where(rated.paired, n / pairs * (rated.agreeing - pe), 0.0)
    deviations = (agreed - 2 * (1 - value) * (pe_i - pe)) / (1 - pe) - value
    return with_deviations(value, deviations.tolist(), rated.clusters, level)
