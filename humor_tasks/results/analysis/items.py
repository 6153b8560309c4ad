"""Item difficulty, agreement between systems, and accuracy over time, for the items of one benchmark.

The error analysis of Hessel et al. (ACL 2023, arXiv 2209.06293, section 3.3 and question 8) for any benchmark: are
some contests, folds, positions or distractors harder; do two systems fail on the same items; does accuracy change with
the date of the contest; which contests are hardest. docs/analysis.md gives the formulas.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from humor_tasks.contract.card import has_dates
from humor_tasks.errors import BadInput
from humor_tasks.papers.published import published
from humor_tasks.results import LeftOut, Result, Results
from humor_tasks.results.analysis.difficulty import Difficulty, Embed, Explained, difficulty, explained, solved_by
from humor_tasks.results.analysis.systems import ItemTexts, System, item_texts, leading, systems_of
from humor_tasks.results.read import without_path
from humor_tasks.results.report.grouping import groups_of
from humor_tasks.rows.contests.annotations import LOW_RESOLUTION
from humor_tasks.rows.contests.dates import DATE_MARGIN, contest_date
from humor_tasks.rows.records import Record
from humor_tasks.scorers.association import (
    Association,
    Conditional,
    association,
    independent_difference,
    right_when_wrong,
)
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.kappa import cohen_kappa
from humor_tasks.scorers.paired import holm
from humor_tasks.scorers.proportion import clustered_proportion, clustered_share
from humor_tasks.scorers.regression import spearman, spearman_p

CLUSTER = "cluster"
LEAST_ITEMS = 2  # items per level of a grouping, on average; with fewer it is a name of the items
STUDY = "analyse"  # of the figures in published.toml
FACTORS = {"cluster": "cluster_p", "fold": "fold_p", "distractor": "distractor_p"}
"""Grouping of the items -> the quantity with the p-value of its chi-square test."""


@dataclass(frozen=True)
class Factor:
    """The association of one grouping of the items with a system's values; `holm` corrects p over all factors."""

    system: str
    name: str
    found: Association
    holm: float


@dataclass(frozen=True)
class Pair:
    """Two systems on their common items.

    same_answer: the share of items with the same answer; right_if_same: the accuracy on those. kappa: of right and
    wrong. by_item, by_cluster: Spearman's correlation of the values of items and of the clusters' means; by_cluster_p:
    of the test that the latter is 0, nan where there is none. first, second: how often each is right where the other is
    wrong. None where the benchmark has no such quantity.
    """

    systems: tuple[str, str]
    n: int
    same_answer: Estimate | None
    right_if_same: Estimate | None
    kappa: Estimate | None
    by_item: Estimate
    by_cluster: Estimate | None
    by_cluster_p: float
    first: Conditional | None
    second: Conditional | None


@dataclass(frozen=True)
class Trend:
    """Spearman's correlation of the contests' dates with a system's mean on them, and the p-value of no correlation."""

    system: str
    found: Estimate
    p: float


@dataclass(frozen=True)
class PublishedComparison:
    """A published value, with the same quantity of each system or pair of systems here."""

    quantity: str
    system: str
    published: float
    bound: str
    source: str
    here: Mapping[str, float]


@dataclass(frozen=True)
class Cluster:
    """The mean value of one cluster over the systems; `shrunk` is the empirical Bayes mean, which ranks clusters."""

    name: str
    items: int
    mean: float
    shrunk: float


@dataclass(frozen=True)
class Cutoff:
    """A system before and after a date; `between` counts items too close to it to be on one side."""

    system: str
    before: Estimate
    after: Estimate
    difference: Estimate
    between: int


@dataclass(frozen=True)
class Resolution:
    """A system on the contests with a picture of low resolution, on the others, and the first minus the second."""

    system: str
    low: Estimate
    others: Estimate
    difference: Estimate


@dataclass(frozen=True)
class Analysis:
    """The analyses of one benchmark; `notes` say what was left out and why."""

    benchmark: str
    metric: str
    systems: tuple[str, ...]
    means: tuple[Estimate, ...]
    factors: tuple[Factor, ...]
    pairs: tuple[Pair, ...]
    trends: tuple[Trend, ...]
    hardest: tuple[Cluster, ...]
    easiest: tuple[Cluster, ...]
    cutoffs: tuple[Cutoff, ...]
    resolutions: tuple[Resolution, ...]
    shortcuts: tuple[Explained, ...]
    published: tuple[PublishedComparison, ...]
    difficulty: Difficulty | None
    notes: tuple[str, ...]


def analyse(
    results: Sequence[Result],
    metric: str | None = None,
    cutoff: datetime.date | None = None,
    most: int = 10,
    draws: int = 9999,
    predictors: bool = False,
    records: Sequence[Record] = (),
    embed: Embed | None = None,
) -> Analysis:
    """All analyses of the results of one benchmark. Raises BadInput for results that do not compare with the first.

    metric: a metric that single items have; by default the benchmark's first such metric. cutoff: the end of a model's
    training data. most: the length of the lists of hardest and easiest clusters, at most half of the clusters.
    draws: of the permutation tests. predictors: also look for what predicts the difficulty of clusters, with the
    pictures of `records` and the vectors of `embed` where they are given.
    """
    if any(result.opened.variations.number > 1 for result in results):
        raise BadInput("each item was asked several times; analyse runs with one prompt set and order=as_given.")
    systems = systems_of(results, metric)
    texts = item_texts(systems)
    notes = []
    if any(len(set(s.result.epochs)) > 1 for s in systems):
        notes.append("Values are means over the epochs; answers are those of the first epoch.")
    solved = solved_by(systems[0], texts)
    if systems[0].letters and not texts:
        notes.append("No log holds the choices: distractors and shortcuts of the texts were not analysed.")
    dated = [s for s in systems if has_dates(s.result.benchmark.card, s.clusters.values())]
    if cutoff is not None and not dated:
        notes.append(f"The items have no dates: no {systems[0].metric.name} before and after {cutoff}.")
    means = _cluster_means(systems)
    most = min(most, len(means) // 2)  # no cluster is in both lists
    sign = 1 if systems[0].metric.direction == "higher" else -1
    ranked = sorted(means, key=lambda c: (sign * c.shrunk, sign * c.mean, c.name))
    if len({c.shrunk for c in means}) == 1 < len({c.mean for c in means}):
        notes.append("The clusters differ no more than the items within them: their order may be chance.")
    predicted = None
    if predictors:
        ease = {c.name: sign * c.shrunk for c in means}
        predicted = difficulty(systems[0], ease, texts, records, embed, dated=bool(dated))
        notes += predicted.notes
    factors = _factors(systems, texts, draws)
    pairs = [_pair(a, b, draws) for a, b in itertools.combinations(systems, 2)]
    trends = [_trend(s) for s in dated]
    return Analysis(
        benchmark=results[0].benchmark.name,
        metric=systems[0].metric.name,
        systems=tuple(s.name for s in systems),
        means=tuple(s.mean() for s in systems),
        factors=tuple(factors),
        pairs=tuple(pairs),
        trends=tuple(trends),
        hardest=tuple(ranked[:most]),
        easiest=tuple(ranked[::-1][:most]),
        cutoffs=() if cutoff is None else tuple(_cutoff(s, cutoff) for s in dated),
        resolutions=tuple(resolution for s in dated for resolution in _resolution(s)),
        shortcuts=tuple(shortcut for s in systems for shortcut in explained(s, solved, systems)),
        published=_beside(results[0].benchmark.name, factors, pairs, trends),
        difficulty=predicted,
        notes=tuple(notes),
    )


def analyse_all(results: Results, **how: Any) -> tuple[list[Analysis], list[LeftOut]]:
    """The analysis of each group of results that compare, by benchmark, and what was left out and why.

    how: arguments of `analyse`. Unfinished runs are left out. Raises BadInput where nothing is left.
    """
    analyses: list[Analysis] = []
    left = list(results.left_out)
    for benchmark in results.benchmarks:
        of = results.of(benchmark.name)
        of = of if how.get("metric") else leading(of)
        left += [LeftOut(r.paths[0], r.notes[0]) for r in of if not r.complete]
        for group in groups_of(benchmark, [r for r in of if r.complete]):
            try:
                analysed = analyse(group.results, **how)
            except BadInput as problem:
                left += [LeftOut(r.paths[0], without_path(r.paths[0], problem)) for r in group.results]
                continue
            apart = (f"These runs do not compare with those above: {'; '.join(group.apart)}.",) if group.apart else ()
            analyses.append(dataclasses.replace(analysed, notes=(*apart, *analysed.notes)))
    if not analyses:
        raise BadInput("\n".join(["there is no run to analyse.", *(f"{file.path}: {file.why}" for file in left)]))
    return analyses, left


# ---- groupings of the items ---------------------------------------------------------------------


def _factors(systems: Sequence[System], texts: Mapping[str, ItemTexts], draws: int) -> list[Factor]:
    tested = []
    for system in systems:
        values, clusters = list(system.values.values()), [system.clusters[i] for i in system.values]
        for name, levels in _groupings(system, texts).items():
            whole = None if name == CLUSTER else clusters
            tested.append((system.name, name, association(levels, values, whole, draws)))
    corrected = iter(holm([a.p_permutation for *_, a in tested if not math.isnan(a.p_permutation)]))
    return [Factor(s, n, a, math.nan if math.isnan(a.p_permutation) else next(corrected)) for s, n, a in tested]


def _groupings(system: System, texts: Mapping[str, ItemTexts]) -> dict[str, list[Hashable]]:
    """The level of every item: its cluster, its groups, the place of the right choice, its distractors."""
    outcomes = [system.outcomes[i] for i in system.values]
    groupings: dict[str, list[Hashable]] = {CLUSTER: [system.clusters[i] for i in system.values]}
    for name in dict.fromkeys(name for outcome in outcomes for name in outcome.groups):
        groupings[name] = [outcome.groups.get(name, "-") for outcome in outcomes]
    if system.letters:
        groupings["place of the right choice"] = [outcome.target for outcome in outcomes]
        if all(outcome.id in texts for outcome in outcomes):
            groupings["distractor"] = [
                tuple(c for x, c in zip(system.letters, texts[o.id].choices, strict=False) if x != o.target)
                for o in outcomes
            ]

    def repeats(levels: Sequence[Hashable]) -> bool:
        """Whether there are several levels, and each has enough items on average."""
        memberships = [one for level in levels for one in (level if isinstance(level, tuple) else (level,))]
        return 2 <= len(set(memberships)) <= len(memberships) / LEAST_ITEMS

    return {name: levels for name, levels in groupings.items() if repeats(levels)}


# ---- systems ------------------------------------------------------------------------------------


def _pair(a: System, b: System, draws: int) -> Pair:
    ids = [i for i in a.values if i in b.values]
    x, y = [a.values[i] for i in ids], [b.values[i] for i in ids]
    clusters = [a.clusters[i] for i in ids]
    both = a.right_or_wrong and b.right_or_wrong
    shared = clusters if len(set(clusters)) < len(clusters) else None
    tested = partial(right_when_wrong, clusters=shared, draws=draws)
    first, second = (tested(x, y), tested(y, x)) if both else (None, None)
    same = right = None
    if a.letters:
        equal = [float(a.outcomes[i].answer == b.outcomes[i].answer is not None) for i in ids]
        same = clustered_proportion(equal, clusters)
        if both:
            right = clustered_share([e * v for e, v in zip(equal, x, strict=True)], equal, clusters)
    mine, theirs = a.by_cluster(), b.by_cluster()
    held = [c for c in mine if c in theirs]
    of_clusters = ([mine[c] for c in held], [theirs[c] for c in held]) if len(held) < len(ids) else None
    return Pair(
        systems=(a.name, b.name),
        n=len(ids),
        same_answer=same,
        right_if_same=right,
        kappa=cohen_kappa(x, y, clusters) if both else None,
        by_item=spearman(x, y, clusters),
        by_cluster=spearman(*of_clusters, held) if of_clusters else None,
        by_cluster_p=spearman_p(*of_clusters) if of_clusters else math.nan,
        first=first,
        second=second,
    )


def _trend(system: System) -> Trend:
    """With the number of a contest for its date: both have the same order."""
    means = system.by_cluster()
    dates, values = [float(c) for c in means], list(means.values())
    return Trend(system.name, spearman(dates, values, list(means)), spearman_p(dates, values))


def _cutoff(system: System, cutoff: datetime.date) -> Cutoff:
    since = {i: contest_date(int(cluster)) - cutoff for i, cluster in system.clusters.items()}
    before = system.mean([i for i, time in since.items() if time < -DATE_MARGIN])
    after = system.mean([i for i, time in since.items() if time > DATE_MARGIN])
    between = sum(abs(time) <= DATE_MARGIN for time in since.values())
    return Cutoff(system.name, before, after, independent_difference(after, before), between)


def _resolution(system: System) -> Iterator[Resolution]:
    """None where the items are all of the one kind, as those of newer contests are."""
    low = [i for i, cluster in system.clusters.items() if int(cluster) in LOW_RESOLUTION]
    others = [i for i, cluster in system.clusters.items() if int(cluster) not in LOW_RESOLUTION]
    if low and others:
        means = system.mean(low), system.mean(others)
        yield Resolution(system.name, *means, independent_difference(*means))


# ---- clusters -----------------------------------------------------------------------------------


def _cluster_means(systems: Sequence[System]) -> list[Cluster]:
    """Each cluster's mean over items and systems, and the same moved towards the mean of all as its error demands.

    shrunk = m + (mean_c - m) * between / (between + within / n_c), with m the mean of the items' means over systems,
    `within` their variance within clusters and `between` the clusters' variance by the method of moments (Efron and
    Morris 1973, JASA 68).
    """
    values: dict[str, list[float]] = {}
    clusters: dict[str, str] = {}
    for system in systems:
        clusters |= system.clusters
        for identity, value in system.values.items():
            values.setdefault(identity, []).append(value)
    held: dict[str, list[float]] = {}
    for identity, of_item in values.items():
        held.setdefault(clusters[identity], []).append(math.fsum(of_item) / len(of_item))
    n, k = len(values), len(held)
    means = {c: math.fsum(x) / len(x) for c, x in held.items()}
    mean = math.fsum(x for items in held.values() for x in items) / n
    squares = math.fsum((x - means[c]) ** 2 for c, items in held.items() for x in items)
    within = squares / (n - k) if n > k else 0.0
    effective = (n - math.fsum(len(x) ** 2 for x in held.values()) / n) / (k - 1) if k > 1 else 1.0
    spread = math.fsum(len(x) * (means[c] - mean) ** 2 for c, x in held.items()) / (k - 1) if k > 1 else 0.0
    between = max((spread - within) / effective, 0.0)

    def shrunk(c: str) -> float:
        noise = within / len(held[c])
        return means[c] if between + noise == 0 else mean + (means[c] - mean) * between / (between + noise)

    return [Cluster(c, len(held[c]), means[c], shrunk(c)) for c in held]


# ---- published figures --------------------------------------------------------------------------


def _beside(
    benchmark: str, factors: Sequence[Factor], pairs: Sequence[Pair], trends: Sequence[Trend]
) -> tuple[PublishedComparison, ...]:
    """The published results of a benchmark, beside those quantities that were computed here."""
    here: dict[str, dict[str, float]] = {}

    def add(quantity: str, label: str, value: float) -> None:
        if not math.isnan(value):
            here.setdefault(quantity, {})[label] = value

    for factor in factors:
        if factor.name in FACTORS:
            add(FACTORS[factor.name], factor.system, factor.found.p)
    for trend in trends:
        add("date_spearman", trend.system, trend.found.value)
        add("date_spearman_p", trend.system, trend.p)
    for pair in pairs:
        both = " and ".join(pair.systems)
        for name, estimate in (("cluster_spearman", pair.by_cluster), ("right_if_same", pair.right_if_same)):
            add(name, both, estimate.value if estimate else math.nan)
        add("cluster_spearman_p", both, pair.by_cluster_p)
        for right, (one, other) in ((pair.first, pair.systems), (pair.second, pair.systems[::-1])):
            if right:
                label = f"{one} where {other} is wrong"
                add("right_when_wrong", label, right.share)
                add("right_when_wrong_expected", label, right.expected)
                add("right_when_wrong_p", label, right.p if math.isnan(right.p_clusters) else right.p_clusters)
    return tuple(
        PublishedComparison(f.metric, f.system, f.value, f.bound or "", f.source, here.get(f.metric, {}))
        for f in published(benchmark, STUDY)
    )
