"""Pass rates by a judge, corrected with a subset of items that have human labels.

A judge that errs more in one direction biases the pass rate; more rows shrink the interval around the biased value.
Both functions take the verdicts of the rows without a label (`judged`), and the verdicts (`human_judged`) and labels
(`human`) of the labelled rows, which must be a random sample of all rows. `prediction_powered` makes no assumption
about the judge and is at least about as precise as the labels alone. `rogan_gladen` assumes that sensitivity and
specificity are those of the labelled rows, which may also come from another data set; its intervals are wide where the
judge is poor.

The caller decides how to treat rows that are neither passed nor failed. Without clusters each row is its own cluster;
with them, one cluster may hold rows of both kinds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, cluster_codes, clustered_mean, linearised, welch_dof, with_interval
from .judge import check_binary
from .proportion import binomial_interval, clustered_proportion
from .validation import check_same_length

ENOUGH = 30
"""Labels from which on 95 % intervals cover the truth in 93 % or more of simulated draws (with 20 labels: 91 %)."""


def prediction_powered(
    judged: Sequence[float],
    human_judged: Sequence[float],
    human: Sequence[float],
    level: float = 0.95,
    *,
    clusters: Sequence[Hashable] | None = None,
    human_clusters: Sequence[Hashable] | None = None,
    proportion: bool = False,
) -> Estimate:
    """The mean of `human` over all rows, by PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453).

    With N unlabelled and n labelled rows:

        value  = mean(lambda * judged) + mean(human - lambda * human_judged)
        lambda = cov(human, human_judged) / ((1 + n/N) * var(all verdicts)), clipped to [0, 1]

    as the authors' library ppi-python does by default. Without clusters, the interval is normal, and stderr^2 the sum
    of the two means' squared errors (their variances divide by N and n, not by N - 1 and n - 1). With `clusters` and
    `human_clusters` the errors of the two means are clustered as in clustered_mean:

        stderr^2 = sum over clusters of (a_c + b_c)^2

    where a_c and b_c are cluster c's sums of deviations from the two means, each divided by its number of rows and
    multiplied by sqrt(G/(G-1)). If no cluster holds both kinds of rows, this is the sum of the two squared errors. The
    interval is a t interval with Welch-Satterthwaite degrees of freedom.

    Where lambda is 0 (fewer than two unlabelled rows, constant verdicts, or verdicts that correlate negatively with the
    labels) the judge adds nothing, and the result is the clustered_mean of the labels. `n` and `clusters` count all
    rows. The value is nan without a label; the stderr is nan with one label or one cluster of labels. Values may be any
    numbers, such as a judge's probabilities.

    proportion: whether labels lie in [0, 1], so that the interval is that of `proportion` for the number of independent
    rows that the stderr is worth, 1 + value (1 - value) / stderr^2, at least the labels' effective clusters and at most
    all rows. The value itself is not cut to [0, 1]. Where lambda is 0, the result is the labels' clustered_proportion.

    Raises BadInput on lists of different length, and on only one of the two cluster lists.
    """
    check_level(level)
    ids, human_ids = _clusters(judged, human_judged, human, clusters, human_clusters)
    import numpy as np

    codes, count = cluster_codes([*ids, *human_ids])
    rows = len(codes)
    unlabelled, labelled, labels = (np.asarray(x, dtype=float) for x in (judged, human_judged, human))
    verdicts = np.concatenate([unlabelled, labelled])
    weight = 0.0
    if len(judged) > 1 and len(human) > 0 and not (verdicts == verdicts[0]).all():
        # In this form sums of 0 and 1 are exact, so a covariance of 0 gives a lambda of exactly 0.
        covariance = (len(human) * (labels @ labelled) - labels.sum() * labelled.sum()) / len(human) ** 2
        weight = float(np.clip(covariance / ((1 + len(human) / len(judged)) * verdicts.var(ddof=1)), 0, 1))
    if weight == 0:
        mean = clustered_proportion if proportion else clustered_mean
        return replace(mean(human, human_ids, level), n=rows, clusters=count)

    parts = (
        (weight * unlabelled, codes[: len(judged)]),
        (labels - weight * labelled, codes[len(judged) :]),
    )
    value = sum(float(x.mean()) for x, _ in parts)
    if clusters is None:
        from scipy.special import ndtri

        stderr = math.sqrt(sum(float(x.var()) / len(x) for x, _ in parts))
        half = float(ndtri((1 + level) / 2)) * stderr
        corrected = Estimate(value, stderr, value - half, value + half, rows, count)
        return _within_limits(corrected, len(human) - 1, human_ids, level) if proportion else corrected

    sums, variances, held = np.zeros(count), list[float](), list[int]()
    for x, codes_of in parts:
        groups = len(set(codes_of))
        if groups < 2:
            return with_interval(value, math.nan, 1, level, rows, count)
        part = np.bincount(codes_of, weights=x - x.mean(), minlength=count) / len(x) * math.sqrt(groups / (groups - 1))
        sums = sums + part
        variances.append(float(part @ part))
        held.append(groups)
    dof = welch_dof(variances, held)
    corrected = with_interval(value, math.sqrt(float(sums @ sums)), dof, level, rows, count)
    return _within_limits(corrected, dof, human_ids, level) if proportion else corrected


def _within_limits(e: Estimate, dof: float, human_clusters: Sequence[Hashable], level: float) -> Estimate:
    """`e` with the interval of a proportion (see `prediction_powered`)."""
    from scipy.special import stdtrit

    if math.isnan(e.stderr) or dof <= 0:
        return e
    value = min(max(e.value, 0.0), 1.0)
    sizes = Counter(human_clusters).values()
    least = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    worth = 1 + value * (1 - value) / e.stderr**2 if e.stderr else least
    worth = min(max(worth, least), e.n)
    factor = (stdtrit(worth - 1, (1 + level) / 2) / stdtrit(dof, (1 + level) / 2)) ** 2
    low, high = binomial_interval(value, worth * min(factor, 1), level)
    return replace(e, low=float(low), high=float(high))


def rogan_gladen(
    judged: Sequence[bool],
    human_judged: Sequence[bool],
    human: Sequence[bool],
    level: float = 0.95,
    *,
    clusters: Sequence[Hashable] | None = None,
    human_clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """The true pass rate implied by a judge's pass rate p (Rogan and Gladen 1978, Am. J. Epidemiol. 107).

        value = (p + specificity - 1) / (sensitivity + specificity - 1)

    p is over all judged rows, labelled or not. Sensitivity (share of human PASS that the judge passes) and specificity
    (share of human FAIL that it fails) are over the labelled rows. The error is by the delta method with all three as
    means over the same rows (`linearised`), so it accounts for clusters and for p's dependence on the other two through
    the labelled rows. It is too small where few rows of a class are labelled. `n` and `clusters` count all rows.

    The value is nan where sensitivity + specificity <= 1 (a judge no better than chance) and where the labels hold no
    PASS or no FAIL. Neither the value nor the interval is clipped to [0, 1]: a value outside means that p is
    inconsistent with the labelled rows. Raises BadInput on entries other than True, False, 1 and 0.
    """
    check_level(level)
    check_binary(judged=judged, human_judged=human_judged, human=human)
    ids = [x for part in _clusters(judged, human_judged, human, clusters, human_clusters) for x in part]
    pairs = list(zip(human_judged, human, strict=True))
    passed, failed = sum(label for label in human), sum(not label for label in human)
    true_passes, true_fails = sum(j and h for j, h in pairs), sum(not j and not h for j, h in pairs)
    # In integers, because 0.7 + 0.3 - 1 is not exactly 0 in floating point; also True where a class is missing.
    if true_passes * failed + true_fails * passed <= passed * failed:
        return clustered_mean([math.nan] * len(ids), ids, level)
    outside = [0.0] * len(judged)
    columns = [
        [float(verdict) for verdict in (*judged, *human_judged)],
        [*outside, *(float(j and h) for j, h in pairs)],
        [*outside, *(float(h) for h in human)],
        [*outside, *(float(not j and not h) for j, h in pairs)],
        [*outside, *(float(not h) for h in human)],
    ]
    return linearised(lambda p, tp, pos, tn, neg: (p + tn / neg - 1) / (tp / pos + tn / neg - 1), columns, ids, level)


def _clusters(
    judged: Sequence[object],
    human_judged: Sequence[object],
    human: Sequence[object],
    clusters: Sequence[Hashable] | None,
    human_clusters: Sequence[Hashable] | None,
) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """The cluster ids of both kinds of rows, by default one per row; BadInput where a length differs."""
    if (clusters is None) != (human_clusters is None):
        raise BadInput("clusters and human_clusters belong together: give both or neither.")
    ids = range(len(judged)) if clusters is None else clusters
    human_ids = range(len(judged), len(judged) + len(human)) if human_clusters is None else human_clusters
    check_same_length(judged=judged, clusters=ids)
    check_same_length(human_judged=human_judged, human=human, human_clusters=human_ids)
    return ids, human_ids
