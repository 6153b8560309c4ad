"""Systems compared on the items that they all answered: every pair of results of one benchmark that compare.

A metric that is the mean of its values over items is compared item by item. Another one (an RMSE, a correlation, a
corpus BLEU, a ratio of sums) is compared by leaving out one group of clusters at a time (`scorers.jackknife`).
docs/comparing.md describes the statistics.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from humor_tasks.benchmarks.definition import Benchmark
from humor_tasks.benchmarks.judging import missing_warning
from humor_tasks.benchmarks.metric import Direction, Metric
from humor_tasks.errors import BadInput
from humor_tasks.results.comparable import differences, settings
from humor_tasks.results.labels import labels
from humor_tasks.results.pairing import EQUAL, Paired, System, counted, is_mean, metric_named, paired, problems
from humor_tasks.results.result import LeftOut, Result, Results
from humor_tasks.scorers.bradley_terry import Strength, bradley_terry
from humor_tasks.scorers.paired import PairedTest, paired_tests

ALPHA = 0.05
DRAWS, DRAWS_EACH = 10_000, 1_000
"""Random sign patterns of a permutation test that cannot be exact: at least DRAWS, and DRAWS_EACH per comparison, so
that the smallest p-value survives Holm's correction."""


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
    """The systems compared by one metric of one benchmark; the best first, but two in the order given.

    A system that compares with no other, such as an unfinished run, is not among them and has no place.
    """

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
        remedy = "there is nothing to compare. Give two or more runs of one benchmark that have the metric."
        raise BadInput("\n".join([remedy, *why]))
    draws = max(DRAWS, DRAWS_EACH * len(pairs))
    scores, swapped = [pair.scores for pair in pairs], [pair.swapped for pair in pairs]
    tests = iter(paired_tests(scores, draws=draws, seed=seed, level=1 - ALPHA, swapped=swapped))
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
class _Draft:
    """The pairs of one benchmark that compare."""

    benchmark: Benchmark
    metric: Metric
    name: str
    by_item: bool
    systems: Sequence[System]
    pairs: Sequence[Paired]

    def finished(self, tests: Sequence[PairedTest], comparisons: int, seed: int) -> Compared:
        """The comparisons, of `comparisons` in all."""
        direction = self.metric.direction
        made = [_comparison(pair, test, direction) for pair, test in zip(self.pairs, tests, strict=True)]
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
                f"{self.name} is no mean over items: intervals, p-values and needed items are from leaving out one of "
                f"{groups} groups of clusters at a time."
            )
        yield from _settings(self.systems)
        for system in self.systems:
            if warning := missing_warning({n: e.value for n, e in system.result.estimates.items()}):
                yield f"{system.label}: {warning}"
            reported = system.result.estimates.get(self.name)
            if reported and not math.isclose(reported.value, system.value.value, rel_tol=1e-9, abs_tol=EQUAL):
                yield (
                    f"{system.label}: the run reports {self.name} {reported.value:.4f}, a mean of its folds or parts; "
                    f"compared is {system.value.value:.4f}, over all items."
                )


def _comparison(pair: Paired, test: PairedTest, direction: Direction) -> Comparison:
    """The comparison, with the figures that belong to the metric instead of to its pseudo-values."""
    e = dataclasses.replace(test.difference, n=pair.items, clusters=pair.clusters)
    needed, mcnemar = test.needed, test.mcnemar
    if pair.swapped is not None:
        needed = None if needed is None else math.ceil(needed * pair.items / len(pair.scores[0]))
        mcnemar = math.nan
    wins = None
    if pair.won is not None:
        higher, lower, equal = map(sum, zip(*pair.won.values(), strict=True))
        wins = (higher, lower, equal) if direction == "higher" else (lower, higher, equal)
    test = dataclasses.replace(test, difference=e, needed=needed, mcnemar=mcnemar)
    told = tuple(differences(pair.first.result, pair.second.result))
    return Comparison(pair.first, pair.second, test, pair.left_out, wins, told)


def _settings(systems: Sequence[System]) -> Iterator[str]:
    """The settings in which the systems differ, with those of each value."""
    signed = [system for system in systems if system.result.signature]
    for name, values in settings([system.result for system in signed]).items():
        users: dict[str, list[str]] = {}
        for system, value in zip(signed, values, strict=True):
            users.setdefault(value, []).append(system.label)
        listed = (f"{value} ({_few(labels)})" for value, labels in users.items())
        yield f"The systems differ in {name}: {', '.join(listed)}."


def _few(names: Sequence[str]) -> str:
    """The first two names, and the number of the others."""
    return ", ".join((*names[:2], *([f"{len(names) - 2} more"] if len(names) > 2 else [])))


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
    yield from grouped(told)


# ---- what is compared ---------------------------------------------------------------------------


def _draft(results: Sequence[Result], metric: str | None, refused: list[Refused]) -> _Draft | None:
    """The pairs of one benchmark's results; None where there is one result, or none with this metric."""
    benchmark, named = results[0].benchmark, dict(zip(labels(results), results, strict=True))
    known = dict.fromkeys(name for result in results for name in result.estimates)
    name = metric or next(iter(known), "-")
    of = metric_named(benchmark, name)
    if of is None or name not in known:
        refused.append(Refused(benchmark.name, name, f"is none of its metrics, which are {', '.join(known)}."))
        return None
    systems = []
    for label, result in named.items():
        if outcomes := counted(result, of, name):
            kept = dataclasses.replace(result, outcomes=outcomes)
            systems.append(System(label, result, outcomes, of.over(outcomes), kept.by_item(of.name)))
        else:
            refused.append(Refused(benchmark.name, label, f"no item counts towards {name}."))
    if len(systems) == 1:
        refused.append(Refused(benchmark.name, systems[0].label, "there is no other run to compare it with."))
    if len(systems) > 2:
        systems.sort(key=lambda s: s.value.value if of.direction == "lower" else -s.value.value)
    by_item = all(is_mean(system, of) for system in systems)
    pairs: list[Paired] = []
    cache: dict[tuple[str, frozenset[str]], list[float]] = {}
    for first, second in itertools.combinations(systems, 2):
        if why := problems(first, second):
            refused += [Refused(benchmark.name, f"{first.label} and {second.label}", reason) for reason in why]
            continue
        pair = paired(first, second, of, by_item, cache)
        if pair.swapped is None or all(map(math.isfinite, (*pair.scores[0], *pair.scores[1], *pair.swapped))):
            pairs.append(pair)
        else:
            why_not = f"{name} is not defined without some of the clusters."
            refused.append(Refused(benchmark.name, f"{first.label} and {second.label}", why_not))
    compared = {id(system) for pair in pairs for system in (pair.first, pair.second)}
    return _Draft(benchmark, of, name, by_item, [s for s in systems if id(s) in compared], pairs)
