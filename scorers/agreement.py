"""Inter-rater agreement with and without correction for chance: raw agreement, Gwet's AC1, Fleiss' kappa.

Kappa drops towards 0 where one category dominates, even if raters agree almost always; AC1 does not (Gwet 2008,
"Computing inter-rater reliability and its variance in the presence of high agreement", Br. J. Math. Stat. Psychol. 61;
Gwet 2014, "Handbook of Inter-Rater Reliability", 4th edition, chapters 2 and 5). Values equal those of Gwet's R package
irrCAC and of its Python translation, also with missing ratings.

n items have a rating; n' of them have two or more. Item i has r_i ratings, r_ik of them in category k. q is the number
of categories.

    pa_i = sum over k of r_ik (r_ik - 1) / (r_i (r_i - 1)), pa its mean over the n' items
    pi_k = mean over the n items of r_ik / r_i
    pe_i = sum over k of c_k r_ik / r_i, pe its mean over the n items

    c_k = (1 - pi_k) / (q - 1) for AC1, pi_k for Fleiss' kappa
    coefficient = (pa - pe) / (1 - pe)

pa, the raw agreement, is the probability that two raters of an item agree. See `kappa` for two fixed raters whose
category frequencies may differ, and `krippendorff` for ratings with a distance between categories.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress

from .arrays import Flags, Floats, Indices
from .estimate import Estimate, check_level, with_deviations
from .kappa import cohen_kappa
from .krippendorff import Metric, krippendorff_alpha
from .proportion import clustered_proportion
from .rating_table import Ratings, rating_table


def raw_agreement(ratings: Ratings, clusters: Sequence[Hashable] | None = None, level: float = 0.95) -> Estimate:
    """Percent agreement: the share of an item's pairs of ratings that agree, averaged over items (pa above).

    Only items with two or more ratings count, also in `n`. Standard error and interval are `clustered_proportion`'s.
    (irrCAC also counts items with one rating, so its error is larger where there are some.) Raises BadInput as
    `gwet_ac1` does.
    """
    check_level(level)
    rated = _item_statistics(ratings, clusters)
    with_pairs = list(compress(rated.clusters, rated.paired.tolist()))
    return clustered_proportion(rated.agreeing[rated.paired].tolist(), with_pairs, level)


def gwet_ac1(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Gwet's AC1 (formula above). `ratings` has a row per item and a column per rater; None is a missing rating.

    The standard error is the clustered error of the mean over the n items of Gwet's linearised values:

        n/n' (pa_i - pe) / (1 - pe) - 2 (1 - AC1)(pe_i - pe) / (1 - pe)      (first term 0 where r_i < 2)

    Without `clusters` each item is its own cluster; this is Gwet's variance for an infinite population with a t(n - 1)
    interval. With `clusters` the error also holds for dependent items. `n` counts items with a rating. `high` is not
    clipped at 1, unlike irrCAC's.

    `categories` lists all categories that raters could choose; the default is those that occur. An unused category
    raises q and thereby changes the value. With one known category pe is 0/0: AC1 is then 1 and its error nan, as in
    irrCAC. (Two categories, one of them unused, give 1 with an error of 0.)

    The value is nan where no item has two ratings. Standard error and interval are nan where only one item or cluster
    has two ratings. Raises BadInput on rows of different length, a nan among the ratings, and a rating outside
    `categories`.
    """
    check_level(level)
    rated = _item_statistics(ratings, clusters, categories)
    q = len(rated.pi)
    if q == 1 and rated.paired.any():
        return with_deviations(1.0, [math.nan] * len(rated.clusters), rated.clusters, level)
    return _chance_corrected(rated, (1 - rated.pi) / (q - 1) if q > 1 else rated.pi, level)


def fleiss_kappa(ratings: Ratings, clusters: Sequence[Hashable] | None = None, level: float = 0.95) -> Estimate:
    """Fleiss' kappa (formula above); ratings may be missing.

    Fleiss (1971, "Measuring nominal scale agreement among many raters", Psychol. Bull. 76) requires the same number of
    ratings for every item; with missing ratings this is Gwet's (2014) generalisation. With two raters it equals Scott's
    pi (1955).

    The standard error uses Gwet's linearised values as for AC1. It is the error of the observed kappa; Fleiss' own is
    the error under the hypothesis of chance agreement. `n` counts items with a rating; `high` is not clipped. The value
    is nan where no item has two ratings or only one category is used (0/0). Standard error and interval: as for AC1.
    Raises BadInput as `gwet_ac1` does.
    """
    check_level(level)
    rated = _item_statistics(ratings, clusters)
    return _chance_corrected(rated, rated.pi, level)


def agreement(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None = None,
    metric: Metric = "nominal",
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """All coefficients by name: raw_agreement, gwet_ac1, krippendorff_alpha, fleiss_kappa.

    A table with two columns also gets cohen_kappa. `metric` is the distance of Krippendorff's alpha; the other
    coefficients only test equality. Raises BadInput as the single functions do.
    """
    coefficients = {
        "raw_agreement": raw_agreement(ratings, clusters, level),
        "gwet_ac1": gwet_ac1(ratings, clusters, categories, level),
        "krippendorff_alpha": krippendorff_alpha(ratings, clusters, metric, categories, level),
        "fleiss_kappa": fleiss_kappa(ratings, clusters, level),
    }
    if len(ratings) and len(ratings[0]) == 2:
        first, second = zip(*ratings, strict=True)
        coefficients["cohen_kappa"] = cohen_kappa(first, second, clusters, categories, level=level)
    return coefficients


@dataclass(frozen=True)
class _ItemStatistics:
    """Statistics of the items with a rating.

    `agreeing` holds pa_i and `paired` whether item i has two ratings. `share` holds r_ik / r_i for each pair of `item`
    and `code` that occurs. `pi` holds pi_k.
    """

    clusters: Sequence[Hashable]
    agreeing: Floats
    paired: Flags
    item: Indices
    code: Indices
    share: Floats
    pi: Floats


def _item_statistics(
    ratings: Ratings, clusters: Sequence[Hashable] | None, categories: Sequence[Hashable] | None = None
) -> _ItemStatistics:
    import numpy as np

    table = rating_table(ratings, clusters, categories).with_ratings(1)
    n, r = len(table.codes), table.totals
    item, code, count = table.cells()
    agreeing = np.bincount(item, count * (count - 1), minlength=n) / np.maximum(r * (r - 1), 1)
    share = count / r[item]
    pi = np.bincount(code, share, minlength=len(table.categories)) / max(n, 1)
    return _ItemStatistics(table.clusters, agreeing, r > 1, item, code, share, pi)


def _chance_corrected(rated: _ItemStatistics, chance: Floats, level: float) -> Estimate:
    """(pa - pe) / (1 - pe), where `chance` holds the coefficient's c_k."""
    import numpy as np

    n, pairs = len(rated.clusters), int(rated.paired.sum())
    pe_i = np.bincount(rated.item, rated.share * chance[rated.code], minlength=n)
    pe = float(pe_i.mean()) if pairs else 1.0
    if pe == 1:  # exact where all ratings are of one category, because all shares are 1
        return with_deviations(math.nan, [math.nan] * n, rated.clusters, level)
    value = (float(rated.agreeing[rated.paired].mean()) - pe) / (1 - pe)
    if len(set(compress(rated.clusters, rated.paired.tolist()))) < 2:
        return with_deviations(value, [math.nan] * n, rated.clusters, level)
    agreed = np.where(rated.paired, n / pairs * (rated.agreeing - pe), 0.0)
    deviations = (agreed - 2 * (1 - value) * (pe_i - pe)) / (1 - pe) - value
    return with_deviations(value, deviations.tolist(), rated.clusters, level)
