"""How alike the errors of several judges are, against human labels, and what a majority of them gains.

A judge errs where its verdict is not the label. With the error indicators a and b of two judges, their mean rates p and
q over the items that both judged, and r, the mean of the correlations over the P = k (k - 1) / 2 pairs of k judges:

    correlation       (mean of a b - p q) / sqrt(p (1 - p) q (1 - q))          Pearson's r of two indicators, phi
    effective judges  k / (1 + (k - 1) max(r, 0))                              Kish 1965, "Survey Sampling"
    gain of m         accuracy of the majority of m judges, averaged over all subsets of m, less the mean accuracy

The effective number is that of independent judges whose mean error would vary as much. It is at most k: judges whose
errors offset each other count as independent. Their negative correlation is shown as it is.

Judges make few errors, so that the linearised error of a correlation is too small or 0. The interval is therefore that
of a proportion, the probability c that another judge errs where one does. With the pairs' mean error rate e, over all
pairs and items,

    c = sum of a b / sum of (a + b) / 2        low, high = (bound - e) / (1 - e)

and the bounds are those of `clustered_share` for c, but around e + (1 - e) r, which equals c where all judges err
equally often. Taking e as known makes them wide where the correlation is low and errors are many. For two judges of
whom one errs six times as often as the other they are somewhat narrow (they held in 91 % of samples).

A gain has the t interval of the clustered mean of the items' gains, with 2 (x / (G + 2))^2 added to its variance, where
G is the number of clusters and x the largest gain of an item (Bonett and Price 2012; see `spread`). Neither interval is
a point where judges never differ. speed/panel_coverage.py measures the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from humor_tasks.errors import BadInput

from .arrays import Flags, Floats, Indices
from .estimate import Estimate, cluster_codes, clustered_mean, with_deviations, with_interval
from .judge import check_binary
from .proportion import with_share_interval
from .validation import check_same_length


@dataclass(frozen=True)
class MajorityGain:
    """What the majority of m judges gains over one, as a difference of accuracies.

    gain: as observed. independent: the gain if the judges erred as often, but independently of each other (Condorcet
    1785); the difference of the two is what the correlation costs.
    """

    gain: Estimate
    independent: float


@dataclass(frozen=True)
class PanelErrors:
    """Correlations of the errors by pair of judges and their mean, effective judges, and gains by size of the majority.

    `majorities` has every odd size from 3 to the number of judges. `left_out` counts the items that it leaves out.
    """

    correlations: dict[tuple[str, str], Estimate]
    mean_correlation: Estimate
    effective_judges: Estimate
    majorities: dict[int, MajorityGain]
    left_out: int


def panel_errors(
    labels: Sequence[bool],
    verdicts: Mapping[str, Sequence[bool | None]],
    clusters: Sequence[Hashable],
    level: float = 0.95,
) -> PanelErrors:
    """How alike the errors of the judges are, and what majorities gain (formulas above).

    labels: the human labels, one per item. verdicts: for each judge, by name, its verdicts of the same items; None is
    a missing one. Correlations use the items that both judges judged, the mean all pairs. Majorities use the items that
    all judges judged, since a panel with an absent judge is a smaller one.

    A correlation is nan where one of the two judges makes no error on their items, or only errors; so are then the mean
    and the effective number, since a mean over the remaining pairs would be that of another panel. If only one cluster
    has errors, stderr and interval are nan. Raises BadInput on fewer than two judges, lists of different length, a
    label or verdict other than True, False, 1, 0 (and None for verdicts), and a missing cluster id.
    """
    if len(verdicts) < 2:
        raise BadInput(f"verdicts has {len(verdicts)} judges; errors of a panel are compared between at least 2.")
    columns = {f"verdicts[{name!r}]": column for name, column in verdicts.items()}
    check_same_length(labels=labels, clusters=clusters, **columns)
    check_binary(labels=labels)
    check_binary(**{name: [v if v is not None else 0 for v in column] for name, column in columns.items()})
    cluster_codes(clusters)
    import numpy as np

    errors = np.array(
        [
            [math.nan if v is None else float(v != label) for v, label in zip(column, labels, strict=True)]
            for column in verdicts.values()
        ]
    )
    pairs = list(combinations(range(len(errors)), 2))
    names = list(verdicts)
    correlations = {(names[i], names[j]): _correlation(errors, [(i, j)], clusters, level) for i, j in pairs}
    mean = _correlation(errors, pairs, clusters, level)
    complete = np.flatnonzero(~np.isnan(errors).any(axis=0)).tolist()
    of_all, kept = errors[:, complete], [clusters[i] for i in complete]
    majorities = {m: _majority(of_all, m, kept, level) for m in range(3, len(errors) + 1, 2)}
    return PanelErrors(correlations, mean, _effective(mean, len(errors)), majorities, len(labels) - len(complete))


def _correlation(
    errors: Floats, pairs: Sequence[tuple[int, int]], clusters: Sequence[Hashable], level: float
) -> Estimate:
    """The mean correlation of these pairs of rows of `errors` (judges x items, nan where missing)."""
    import numpy as np

    first, second = errors[[i for i, _ in pairs]], errors[[j for _, j in pairs]]
    both = ~np.isnan(first + second)
    items = np.flatnonzero(both.any(axis=0)).tolist()
    kept, both = [clusters[i] for i in items], both[:, items]
    first, second = (np.where(both, x[:, items], 0.0) for x in (first, second))
    n, counts = len(kept), both.sum(axis=1, keepdims=True)
    if n == 0 or not counts.all():
        return clustered_mean([math.nan] * n, kept, level)
    u, v = (_standardised(x, both, counts) for x in (first, second))
    r = np.clip((u * v).sum(axis=1, keepdims=True) / counts, -1, 1)
    deviations = ((u * v - r * (u * u + v * v) / 2) * n / counts).mean(axis=0)
    found = with_deviations(float(r.mean()), deviations.tolist(), kept, level)

    top, bottom = (first * second).sum(axis=0), (first + second).sum(axis=0) / 2
    held = np.flatnonzero(bottom).tolist()
    carriers = [kept[i] for i in held]
    if math.isnan(found.value) or len(set(carriers)) < 2:
        return Estimate(found.value, math.nan, math.nan, math.nan, found.n, found.clusters)
    rate = float(bottom.sum() / counts.sum())
    around = replace(found, value=rate + (1 - rate) * found.value)
    share = with_share_interval(around, (top[held] / bottom[held]).tolist(), bottom[held].tolist(), carriers, level)
    low, high = ((bound - rate) / (1 - rate) for bound in (share.low, share.high))
    return replace(found, low=max(min(low, found.value), -1.0), high=max(high, found.value))


def _standardised(x: Floats, counted: Flags, counts: Indices) -> Floats:
    """Each row's deviations from its mean over what is counted, in standard deviations; nan for a constant row."""
    import numpy as np

    rate = x.sum(axis=1, keepdims=True) / counts
    scale = np.sqrt(rate * (1 - rate))
    result: Floats = np.where(counted, (x - rate) / np.where(scale > 0, scale, math.nan), 0.0)
    return result


def _effective(r: Estimate, judges: int) -> Estimate:
    """The effective number of judges from the mean correlation of their errors; a higher one means fewer."""

    def number(correlation: float) -> float:
        return judges / (1 + (judges - 1) * max(correlation, 0.0)) if not math.isnan(correlation) else math.nan

    value = number(r.value)
    slope = value**2 * (judges - 1) / judges
    return Estimate(value, slope * r.stderr, number(r.high), number(r.low), r.n, r.clusters)


def _majority(errors: Floats, m: int, clusters: Sequence[Hashable], level: float) -> MajorityGain:
    """The gain of majorities of m judges, from `errors` of items that all judges judged (judges x items)."""
    judges, items = errors.shape
    gains = item_gains(judges, m)
    mean = clustered_mean([gains[int(wrong)] for wrong in errors.sum(axis=0)], clusters, level)
    stderr = math.hypot(mean.stderr, math.sqrt(2) * max(gains) / (mean.clusters + 2))
    gain = with_interval(mean.value, stderr, mean.clusters - 1, level, items, mean.clusters)
    if items == 0:
        return MajorityGain(gain, math.nan)
    rates = errors.mean(axis=1).tolist()
    right = [_right_majority(subset) for subset in combinations(rates, m)]
    return MajorityGain(gain, math.fsum(right) / len(right) - (1 - math.fsum(rates) / judges))


def item_gains(judges: int, m: int) -> list[float]:
    """An item's gain from majorities of m, by the number of judges who err on it, from none to all.

    The share of all subsets of m judges in which fewer than half err, less the share of judges who do not err.
    """
    subsets = math.comb(judges, m)
    return [
        sum(math.comb(wrong, j) * math.comb(judges - wrong, m - j) for j in range(m // 2 + 1)) / subsets
        - (judges - wrong) / judges
        for wrong in range(judges + 1)
    ]


def _right_majority(rates: Sequence[float]) -> float:
    """The probability that fewer than half of independent judges with these error rates err."""
    wrong = [1.0]  # the probabilities of 0, 1, 2, ... errors among the judges so far
    for rate in rates:
        wrong = [stays * (1 - rate) + comes * rate for stays, comes in zip([*wrong, 0.0], [0.0, *wrong], strict=True)]
    return math.fsum(wrong[: len(rates) // 2 + 1])
