"""The charts of a report, each from the scorecard's groups; a chart without data is left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from humor_tasks.benchmarks import card
from humor_tasks.benchmarks.card import Binned, ByShots, BySubset, Calibration, TwoMetrics
from humor_tasks.benchmarks.metric import Metric
from humor_tasks.data.records import Outcome
from humor_tasks.errors import BadInput
from humor_tasks.results.report.beside import best_published, mark
from humor_tasks.results.report.chart import Axis, Chart, Point, Reference, Series, known, point
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.scorecard import part_of, settings_of
from humor_tasks.results.report.spent import Both
from humor_tasks.results.report.table import Line, share
from humor_tasks.results.result import Result
from humor_tasks.scorers.estimate import Estimate, clustered_mean

INTERVAL = "Bars are 95 % intervals."
ORDER = (ByShots, TwoMetrics, Binned, Calibration, BySubset)
"""The kinds of charts that benchmarks declare, in the order of the report."""


def charts_of(groups: Sequence[Group], lines: Sequence[Line], spent: Mapping[Path, Both]) -> tuple[Chart, ...]:
    """Every chart that has data, in the order of the report. lines: the tables of judged points. spent:
    tokens and cost by the path of a run."""
    declared = [(each, group) for group in groups for each in group.benchmark.display.charts]
    declared.sort(key=lambda pair: ORDER.index(type(pair[0])))
    found = [_drawn(each, group, lines) for each, group in declared]
    found += [*judge_bias(groups), *map(by_fold, groups)]
    found += [score_by_cost(group, spent) for group in groups]
    return tuple(chart for chart in found if chart is not None)


def _drawn(declared: card.Chart, group: Group, lines: Sequence[Line]) -> Chart | None:
    """A declared chart with a group's results."""
    match declared:
        case ByShots():
            return by_shots(declared, group)
        case TwoMetrics():
            return two_metrics(declared, group)
        case Binned():
            return binned(declared, group)
        case Calibration():
            return calibration(declared, group)
        case BySubset():
            return by_subset(declared, group, lines)


# ---- common -------------------------------------------------------------------------------------


def _name(stem: str, group: Group) -> str:
    return f"{stem}_{group.name.lower()}" if group.name else stem


def _title(text: str, group: Group) -> str:
    return f"{text} (group {group.name})" if group.name else text


def _finished(group: Group) -> list[Result]:
    return [result for result in group.results if result.complete]


def _labelled(results: Sequence[Result]) -> Iterator[tuple[str, Result]]:
    """Each result with its system, and its setting where the results differ in it."""
    for result, setting in zip(results, settings_of(results), strict=True):
        yield f"{result.system} ({setting})" if setting else result.system, result


def _axis(metric: Metric, label: str = "", categories: Sequence[str] = ()) -> Axis:
    return Axis(label or metric.name, percent=metric.proportion, categories=tuple(categories))


def _best_first(results: Sequence[Result], metric: Metric) -> list[Result]:
    sign = -1 if metric.direction == "higher" else 1
    return sorted(results, key=lambda result: sign * result.estimates[metric.name].value)


def _with(results: Iterable[Result], name: str) -> list[Result]:
    """The results with a value of this estimate."""
    return [r for r in results if name in r.estimates and math.isfinite(r.estimates[name].value)]


KINDS = {"human": "people", "model": "best published", "baseline": "baseline"}


def _references(results: Sequence[Result], metric: Metric, kinds: Mapping[str, str] = KINDS) -> list[Reference]:
    """People, the best published model and baseline, as far as they are published, each with what differs in it."""
    found = []
    for kind, label in kinds.items():
        figure = best_published(metric, "", results, kind)
        if figure:
            shown = label if kind == "human" else f"{label}: {figure.system}"
            apart = mark(figure, results)
            found.append(Reference(f"{shown} ({apart})" if apart else shown, figure.value, "y", figure.source))
    return found


# ---- metrics ------------------------------------------------------------------------------------


def by_shots(declared: ByShots, group: Group) -> Chart | None:
    """The main metric by system, one series per setting and number of shots."""
    metric = group.benchmark.metrics[0]
    results = _best_first(_with(_finished(group), metric.name), metric)
    if not results:
        return None
    series: dict[str, list[Point]] = {}
    for result, setting in zip(results, settings_of(results), strict=True):
        series.setdefault(setting or metric.name, []).append(point(result.system, result.estimates[metric.name]))
    return Chart(
        _name(declared.name, group),
        _title(declared.title, group),
        Axis("system", categories=tuple(dict.fromkeys(result.system for result in results))),
        _axis(metric, declared.y),
        tuple(Series(name, tuple(points)) for name, points in sorted(series.items())),
        tuple(_references(results, metric)),
        note=INTERVAL,
        source=declared.source,
    )


def two_metrics(declared: TwoMetrics, group: Group) -> Chart | None:
    """One metric against another."""
    metrics = {metric.name: metric for metric in group.benchmark.metrics}
    (x_name, x_label), (y_name, y_label) = declared.x, declared.y
    across, upwards = metrics[x_name], metrics[y_name]
    results = _with(_with(_finished(group), x_name), y_name)
    if not results:
        return None
    axes: tuple[tuple[Metric, Literal["x", "y"]], ...] = ((across, "x"), (upwards, "y"))
    series = []
    for label, result in _labelled(results):
        x, y = result.estimates[x_name], result.estimates[y_name]
        at = Point(x.value, y.value, known(y.low), known(y.high), known(x.low), known(x.high), y.n)
        series.append(Series(label, (at,)))
    return Chart(
        _name(declared.name, group),
        _title(declared.title, group),
        _axis(across, x_label),
        _axis(upwards, y_label),
        tuple(series),
        tuple(
            replace(each, axis=axis)
            for metric, axis in axes
            for each in _references(results, metric, {"human": "people"})
        ),
        diagonal=True,
        note=INTERVAL,
        source=declared.source,
    )


def by_fold(group: Group) -> Chart | None:
    """The main metric in each fold, for runs of all folds."""
    metric = group.benchmark.metrics[0]
    results = [r for r in _with(_finished(group), metric.name) if r.signature.get("fold") == "all"]
    results = _best_first(results, metric)
    if not results:
        return None
    labelled = list(_labelled(results))
    folds: dict[str, list[Point]] = {}
    for label, result in labelled:
        for name, e in result.summaries[metric.name].items():
            folds.setdefault(part_of(name, metric) or "mean of the folds", []).append(point(label, e))
    return Chart(
        _name(f"folds_{group.benchmark.name}", group),
        _title(f"{group.benchmark.name}: {metric.name} by fold", group),
        Axis("system", categories=tuple(label for label, _ in labelled)),
        _axis(metric),
        tuple(Series(name, tuple(points)) for name, points in folds.items()),
        note=INTERVAL,
    )


# ---- numbers ------------------------------------------------------------------------------------


def binned(declared: Binned, group: Group) -> Chart | None:
    """The metrics of the bins at their middles."""
    series = []
    for label, result in _labelled(_finished(group)):
        found = [(middle, result.estimates.get(name)) for name, middle in declared.bins.items()]
        points = tuple(point(middle, e) for middle, e in found if e is not None)
        series += [Series(label, points, "line")] if points else []
    if not series:
        return None
    return Chart(
        _name(declared.name, group),
        _title(declared.title, group),
        Axis(declared.x, low=declared.low, high=declared.high),
        Axis(declared.y, low=0),
        tuple(series),
        note=INTERVAL,
        source=declared.source,
    )


def calibration(declared: Calibration, group: Group) -> Chart | None:
    """The mean target by the rating, in bins of the rating."""
    series = []
    for label, result in _labelled(_finished(group)):
        points = tuple(_calibrated(result.outcomes, declared))
        series += [Series(label, points, "line")] if points else []
    if not series:
        return None
    return Chart(
        _name(declared.name, group),
        _title(declared.title, group),
        Axis(declared.x, low=0, high=declared.high),
        Axis(declared.y, low=0, high=declared.high),
        tuple(series),
        diagonal=True,
        note=f"Replies without a rating are left out. {INTERVAL}",
        source=declared.source,
    )


def _calibrated(outcomes: Iterable[Outcome], declared: Calibration) -> Iterator[Point]:
    width = declared.high / declared.bins
    bins: dict[int, list[tuple[float, float, str]]] = {}
    for o in outcomes:
        if o.answer is not None and o.target is not None:
            rating = float(o.answer)
            bins.setdefault(min(int(rating / width + 1e-9), declared.bins - 1), []).append(
                (rating, float(o.target), o.cluster)
            )
    for _, held in sorted(bins.items()):
        yield point(math.fsum(x for x, _, _ in held) / len(held), clustered_mean(*_two(held)))


def _two(held: Sequence[tuple[float, float, str]]) -> tuple[list[float], list[str]]:
    return [grade for _, grade, _ in held], [cluster for _, _, cluster in held]


# ---- judged -------------------------------------------------------------------------------------


def by_subset(declared: BySubset, group: Group, lines: Sequence[Line]) -> Chart | None:
    """The share of passed points over each named subset."""
    subsets = group.benchmark.display.subsets
    names = subsets.names if subsets else ()
    paths = {result.run.path for result in _finished(group)}
    series = []
    seen: dict[str, None] = {}
    for line in (line for line in lines if line.log.path in paths):
        points = []
        for subset in names:
            found = _share_of(line, subset)
            if found is not None:
                seen[subset] = None
                points.append(point(subset, found))
        series += [Series(line.log.model, tuple(points))] if points else []
    if len(seen) < 2:
        return None
    return Chart(
        _name(declared.name, group),
        _title(declared.title, group),
        Axis(declared.x, categories=tuple(subset for subset in names if subset in seen)),
        Axis(declared.y, percent=True),
        tuple(series),
        note=f"{declared.note} {INTERVAL}",
        source=declared.source,
    )


def _share_of(line: Line, subset: str) -> Estimate | None:
    """The share of passed points of a named subset; None where the run has none of them."""
    try:
        keys = line.log.keys(subset, line.log.dataset or "")
    except BadInput:  # the sample has no such list
        return None
    points = [p for p in line.log.points if p.passed is not None and (keys is None or p.id in keys)]
    return share(points) if points else None


def judge_bias(groups: Sequence[Group]) -> Iterator[Chart]:
    """How often a judge prefers the text shown first, and how often its verdicts differ between the orders.

    One chart per benchmark of pairs: judges of groups that do not compare stand beside each other, because these are
    properties of the judge.
    """
    shown = {"first_shown": "prefers the text shown first", "inconsistent": "verdicts differ between the orders"}
    for benchmark in dict.fromkeys(group.benchmark.name for group in groups):
        series: dict[str, list[Point]] = {}
        results = [r for group in groups if group.benchmark.name == benchmark for r in _finished(group)]
        for label, result in _labelled(results):
            judges = ", ".join(result.run.graders)
            for rate in shown:
                for each in _with([result], rate):
                    name = f"{judges} on {label}" if judges else label
                    series.setdefault(rate, []).append(point(name, each.estimates[rate]))
        if series:
            names = dict.fromkeys(str(p.x) for points in series.values() for p in points)
            yield Chart(
                f"judge_bias_{benchmark}",
                "Judges: position bias",
                Axis("judge", categories=tuple(names)),
                Axis("share", percent=True, low=0, high=1),
                tuple(Series(shown[rate], tuple(points)) for rate, points in series.items()),
                (Reference("no preference for a place", 0.5),),
                note=INTERVAL,
            )


# ---- cost ---------------------------------------------------------------------------------------


def score_by_cost(group: Group, spent: Mapping[Path, Both]) -> Chart | None:
    """The main metric against the cost of the system's replies, for the runs with a known cost."""
    metric = group.benchmark.metrics[0]
    series = []
    for label, result in _labelled(_with(_finished(group), metric.name)):
        system, _ = spent[result.run.path]
        if system and system.cost:
            series.append(Series(label, (point(system.cost, result.estimates[metric.name]),)))
    if not series:
        return None
    return Chart(
        _name(f"score_cost_{group.benchmark.name}", group),
        _title(f"{group.benchmark.name}: score against cost", group),
        Axis("cost of the replies, US dollars", log=True),
        _axis(metric),
        tuple(series),
        note=INTERVAL,
    )
