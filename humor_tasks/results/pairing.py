"""The systems of one benchmark in pairs, each pair with its scores on the items that both answered."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from humor_tasks.contract.metric import Metric
from humor_tasks.contract.variations import variation_of
from humor_tasks.results.comparable import labels, refusals
from humor_tasks.results.result import Result
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.bradley_terry import Strength
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.jackknife import pseudo_values, swap_values
from humor_tasks.scorers.paired import Pair, PairedTest

EQUAL = 1e-9  # by which the values of an item may differ by rounding


@dataclass(frozen=True)
class System:
    """One system in the comparison of one metric.

    label: unique among the systems compared. counted: the outcomes that count towards the metric. value: the metric of
    these. by_item: the mean value and the cluster of each item; empty for a metric without values of items. strength:
    in Bradley and Terry's model over items; None where it is not computed.
    """

    label: str
    result: Result = field(repr=False)
    counted: tuple[Outcome, ...] = field(repr=False)
    value: Estimate
    by_item: Mapping[str, tuple[float, str]] = field(repr=False)
    strength: Strength | None = None

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """Item id -> its cluster, of the items that count."""
        return {outcome.id: outcome.cluster for outcome in self.counted}

    @cached_property
    def asked_again(self) -> bool:
        """Whether some of what counts are several askings of one item, which are not independent."""
        return len({variation_of(outcome).item for outcome in self.counted}) < len(self.clusters)

    def replies(self, items: Iterable[str]) -> list[list[Outcome]]:
        """The outcomes of each of these items, in one order for every system, so that all have the same groups."""
        replies: dict[str, list[Outcome]] = {}
        for outcome in self.counted:
            replies.setdefault(outcome.id, []).append(outcome)
        return [replies[identity] for identity in sorted(items)]


@dataclass(frozen=True)
class Paired:
    """Two systems with their scores on the same items, or their pseudo-values on the same groups of clusters.

    swapped: for pseudo-values, the values whose signs the permutation test flips. items, clusters: how many the scores
    come from. left_out: the items that count in only one of the two. won: for each cluster, the items on which the
    first score is higher, on which the second is, and on which both are equal; None for a metric without values of
    items.
    """

    first: System
    second: System
    scores: Pair
    swapped: Sequence[float] | None
    items: int
    clusters: int
    left_out: int
    won: Mapping[str, Sequence[int]] | None


@dataclass(frozen=True)
class Comparison:
    """Two systems on one metric; `test.difference` is first - second.

    left_out: the items that count in only one of the two. wins: the items on which the first is better, on which the
    second is, and on which both are equal; None for a metric without values of items. differences: of their settings.
    """

    first: System
    second: System
    test: PairedTest
    left_out: int
    wins: tuple[int, int, int] | None
    differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Two systems, a run or a metric of a benchmark that are not compared, and why."""

    benchmark: str
    what: str
    why: str


@dataclass(frozen=True)
class PlannedComparison:
    """The pairs of one benchmark that compare, by the metric or its part `name`. by_item: whether it is a mean."""

    benchmark: str
    metric: Metric
    name: str
    by_item: bool
    systems: Sequence[System]
    pairs: Sequence[Paired]


def planned(
    results: Sequence[Result], metric: str | None, refused: list[Refused], order: Sequence[str] = ()
) -> PlannedComparison | None:
    """The pairs of one benchmark's results; None where no result has this metric.

    Refusals are added to `refused`. order: the labels of systems that come first, in this order; three systems or more
    are otherwise in the order of their values.
    """
    benchmark = results[0].benchmark
    known = dict.fromkeys(name for result in results for name in result.estimates)
    name = metric or next(iter(known), "-")
    of = _metric(results, name)

    def refuse(what: str, *reasons: str) -> None:
        refused.extend(Refused(benchmark.name, what, reason) for reason in reasons)

    if of is None or name not in known:
        refuse(name, f"unknown metric; choose from {', '.join(known)}.")
        return None
    systems = []
    for label, result in zip(labels(results), results, strict=True):
        if outcomes := _counted(result, of, name):
            by_item = dataclasses.replace(result, outcomes=outcomes).by_item(of.values)
            systems.append(System(label, result, outcomes, of.over(outcomes), by_item))
        else:
            refuse(label, f"no item counts towards {name}.")
    if len(systems) == 1:
        refuse(systems[0].label, "there is no other run to compare it with.")
    if len(systems) > 2:
        systems.sort(key=lambda s: s.value.value if of.direction == "lower" else -s.value.value)
        systems.sort(key=lambda s: order.index(s.label) if s.label in order else len(order))
    means = all(_is_mean(system, of) for system in systems)
    pairs: list[Paired] = []
    cache: dict[tuple[str, frozenset[str]], list[float]] = {}
    for first, second in itertools.combinations(systems, 2):
        both = f"{first.label} and {second.label}"
        if reasons := _problems(first, second):
            refuse(both, *reasons)
            continue
        pair = _paired(first, second, of, means, cache)
        if pair.swapped is None or all(map(math.isfinite, (*pair.scores[0], *pair.scores[1], *pair.swapped))):
            pairs.append(pair)
        else:
            refuse(both, f"{name} is not defined without some of the clusters.")
    compared = {id(system) for pair in pairs for system in (pair.first, pair.second)}
    return PlannedComparison(benchmark.name, of, name, means, [s for s in systems if id(s) in compared], pairs)


def _metric(results: Iterable[Result], name: str) -> Metric | None:
    """The metric of this name, or the one that the name is a part of."""
    reported = (metric for result in results for metric in result.opened.reported)
    prefixes = [m for m in reported if name == m.name or name.startswith(f"{m.name}_")]
    return max(prefixes, key=lambda m: len(m.name), default=None)


def _counted(result: Result, metric: Metric, name: str) -> tuple[Outcome, ...]:
    """The outcomes that count towards a metric, or towards its part."""
    part = name.removeprefix(metric.name).removeprefix("_")
    part_of = result.benchmark.part
    return tuple(o for o in metric.counted(result.outcomes) if not part or part_of(result.opened, o.groups) == part)


def _is_mean(system: System, metric: Metric) -> bool:
    """Whether the metric is the mean of its values over replies."""
    if not all(metric.values in o.values for o in system.counted):
        return False
    mean = math.fsum(o.values[metric.values] for o in system.counted) / len(system.counted)
    return metric.estimate is None or math.isclose(mean, system.value.value, rel_tol=EQUAL, abs_tol=EQUAL)


def _problems(first: System, second: System) -> list[str]:
    """Why two systems cannot be compared."""
    one, other = first.result, second.result
    if set(one.paths) == set(other.paths):
        return [f"are one run, scored by {one.scorer} and {other.scorer}."]
    if reasons := refusals(one, other):
        return [f"{reason.rstrip('.')}." for reason in reasons]
    if not first.clusters.keys() & second.clusters.keys():
        return ["have no item in common that counts."]
    if any(cluster != second.clusters.get(identity, cluster) for identity, cluster in first.clusters.items()):
        return ["have the same items in other clusters."]
    return []


def _paired(
    first: System, second: System, metric: Metric, by_item: bool, cache: dict[tuple[str, frozenset[str]], list[float]]
) -> Paired:
    """The scores of two systems on the items that both have."""
    clusters = {identity: cluster for identity, cluster in first.clusters.items() if identity in second.clusters}
    left_out = len(first.clusters) + len(second.clusters) - 2 * len(clusters)
    won: dict[str, list[int]] | None = None
    if clusters.keys() <= first.by_item.keys() & second.by_item.keys():
        a, b = ([system.by_item[identity][0] for identity in clusters] for system in (first, second))
        won = {}
        for one, other, cluster in zip(a, b, clusters.values(), strict=True):
            won.setdefault(cluster, [0, 0, 0])[0 if one > other + EQUAL else 1 if other > one + EQUAL else 2] += 1
    if by_item:
        scores: Pair = a, b, list(clusters.values())
        swapped = None
    else:
        x, y = (_pseudo_values(system, metric, clusters, cache) for system in (first, second))
        scores, swapped = (x, y, range(len(x))), _swap_values(first, second, metric, clusters)
    return Paired(first, second, scores, swapped, len(clusters), len(set(clusters.values())), left_out, won)


def _pseudo_values(
    system: System, metric: Metric, items: Iterable[str], cache: dict[tuple[str, frozenset[str]], list[float]]
) -> list[float]:
    """The jackknife pseudo-values of the metric over these items."""
    key = system.label, frozenset(items)
    if key not in cache:
        replies = system.replies(items)

        def statistic(chosen: Sequence[int]) -> float:
            return float(metric.over([outcome for i in chosen for outcome in replies[i]]).value)

        cache[key] = pseudo_values(statistic, [outcomes[0].cluster for outcomes in replies])
    return cache[key]


def _swap_values(first: System, second: System, metric: Metric, items: Iterable[str]) -> list[float]:
    """The values for the permutation test of the metric's difference over these items."""
    one, other = (system.replies(items) for system in (first, second))

    def statistic(of_first: Sequence[int], of_second: Sequence[int]) -> float:
        together = [o for i in of_first for o in one[i]] + [o for i in of_second for o in other[i]]
        return float(metric.over(together).value)

    values: list[float] = swap_values(statistic, [outcomes[0].cluster for outcomes in one])
    return values
