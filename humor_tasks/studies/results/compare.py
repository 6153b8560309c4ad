"""Systems compared on the items that they all answered: every pair of results of one benchmark that compare.

A metric that is the mean of its values over items is compared item by item. Another one (an RMSE, a correlation, a
corpus BLEU, a ratio of sums) is compared by its jackknife pseudo-values over groups of clusters, which take the place
of items. docs/comparing.md describes the statistics.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.benchmarks.metric import Direction, Metric
from humor_tasks.data.records import Outcome
from humor_tasks.errors import BadInput
from humor_tasks.scorers.bradley_terry import Strength, bradley_terry
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.jackknife import pseudo_values
from humor_tasks.scorers.paired import Pair, PairedTest, paired_tests
from humor_tasks.studies.results.comparable import differences, refusals
from humor_tasks.studies.results.labels import labels
from humor_tasks.studies.results.result import LeftOut, Result, Results

ALPHA = 0.05
DRAWS, DRAWS_EACH = 10_000, 1_000
"""Random sign patterns of a permutation test that cannot be exact: at least DRAWS, and DRAWS_EACH per comparison, so
that the smallest p-value survives Holm's correction."""
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


@dataclass(frozen=True)
class Comparison:
    """Two systems on one metric; `test.difference` is first - second.

    left_out: the items that count in one of the two only. wins: the items on which the first is better, on which the
    second is, and on which both are equal; None for a metric without values of items. told: what else differs.
    """

    first: System
    second: System
    test: PairedTest
    left_out: int
    wins: tuple[int, int, int] | None
    told: tuple[str, ...] = ()

    @property
    def names(self) -> str:
        """Both systems."""
        return f"{self.first.label} and {self.second.label}"


@dataclass(frozen=True)
class Compared:
    """The systems compared by one metric of one benchmark; the best first, but two in the order given."""

    benchmark: str
    metric: str
    direction: Direction
    systems: tuple[System, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """Two systems, a run or a metric of a benchmark that are not compared, and why."""

    benchmark: str
    what: str
    why: str


@dataclass(frozen=True)
class Comparisons:
    """All comparisons of a command; Holm's correction is over all of them."""

    benchmarks: tuple[Compared, ...]
    refused: tuple[Refused, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def count(self) -> int:
        """The number of comparisons."""
        return sum(len(each.comparisons) for each in self.benchmarks)


def compare(found: Results, metric: str | None = None, seed: int = 0) -> Comparisons:
    """Every pair of results of one benchmark that compare, by `metric`; None: by the benchmark's primary metric.

    Raises BadInput where no two results compare, with the reasons.
    """
    refused: list[Refused] = []
    drafts = [draft for b in found.benchmarks if (draft := _draft(found.of(b.name), metric, refused))]
    pairs = [pair for draft in drafts for pair in draft.pairs]
    if not pairs:
        why = [f"{each.benchmark}: {each.what}: {each.why}" for each in refused]
        why += [f"{each.path}: {each.why}" for each in found.left_out]
        raise BadInput("\n".join(["no two runs compare. Give two or more runs of one benchmark.", *why]))
    draws = max(DRAWS, DRAWS_EACH * len(pairs))
    tests = iter(paired_tests([pair.scores for pair in pairs], draws=draws, seed=seed, level=1 - ALPHA))
    compared = [draft.finished([next(tests) for _ in draft.pairs], len(pairs), seed) for draft in drafts if draft.pairs]
    return Comparisons(tuple(compared), tuple(refused), found.left_out)


def grouped(told: Iterable[tuple[str, str]]) -> list[str]:
    """ "A and B: MESSAGE" for pairs of names and message, each message once, with the number of its other names."""
    names: dict[str, list[str]] = {}
    for name, message in told:
        names.setdefault(message, []).append(name)
    return [
        f"{named[0]}{f', and {len(named) - 1} more' if len(named) > 1 else ''}: {message}"
        for message, named in names.items()
    ]


# ---- pairs before and after the test ------------------------------------------------------------


@dataclass(frozen=True)
class _Paired:
    """Two systems with their scores on the same items, or their pseudo-values on the same groups of clusters.

    items, clusters: the number of both that the scores come from. won: of each cluster the items on which the first
    score is higher, on which the second is, and on which both are equal; None for a metric without values of items.
    """

    first: System
    second: System
    scores: Pair
    items: int
    clusters: int
    left_out: int
    won: Mapping[str, Sequence[int]] | None

    def compared(self, test: PairedTest, direction: Direction, by_item: bool) -> Comparison:
        """The comparison with the figures that belong to the metric instead of to its pseudo-values."""
        e = dataclasses.replace(test.difference, n=self.items, clusters=self.clusters)
        needed = test.needed
        if needed is not None:
            needed = math.ceil(needed * self.items / len(self.scores[0]))
        mcnemar = test.mcnemar if by_item else math.nan
        test = dataclasses.replace(test, difference=e, needed=needed, mcnemar=mcnemar)
        told = tuple(differences(self.first.result, self.second.result))
        return Comparison(self.first, self.second, test, self.left_out, self._wins(direction), told)

    def _wins(self, direction: Direction) -> tuple[int, int, int] | None:
        if self.won is None:
            return None
        higher, lower, equal = map(sum, zip(*self.won.values(), strict=True))
        return (higher, lower, equal) if direction == "higher" else (lower, higher, equal)


@dataclass(frozen=True)
class _Draft:
    """The pairs of one benchmark that compare."""

    benchmark: Benchmark
    metric: Metric
    name: str
    by_item: bool
    systems: Sequence[System]
    pairs: Sequence[_Paired]

    def finished(self, tests: Sequence[PairedTest], comparisons: int, seed: int) -> Compared:
        """The comparisons, of `comparisons` in all."""
        direction = self.metric.direction
        made = [pair.compared(test, direction, self.by_item) for pair, test in zip(self.pairs, tests, strict=True)]
        strengths, problem = self._strengths(seed)
        systems = tuple(dataclasses.replace(s, strength=strengths.get(s.label)) for s in self.systems)
        notes = (*self._notes(), *_notes(made, comparisons), *problem)
        return Compared(self.benchmark.name, self.name, direction, systems, tuple(made), notes)

    def _strengths(self, seed: int) -> tuple[Mapping[str, Strength], tuple[str, ...]]:
        """Strengths of three systems or more over items, or why there are none."""
        if len(self.systems) < 3:
            return {}, ()
        rows = []
        for pair in self.pairs:
            if pair.won is None:
                return {}, (
                    f"No Bradley-Terry strengths: {self.name} has no value of an item that a system could win.",
                )
            for cluster, (higher, lower, equal) in pair.won.items():
                better, items = higher if self.metric.direction == "higher" else lower, higher + lower + equal
                rows.append((pair.first.label, pair.second.label, (better + equal / 2) / items, cluster, items))
        first, second, preferences, clusters, times = zip(*rows, strict=True)
        try:
            return bradley_terry(first, second, preferences, clusters, seed=seed, times=times), ()
        except BadInput as problem:
            return {}, (f"No Bradley-Terry strengths: {problem}",)

    def _notes(self) -> Iterator[str]:
        """What a reader has to know of the metric."""
        if not self.by_item:
            groups = max(len(pair.scores[0]) for pair in self.pairs)
            yield (
                f"{self.name} is no mean over items: differences, intervals and p-values are from a jackknife that "
                f"leaves out one of {groups} groups of clusters."
            )
        for system in self.systems:
            reported = system.result.estimates.get(self.name)
            if reported and not math.isclose(reported.value, system.value.value, rel_tol=1e-9, abs_tol=EQUAL):
                yield (
                    f"{system.label}: the run reports {self.name} {reported.value:.4f}, a mean of its folds or parts; "
                    f"compared is {system.value.value:.4f}, over all items."
                )


def _notes(made: Sequence[Comparison], comparisons: int) -> Iterator[str]:
    """What a reader has to know of the comparisons."""
    fewest = min(c.test.difference.clusters for c in made)
    least = 2.0 ** (1 - fewest)
    if fewest == 1:
        yield "All items are in one cluster: it is not known how clusters differ. There is no interval, and p is 1."
    elif least * comparisons > ALPHA:
        yield (
            f"With {fewest} clusters p cannot be below {least:.3g}, or {min(1, least * comparisons):.3g} after Holm's "
            f"correction over {comparisons}: no difference can show."
        )
    equal = "equal on every item. Their interval is a point, which says nothing of other items; p is 1."
    told = [(c.names, equal) for c in made if c.wins and c.wins[:2] == (0, 0)]
    told += [
        (c.names, f"{c.left_out} items count in one of the two only, and are left out.") for c in made if c.left_out
    ]
    told += [(c.names, f"differ in {difference}.") for c in made for difference in c.told]
    yield from grouped(told)


# ---- what is compared ---------------------------------------------------------------------------


def _draft(results: Sequence[Result], metric: str | None, refused: list[Refused]) -> _Draft | None:
    """The pairs of one benchmark's results; None where there is one result, or none with this metric."""
    benchmark, named = results[0].benchmark, dict(zip(labels(results), results, strict=True))
    known = dict.fromkeys(name for result in results for name in result.estimates)
    name = metric or next(iter(known), "-")
    of = _metric(benchmark, name)
    if of is None or name not in known:
        refused.append(Refused(benchmark.name, name, f"is none of its metrics, which are {', '.join(known)}."))
        return None
    systems = []
    for label, result in named.items():
        if counted := _counted(result, of, name):
            kept = dataclasses.replace(result, outcomes=counted)
            systems.append(System(label, result, counted, of.over(counted), kept.by_item(of.name)))
        else:
            refused.append(Refused(benchmark.name, label, f"no item counts towards {name}."))
    if len(systems) == 1:
        refused.append(Refused(benchmark.name, systems[0].label, "there is no other run to compare it with."))
    if len(systems) > 2:
        systems.sort(key=lambda s: s.value.value if of.direction == "lower" else -s.value.value)
    by_item = all(_is_mean(system, of) for system in systems)
    pairs: list[_Paired] = []
    cache: dict[tuple[str, frozenset[str]], list[float]] = {}
    for first, second in itertools.combinations(systems, 2):
        if why := _problems(first, second):
            refused += [Refused(benchmark.name, f"{first.label} and {second.label}", reason) for reason in why]
            continue
        pair = _paired(first, second, of, by_item, cache)
        if all(math.isfinite(x) for column in pair.scores[:2] for x in column):
            pairs.append(pair)
        else:
            why_not = f"{name} is not defined without some of the clusters."
            refused.append(Refused(benchmark.name, f"{first.label} and {second.label}", why_not))
    return _Draft(benchmark, of, name, by_item, systems, pairs)


def _metric(benchmark: Benchmark, name: str) -> Metric | None:
    """The metric of this name, or the one that the name is a part of."""
    prefixes = [m for m in benchmark.reported if name == m.name or name.startswith(f"{m.name}_")]
    return max(prefixes, key=lambda m: len(m.name), default=None)


def _counted(result: Result, metric: Metric, name: str) -> tuple[Outcome, ...]:
    """The outcomes that count towards a metric, or towards its part."""
    part = name.removeprefix(metric.name).removeprefix("_")
    of_part = result.benchmark.part
    return tuple(o for o in metric.counted(result.outcomes) if not part or of_part(result.opened, o.groups) == part)


def _is_mean(system: System, metric: Metric) -> bool:
    """Whether the metric is the mean of its values over replies."""
    if not all(metric.name in o.values for o in system.counted):
        return False
    mean = math.fsum(o.values[metric.name] for o in system.counted) / len(system.counted)
    return metric.estimate is None or math.isclose(mean, system.value.value, rel_tol=EQUAL, abs_tol=EQUAL)


def _problems(first: System, second: System) -> list[str]:
    """Why two systems cannot be compared."""
    one, other = first.result, second.result
    if set(one.paths) == set(other.paths):
        return [f"are one run, scored by {one.scorer} and {other.scorer}."]
    if why := refusals(one, other):
        return [f"{reason.rstrip('.')}." for reason in why]
    clusters = [{o.id: o.cluster for o in system.counted} for system in (first, second)]
    common = clusters[0].keys() & clusters[1].keys()
    if not common:
        return ["have no item in common that counts."]
    if any(clusters[0][identity] != clusters[1][identity] for identity in common):
        return ["have the same items in other clusters."]
    return []


def _paired(
    first: System, second: System, metric: Metric, by_item: bool, cache: dict[tuple[str, frozenset[str]], list[float]]
) -> _Paired:
    """The scores of two systems on the items that both have."""
    theirs = {o.id for o in second.counted}
    clusters = {o.id: o.cluster for o in first.counted if o.id in theirs}
    left_out = len({o.id for o in first.counted} ^ theirs)
    won: dict[str, list[int]] | None = None
    if clusters.keys() <= first.by_item.keys() & second.by_item.keys():
        a, b = ([system.by_item[identity][0] for identity in clusters] for system in (first, second))
        won = {}
        for one, other, cluster in zip(a, b, clusters.values(), strict=True):
            won.setdefault(cluster, [0, 0, 0])[0 if one > other + EQUAL else 1 if other > one + EQUAL else 2] += 1
    if by_item:
        scores: Pair = a, b, list(clusters.values())
    else:
        x, y = (_pseudo_values(system, metric, clusters, cache) for system in (first, second))
        scores = x, y, range(len(x))
    return _Paired(first, second, scores, len(clusters), len(set(clusters.values())), left_out, won)


def _pseudo_values(
    system: System, metric: Metric, items: Iterable[str], cache: dict[tuple[str, frozenset[str]], list[float]]
) -> list[float]:
    """The jackknife pseudo-values of the metric over these items."""
    kept = frozenset(items)
    if (system.label, kept) not in cache:
        replies: dict[str, list[Outcome]] = {}
        for outcome in system.counted:
            replies.setdefault(outcome.id, []).append(outcome)
        ordered = [replies[identity] for identity in sorted(kept)]  # one order, so that systems have the same groups

        def statistic(chosen: Sequence[int]) -> float:
            return float(metric.over([outcome for i in chosen for outcome in ordered[i]]).value)

        cache[system.label, kept] = pseudo_values(statistic, [each[0].cluster for each in ordered])
    return cache[system.label, kept]
