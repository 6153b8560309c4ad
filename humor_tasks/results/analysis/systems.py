"""The results of one benchmark as the analyses of items need them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.contract.answers import Choice
from humor_tasks.contract.metric import REPLY_RATES, Metric
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.results import Result, refusals
from humor_tasks.results.comparable import labels
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate


@dataclass(frozen=True)
class System:
    """One result: the value, cluster and first outcome of each item by id. `letters` are the labels of the choices."""

    result: Result
    name: str
    metric: Metric
    values: Mapping[str, float]
    clusters: Mapping[str, str]
    outcomes: Mapping[str, Outcome]
    letters: tuple[str, ...]

    @property
    def right_or_wrong(self) -> bool:
        """Whether every value is 1 for right or 0 for wrong."""
        return self.metric.direction == "higher" and set(self.values.values()) <= {0.0, 1.0}

    def mean(self, ids: Sequence[str] | None = None) -> Estimate:
        """The mean over these items, or over all."""
        over = list(self.values) if ids is None else ids
        return self.metric.mean([self.values[i] for i in over], [self.clusters[i] for i in over])

    def by_cluster(self) -> dict[str, float]:
        """Cluster -> the mean of its items."""
        members: dict[str, list[float]] = {}
        for identity, value in self.values.items():
            members.setdefault(self.clusters[identity], []).append(value)
        return {cluster: math.fsum(values) / len(values) for cluster, values in members.items()}


@dataclass(frozen=True)
class ItemTexts:
    """The choices of an item, and the scene as text ("" where it is not known)."""

    choices: tuple[str, ...]
    context: str


def systems_of(results: Sequence[Result], metric: str | None = None) -> list[System]:
    """The results with the values of `metric`, by default the benchmark's first metric that items have.

    Raises BadInput for results that do not compare, for incomplete runs, and for a metric that no item has.
    """
    for one, other in itertools.combinations(results, 2):
        if reasons := refusals(one, other):
            files = f"{one.paths[0].name} and {other.paths[0].name}"
            raise BadInput(f"{files} do not compare: {'; '.join(reasons).rstrip('.')}. Analyse them one by one.")
    if not results[0].complete:
        raise BadInput(f"{results[0].paths[0]}: {results[0].notes[0]} Finish the run first.")
    return [_system(result, name, metric) for result, name in zip(results, labels(results), strict=True)]


def leading(results: Sequence[Result]) -> list[Result]:
    """For each run, the scorer with the benchmark's first metrics; another one rates the form of replies, say."""
    leaders: dict[tuple[Path, ...], tuple[int, Result]] = {}
    for result in results:
        metrics, names = result.benchmark.metrics, _item_metrics(result)
        place = metrics.index(names[0]) if names else len(metrics)
        if result.paths not in leaders or place < leaders[result.paths][0]:
            leaders[result.paths] = place, result
    return [result for _, result in leaders.values()]


def _item_metrics(result: Result) -> list[Metric]:
    """The benchmark's metrics that single items of this result have; rates of replies are left out."""
    return [
        metric
        for metric in result.benchmark.metrics
        if metric not in REPLY_RATES and any(metric.name in outcome.values for outcome in result.outcomes)
    ]


def _system(result: Result, name: str, metric: str | None) -> System:
    metrics = {m.name: m for m in _item_metrics(result)}
    if not metrics:
        raise BadInput(f"{result.paths[0]}: {result.benchmark.name} has no metric of single items to analyse.")
    if metric is not None:
        check_choice(f"metric of single items of {result.benchmark.name}", metric, list(metrics))
    chosen = metrics[metric] if metric is not None else next(iter(metrics.values()))
    by_item = result.by_item(chosen.name)
    first: dict[str, Outcome] = {}
    for outcome in result.outcomes:
        first.setdefault(outcome.id, outcome)
    form = result.opened.form
    return System(
        result=result,
        name=name,
        metric=chosen,
        values={i: value for i, (value, _) in by_item.items()},
        clusters={i: cluster for i, (_, cluster) in by_item.items()},
        outcomes={i: first[i] for i in by_item},
        letters=tuple(form.letters) if isinstance(form, Choice) else (),
    )


def item_texts(systems: Sequence[System]) -> dict[str, ItemTexts]:
    """The texts of the items, from the first run that holds texts for all of its items; empty where no run does."""
    for system in systems:
        result = system.result
        items = result.opened.records or result.run.samples  # a file of predictions has no choices itself
        texts = {item.id: ItemTexts(item.choices, item.context) for item in items if item.choices}
        if texts and result.targets.keys() <= texts.keys():
            return texts
    return {}
