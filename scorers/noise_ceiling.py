"""Ratings compared with single judges, and the noise ceiling that the judges' disagreement sets.

A headline's mean grade is the mean over a few judges who disagree. Row i has the grades x_ij of r_i judges, their mean
m_i and their sample variance s_i^2 (the sum of (x_ij - m_i)^2 over r_i - 1). o_ij is the mean of the other grades when
judge j is held out, (r_i m_i - x_ij) / (r_i - 1), and p_i the system's rating.

    beats judge     mean over rows of the mean over j of [|p_i - o_ij| < |x_ij - o_ij|], ties 1/2
    judge rmse      sqrt(mean over rows of the mean over j of (p_i - x_ij)^2): the system against one judge

    one_judge       sqrt(mean over rows of 2 s_i^2): one judge against another, over all pairs of a row
    other_judges    sqrt(mean over rows of s_i^2 r_i / (r_i - 1)): the others' mean against the one held out
    true_mean       sqrt(mean over rows of s_i^2 / r_i): the mean of the whole population of judges against m_i

In "beats judge", the system and the held-out judge are both compared with grades that neither gave. `judge rmse` is
comparable with one_judge and other_judges, which predict the same single judge. The usual RMSE against m_i is
comparable with true_mean, the lowest RMSE to be expected of any system: s_i^2 / r_i is the unbiased variance of m_i. A
system better than `other_judges` predicts a judge better than the mean of r_i - 1 judges does.

Rows with fewer than two grades are left out and counted, because they do not show how judges differ. Note that the
organisers' files for subtask 1 store the grades as one integer, so five zeros appear as a single 0 (the files of
subtask 2 have 00000). Treating that as one grade would leave out the rows on which judges agree best.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from humor_tasks.errors import BadInput

from .estimate import Estimate, linearised
from .proportion import clustered_proportion
from .validation import check_same_length

_TOLERANCE = 1e-9  # for equal distances: 1.2 * 4 and 4.8 differ in floating point


@dataclass(frozen=True)
class AgainstJudges:
    """`beats_judge` and `judge_rmse` of a system, and the number of rows left out."""

    beats_judge: Estimate
    judge_rmse: Estimate
    left_out: int


@dataclass(frozen=True)
class NoiseCeiling:
    """The RMSE of one judge, of the other judges' mean and of a perfect system, and the number of rows left out."""

    one_judge: Estimate
    other_judges: Estimate
    true_mean: Estimate
    left_out: int


def against_judges(
    pred: Sequence[float], grades: Sequence[Sequence[int]], clusters: Sequence[Hashable], level: float = 0.95
) -> AgainstJudges:
    """A system's ratings compared with single judges (formulas above).

    Errors are clustered; that of the root is linearised. `beats_judge` has the interval of a proportion. `n` counts
    rows with two or more grades. A nan among the ratings makes both estimates nan. Raises BadInput on lists of
    different length and on grades that are not integers.
    """
    check_same_length(pred=pred, grades=grades, clusters=clusters)
    graded = _rows_with_two_grades(grades)
    ids = [clusters[i] for i in graded]
    beats = [_beats(pred[i], grades[i]) for i in graded]
    squares = [sum((pred[i] - x) ** 2 for x in grades[i]) / len(grades[i]) for i in graded]
    return AgainstJudges(clustered_proportion(beats, ids, level), _root(squares, ids, level), len(grades) - len(graded))


def noise_ceiling(grades: Sequence[Sequence[int]], clusters: Sequence[Hashable], level: float = 0.95) -> NoiseCeiling:
    """The RMSE that judges and a perfect system reach on these rows (formulas above); otherwise as `against_judges`."""
    check_same_length(grades=grades, clusters=clusters)
    graded = _rows_with_two_grades(grades)
    ids, counts = [clusters[i] for i in graded], [len(grades[i]) for i in graded]
    # r * (sum of squares) - (sum)^2 is exact in integers, so judges who agree have a variance of exactly 0.
    variances = [
        (r * sum(x * x for x in grades[i]) - sum(grades[i]) ** 2) / (r * (r - 1))
        for i, r in zip(graded, counts, strict=True)
    ]
    rows = list(zip(variances, counts, strict=True))
    return NoiseCeiling(
        _root([2 * v for v, _ in rows], ids, level),
        _root([v * r / (r - 1) for v, r in rows], ids, level),
        _root([v / r for v, r in rows], ids, level),
        len(grades) - len(graded),
    )


def _beats(rating: float, grades: Sequence[int]) -> float:
    """The share of a row's judges that `rating` beats; nan for a rating of nan."""
    if rating != rating:
        return rating
    others, total, score = len(grades) - 1, sum(grades), 0.0
    for x in grades:
        mean = (total - x) / others
        lead = abs(x - mean) - abs(rating - mean)
        score += 0.5 if abs(lead) < _TOLERANCE else float(lead > 0)
    return score / len(grades)


def _root(squares: Sequence[float], clusters: Sequence[Hashable], level: float) -> Estimate:
    return linearised(lambda mean: mean**0.5, [squares], clusters, level)


def _rows_with_two_grades(grades: Sequence[Sequence[int]]) -> list[int]:
    for i, row in enumerate(grades):
        if not all(isinstance(x, int) for x in row):
            raise BadInput(f"grades[{i}] is {row!r}; it must be the single judges' grades, such as [2, 1, 1, 0, 0].")
    return [i for i, row in enumerate(grades) if len(row) > 1]
