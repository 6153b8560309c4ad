"""Pass rates by a judge, corrected by a subset of its items that people labelled.

A judge that errs more one way than the other shifts the pass rate, and more rows make the wrong number
only surer. Both functions take the verdicts on the rows without label (`judged`), and verdicts
(`human_judged`) and labels (`human`) of the labelled rows, which must be a random sample of all.
`prediction_powered` assumes nothing about the judge and is at least about as precise as the labels
alone; `rogan_gladen` assumes that sensitivity and specificity are those of the labelled rows, which
may also come from elsewhere, and pays with wide intervals where the judge is poor.

Verdict and label of a row that is neither passed nor failed are for the caller to decide. Without
clusters each row is its own; with them, one cluster may have rows of both kinds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

from humor_tasks.errors import BadInput

from .estimate import Estimate, check_level, cluster_codes, clustered_mean, linearised, with_interval
from .judge import check_binary
from .validation import check_same_length


def prediction_powered(
    judged: Sequence[float],
    human_judged: Sequence[float],
    human: Sequence[float],
    level: float = 0.95,
    *,
    clusters: Sequence[Hashable] | None = None,
    human_clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """The mean of `human` had all rows been labelled, by PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453).

    With N rows without and n with label:

        value  = mean(lambda * judged) + mean(human - lambda * human_judged)
        lambda = cov(human, human_judged) / ((1 + n/N) * var(all verdicts)), clipped to [0, 1]

    by the library ppi-python, with its default power tuning. Without clusters, stderr and normal
    interval are the library's: the two means' (their variances over N and n, not N - 1 and n - 1).
    With `clusters` and `human_clusters`, the two means' errors are clustered as in clustered_mean,

        stderr^2 = sum over clusters of (a_c + b_c)^2

    where a_c and b_c are cluster c's deviation sums of the two means, each over its number of rows and
    times sqrt(G/(G-1)). Without a cluster common to both kinds of rows that is the sum of the two
    squared errors. The interval is t, degrees of freedom by Welch-Satterthwaite.

    Where lambda is 0 (no two rows without label, equal verdicts, verdicts that go against the labels) the
    judge adds nothing, and the result is clustered_mean of the labels. `n` and `clusters` count all
    rows. nan without a label; stderr nan with one label or cluster of labels. Values may be any
    numbers, as a judge's probabilities. Importing the library takes two seconds (numba, statsmodels);
    nothing is compiled.
    """
    check_level(level)
    ids, human_ids = _clusters(judged, human_judged, human, clusters, human_clusters)
    try:
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    except ImportError as error:
        raise BadInput('prediction_powered needs ppi-python: pip install "humor-tasks[judge]"') from error
    import numpy as np

    codes, count = cluster_codes([*ids, *human_ids])
    rows = len(codes)
    unlabelled, labelled, labels = (np.asarray(x, dtype=float) for x in (judged, human_judged, human))
    verdicts = np.concatenate([unlabelled, labelled])
    weight = 0.0
    if len(judged) > 1 and len(human) > 0 and not (verdicts == verdicts[0]).all():
        # The library tunes the same but does not say what it chose, and divides by zero on equal verdicts.
        # In this form nothing is rounded for 0 and 1, so that no covariance is a lambda of 0.
        covariance = (len(human) * (labels @ labelled) - labels.sum() * labelled.sum()) / len(human) ** 2
        weight = float(np.clip(covariance / ((1 + len(human) / len(judged)) * verdicts.var(ddof=1)), 0, 1))
    if weight == 0:
        return replace(clustered_mean(human, human_ids, level), n=rows, clusters=count)

    data = (labels, labelled, unlabelled)
    value = ppi_mean_pointestimate(*data, lam=weight).item()
    if clusters is None:
        low, high = (bound.item() for bound in ppi_mean_ci(*data, alpha=1 - level, lam=weight))
        from scipy.special import ndtri

        return Estimate(value, (high - low) / 2 / float(ndtri((1 + level) / 2)), low, high, rows, count)

    sums, spread, total = np.zeros(count), 0.0, 0.0
    for x, own in ((weight * unlabelled, codes[: len(judged)]), (labels - weight * labelled, codes[len(judged) :])):
        groups = len(set(own))
        if groups < 2:
            return with_interval(value, math.nan, 1, level, rows, count)
        part = np.bincount(own, weights=x - x.mean(), minlength=count) / len(x) * math.sqrt(groups / (groups - 1))
        variance = float(part @ part)
        sums, total, spread = sums + part, total + variance, spread + variance**2 / (groups - 1)
    dof = total**2 / spread if spread > 0 else 1.0
    return with_interval(value, math.sqrt(float(sums @ sums)), dof, level, rows, count)


def rogan_gladen(
    judged: Sequence[bool],
    human_judged: Sequence[bool],
    human: Sequence[bool],
    level: float = 0.95,
    *,
    clusters: Sequence[Hashable] | None = None,
    human_clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """The pass rate that a judge's pass rate p amounts to (Rogan and Gladen 1978, Am. J. Epidemiol. 107).

        value = (p + specificity - 1) / (sensitivity + specificity - 1)

    p is over all judged rows, labelled or not; sensitivity (share of human PASS that the judge passes)
    and specificity (share of human FAIL that it fails) are over the labelled ones. The error is the
    delta method's, all three being means over the same rows (`linearised`), so that p's dependence on the
    other two through the labelled rows counts, as do clusters. It is too small where few rows of a class
    are labelled. `n` and `clusters` count all rows.

    nan where sensitivity + specificity <= 1 (a judge no better than chance) and where no PASS or no FAIL
    is among the labels. Neither the value nor the interval is clipped to [0, 1]: outside means that
    p and the labelled rows do not fit. Raises BadInput on entries other than True, False, 1 and 0.
    """
    check_level(level)
    check_binary(judged=judged, human_judged=human_judged, human=human)
    ids = [x for part in _clusters(judged, human_judged, human, clusters, human_clusters) for x in part]
    pairs = list(zip(human_judged, human, strict=True))
    passed, failed = sum(label for label in human), sum(not label for label in human)
    true_passes, true_fails = sum(j and h for j, h in pairs), sum(not j and not h for j, h in pairs)
    # In whole numbers, since 0.7 + 0.3 - 1 need not be 0; true also where a class is missing.
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
    """The cluster ids of both kinds of rows: those given, or a row its own; BadInput where a length differs."""
    if (clusters is None) != (human_clusters is None):
        raise BadInput("clusters and human_clusters belong together: give both or neither.")
    ids = range(len(judged)) if clusters is None else clusters
    human_ids = range(len(judged), len(judged) + len(human)) if human_clusters is None else human_clusters
    check_same_length(judged=judged, clusters=ids)
    check_same_length(human_judged=human_judged, human=human, human_clusters=human_ids)
    return ids, human_ids
