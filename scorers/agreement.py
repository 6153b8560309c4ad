"""Agreement among raters beyond chance: Gwet's AC1.

Kappa falls to nothing where one category dominates, however well raters agree; AC1 does not (Gwet
2008, "Computing inter-rater reliability and its variance in the presence of high agreement", Br. J.
Math. Stat. Psychol. 61; Gwet 2014, "Handbook of Inter-Rater Reliability", 4th edition, chapters 2
and 5). Numbers, missing ratings included, are those of Gwet's own R package irrCAC and its Python
translation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, with_deviations
from .same_length import check_same_length


def gwet_ac1(
    ratings: Sequence[Sequence[Hashable | None]],
    clusters: Sequence[Hashable] | None = None,
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """AC1 of `ratings`: a row an item, a column a rater, None a missing rating.

    Of the n items with a rating, item i has r_i, r_ik of them in category k; n' items have two or more.
    q is the number of categories.

        pa_i = sum over k of r_ik (r_ik - 1) / (r_i (r_i - 1)), pa its mean over the n' items
        pi_k = mean over the n items of r_ik / r_i
        pe_i = sum over k of (1 - pi_k) r_ik / r_i / (q - 1), pe its mean over the n items
        AC1  = (pa - pe) / (1 - pe)

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
    ids: Sequence[Hashable] = range(len(ratings)) if clusters is None else clusters
    check_same_length(ratings=ratings, clusters=ids)
    rated = [(counts, cluster) for counts, cluster in zip(_counted(ratings), ids, strict=True) if counts]
    n, kept = len(rated), [cluster for _, cluster in rated]
    known = _known(ratings, categories)
    with_two = [cluster for counts, cluster in rated if counts.total() > 1]
    if not with_two:
        return with_deviations(math.nan, [math.nan] * n, kept, level)
    if len(known) == 1:
        return with_deviations(1.0, [math.nan] * n, kept, level)

    shares = [{k: count / counts.total() for k, count in counts.items()} for counts, _ in rated]
    pi = dict.fromkeys(known, 0.0)
    for share in shares:
        for k, part in share.items():
            pi[k] += part / n
    pe = math.fsum(p * (1 - p) for p in pi.values()) / (len(known) - 1)
    pe_i = [math.fsum(part * (1 - pi[k]) for k, part in share.items()) / (len(known) - 1) for share in shares]
    pa_i = [_agreeing_pairs(counts) for counts, _ in rated]
    pa = math.fsum(part for part in pa_i if part is not None) / len(with_two)
    ac1 = (pa - pe) / (1 - pe)  # pe is at most 1/q
    if len(set(with_two)) < 2:
        return with_deviations(ac1, [math.nan] * n, kept, level)
    weight = n / len(with_two)
    deviations = [
        ((0.0 if a is None else weight * (a - pe)) - 2 * (1 - ac1) * (e - pe)) / (1 - pe) - ac1
        for a, e in zip(pa_i, pe_i, strict=True)
    ]
    return with_deviations(ac1, deviations, kept, level)


def _agreeing_pairs(counts: Counter[Hashable]) -> float | None:
    """The share of an item's pairs of ratings that agree; None without a pair."""
    r = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (r * (r - 1)) if r > 1 else None


def _counted(ratings: Sequence[Sequence[Hashable | None]]) -> list[Counter[Hashable]]:
    """Ratings by category for each item, those missing left out."""
    for i, row in enumerate(ratings):
        if len(row) != len(ratings[0]):
            raise BadInput(f"ratings[{i}] has {len(row)} ratings, ratings[0] {len(ratings[0])}; None stands for none.")
        for j, rating in enumerate(row):
            if rating != rating:
                raise BadInput(f"ratings[{i}][{j}] is {rating!r}; None stands for a missing rating.")
    return [Counter(rating for rating in row if rating is not None) for row in ratings]


def _known(ratings: Sequence[Sequence[Hashable | None]], categories: Sequence[Hashable] | None) -> dict[Hashable, None]:
    """The categories, as a dictionary's keys: the given ones, or those that occur."""
    used = {rating: (i, j) for i, row in enumerate(ratings) for j, rating in enumerate(row) if rating is not None}
    if categories is None:
        return dict.fromkeys(used)
    known = dict.fromkeys(categories)
    for rating, (i, j) in used.items():
        if rating not in known:
            raise BadInput(f"ratings[{i}][{j}] is {rating!r}, which is not among the categories {list(known)!r}.")
    return known
