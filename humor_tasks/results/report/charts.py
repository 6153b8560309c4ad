"""The charts of a report, each from the scorecard's groups; a chart without data is left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from humor_tasks.contract.card import BaseChart, Binned, ByShots, BySubset, Calibration, TwoMetrics
from humor_tasks.contract.metric import Metric
from humor_tasks.results.figures import Axis, Chart, Point, Reference, Series, known, point
from humor_tasks.results.report.grouping import Group
from humor_tasks.results.report.scorecard import best_published, mark, part_of, settings_of
from humor_tasks.results.report.table import Spending
from humor_tasks.results.result import Result
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.bounded_mean import bounded_mean

INTERVAL = "Bars are 95 % intervals."


def charts_of(groups: Sequence[Group], spent: Spending) -> tuple[Chart, ...]:
    """Every chart that has data, in the order of the report. spent: tokens and cost of each result."""
    declared = [(chart, group) for group in groups for chart in group.benchmark.display.charts]
    declared.sort(key=lambda pair: list(DRAWN).index(type(pair[0])))
    charts = [DRAWN[type(chart)](chart, group) for chart, group in declared]
    charts += [*judge_bias(groups), *map(by_fold, groups)]
    charts += [draw(group) for group in groups for draw in (by_prompt_set, by_place, by_letter)]
    return (*(chart for chart in charts if chart is not None), *cost_charts(groups, spent))


def cost_charts(groups: Sequence[Group], spent: Spending) -> list[Chart]:
    """The chart of score against cost of each group of this package's tasks with a known cost."""
    ours = (group for group in groups if not group.results[0].foreign)
    return [chart for group in ours if (chart := score_by_cost(group, spent)) is not None]


# ---- common -------------------------------------------------------------------------------------


def _chart(
    declared: BaseChart, group: Group, x: Axis, y: Axis, series: Sequence[Series], note: str = INTERVAL, **more: Any
) -> Chart | None:
    """The chart of a group's results; None without series."""
    if not series:
        return None
    return Chart(
        f"{declared.name}_{group.name.lower()}" if group.name else declared.name,
        f"{declared.title} (group {group.name})" if group.name else declared.title,
        x,
        y,
        tuple(series),
        note=note,
        source=declared.source,
        **more,
    )


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
    references = []
    for kind, label in kinds.items():
        figure = best_published(metric, "", results, kind)
        if figure:
            text = label if kind == "human" else f"{label}: {figure.system}"
            apart = mark(figure, results)
            references.append(Reference(f"{text} ({apart})" if apart else text, figure.value, "y", figure.source))
    return references


# ---- metrics ------------------------------------------------------------------------------------


def by_shots(declared: ByShots, group: Group) -> Chart | None:
    """The main metric by system, one series per setting and number of shots."""
    metric = group.benchmark.metrics[0]
    results = _best_first(_with(_finished(group), metric.name), metric)
    series: dict[str, list[Point]] = {}
    for result, setting in zip(results, settings_of(results), strict=True):
        series.setdefault(setting or metric.name, []).append(point(result.system, result.estimates[metric.name]))
    return _chart(
        declared,
        group,
        Axis("system", categories=tuple(dict.fromkeys(result.system for result in results))),
        _axis(metric, declared.y),
        [Series(name, tuple(points)) for name, points in sorted(series.items())],
        references=tuple(_references(results, metric)),
    )


def two_metrics(declared: TwoMetrics, group: Group) -> Chart | None:
    """One metric against another."""
    metrics = {metric.name: metric for metric in group.benchmark.metrics}
    (x_name, x_label), (y_name, y_label) = declared.x, declared.y
    results = _with(_with(_finished(group), x_name), y_name)
    series = []
    for label, result in _labelled(results):
        x, y = result.estimates[x_name], result.estimates[y_name]
        at = Point(x.value, y.value, known(y.low), known(y.high), known(x.low), known(x.high), y.n)
        series.append(Series(label, (at,)))
    only_people = {"human": "people"}
    references = [replace(line, axis="x") for line in _references(results, metrics[x_name], only_people)]
    references += _references(results, metrics[y_name], only_people)
    return _chart(
        declared,
        group,
        _axis(metrics[x_name], x_label),
        _axis(metrics[y_name], y_label),
        series,
        references=tuple(references),
        diagonal=True,
    )


def by_fold(group: Group) -> Chart | None:
    """The main metric in each fold, for runs of all folds."""
    metric = group.benchmark.metrics[0]
    results = [r for r in _with(_finished(group), metric.name) if r.signature.get("fold") == "all"]
    labelled = list(_labelled(_best_first(results, metric)))
    folds: dict[str, list[Point]] = {}
    for label, result in labelled:
        for name, e in result.summaries[metric.name].items():
            folds.setdefault(part_of(name, metric) or "mean of the folds", []).append(point(label, e))
    return _chart(
        BaseChart(f"folds_{group.benchmark.name}", f"{group.benchmark.name}: {metric.name} by fold"),
        group,
        Axis("system", categories=tuple(label for label, _ in labelled)),
        _axis(metric),
        [Series(name, tuple(points)) for name, points in folds.items()],
    )


# ---- several askings of an item ----------------------------------------------------------------


def by_prompt_set(group: Group) -> Chart | None:
    """The main metric over all prompt sets with its interval, beside one dot a set."""
    metric = group.benchmark.metrics[0]
    labelled = list(_labelled(_best_first(_with(_finished(group), metric.name), metric)))
    series = [Series("all sets", tuple(point(label, r.estimates[metric.name]) for label, r in labelled))]
    for letter in group.results[0].opened.variations.sets:
        name = f"{metric.name}_set_{letter}"
        dots = [Point(label, e.value, n=e.n) for label, r in labelled if (e := r.estimates.get(name)) is not None]
        series.append(Series(f"set {letter}", tuple(dots)))
    return _chart(
        BaseChart(
            f"prompt_sets_{group.benchmark.name}", f"{group.benchmark.name}: {metric.name} under each prompt set"
        ),
        group,
        Axis("system", categories=tuple(label for label, _ in labelled)),
        _axis(metric),
        series if labelled and len(series) > 1 else (),
        "The bar is the 95 % interval over all sets; those of single sets are in the tables.",
    )


def by_place(group: Group) -> Chart | None:
    """The main metric by the place of the right choice."""
    metric = group.benchmark.metrics[0]
    declared = BaseChart(
        f"places_{group.benchmark.name}", f"{group.benchmark.name}: {metric.name} by the place of the right choice"
    )
    x = Axis("the right choice", categories=tuple(group.results[0].opened.variations.letters))
    return _chart(declared, group, x, _axis(metric), _by_letters(group, f"{metric.name}_right_at"))


def by_letter(group: Group) -> Chart | None:
    """How often each letter is the answer, against the share in which it is right."""
    declared = BaseChart(f"letters_{group.benchmark.name}", f"{group.benchmark.name}: share of answers by letter")
    letters = group.results[0].opened.variations.letters
    lines = (Reference(f"share of right answers, 1/{len(letters)}", 1 / len(letters)),) if letters else ()
    x, y = Axis("answer", categories=tuple(letters)), Axis("share of answers", percent=True, low=0)
    return _chart(declared, group, x, y, _by_letters(group, "letter_share"), references=lines)


def _by_letters(group: Group, start: str) -> list[Series]:
    """The metrics START_A, START_B, ... of each finished run."""
    series = []
    for label, result in _labelled(_finished(group)):
        found = {letter: result.estimates.get(f"{start}_{letter}") for letter in result.opened.variations.letters}
        points = tuple(point(letter, e) for letter, e in found.items() if e is not None)
        series += [Series(label, points)] if points else []
    return series


# ---- numbers ------------------------------------------------------------------------------------


def binned(declared: Binned, group: Group) -> Chart | None:
    """The metrics of the bins at their middles."""
    series = []
    for label, result in _labelled(_finished(group)):
        estimates = [(middle, result.estimates.get(name)) for name, middle in declared.bins.items()]
        points = tuple(point(middle, e) for middle, e in estimates if e is not None)
        series += [Series(label, points, "line")] if points else []
    x = Axis(declared.x, low=declared.low, high=declared.high)
    return _chart(declared, group, x, Axis(declared.y, low=0), series)


def calibration(declared: Calibration, group: Group) -> Chart | None:
    """The mean target by the rating, in bins of the rating."""
    series = []
    for label, result in _labelled(_finished(group)):
        points = tuple(_calibrated(result.outcomes, declared))
        series += [Series(label, points, "line")] if points else []
    x, y = (Axis(label, low=0, high=declared.high) for label in (declared.x, declared.y))
    note = f"Replies without a rating are left out. {INTERVAL}"
    return _chart(declared, group, x, y, series, note, diagonal=True)


def _calibrated(outcomes: Iterable[Outcome], declared: Calibration) -> Iterator[Point]:
    width = declared.high / declared.bins
    bins: dict[int, list[tuple[float, float, str]]] = {}
    for o in outcomes:
        if o.answer is not None and o.target is not None:
            rating = float(o.answer)
            bins.setdefault(min(int(rating / width + 1e-9), declared.bins - 1), []).append(
                (rating, float(o.target), o.cluster)
            )
    for _, rated in sorted(bins.items()):
        ratings, targets, clusters = zip(*rated, strict=True)
        yield point(math.fsum(ratings) / len(ratings), bounded_mean(targets, clusters, 0, declared.high))


# ---- judged -------------------------------------------------------------------------------------


def by_subset(declared: BySubset, group: Group) -> Chart | None:
    """The main metric over each named subset."""
    metric = group.benchmark.metrics[0]
    subsets = group.benchmark.display.subsets
    names = {name: f"{metric.name}_{name}" for name in (subsets.names if subsets else ())} | {"all": metric.name}
    series = []
    for label, result in _labelled(_with(_finished(group), metric.name)):
        estimates = {name: result.estimates.get(estimate) for name, estimate in names.items()}
        points = [point(name, e) for name, e in estimates.items() if e is not None and e.n]
        series.append(Series(label, tuple(points)))
    present = {p.x for s in series for p in s.points}
    categories = tuple(name for name in names if name in present)
    x, y = Axis(declared.x, categories=categories), _axis(metric, declared.y)
    return _chart(declared, group, x, y, series if len(present) > 1 else (), f"{declared.note} {INTERVAL}")


BIAS = {"first_shown": "prefers the text shown first", "inconsistent": "verdicts differ between the orders"}
"""Metric of a benchmark of pairs -> what it says of a judge."""


def judge_bias(groups: Sequence[Group]) -> Iterator[Chart]:
    """How often a judge prefers the text shown first, and how often its verdicts differ between the orders.

    One chart per benchmark of pairs: judges of groups that do not compare stand beside each other, because these are
    properties of the judge.
    """
    for benchmark in dict.fromkeys(group.benchmark.name for group in groups):
        series: dict[str, list[Point]] = {}
        results = [r for group in groups if group.benchmark.name == benchmark for r in _finished(group)]
        for label, result in _labelled(results):
            judges = ", ".join(result.run.graders)
            for rate in BIAS:
                if _with([result], rate):
                    name = f"{judges} on {label}" if judges else label
                    series.setdefault(rate, []).append(point(name, result.estimates[rate]))
        if series:
            names = dict.fromkeys(str(p.x) for points in series.values() for p in points)
            yield Chart(
                f"judge_bias_{benchmark}",
                "Judges: position bias",
                Axis("judge", categories=tuple(names)),
                Axis("share", percent=True, low=0, high=1),
                tuple(Series(BIAS[rate], tuple(points)) for rate, points in series.items()),
                (Reference("no preference for a place", 0.5),),
                note=INTERVAL,
            )


# ---- cost ---------------------------------------------------------------------------------------


def score_by_cost(group: Group, spent: Spending) -> Chart | None:
    """The main metric against the cost of the system's replies, for the runs with a known cost."""
    metric = group.benchmark.metrics[0]
    series = []
    for label, result in _labelled(_with(_finished(group), metric.name)):
        system, _ = spent[result.key]
        if system and system.cost:
            series.append(Series(label, (point(system.cost, result.estimates[metric.name]),)))
    name = group.benchmark.name
    declared = BaseChart(f"score_cost_{name}", f"{name}: score against cost")
    return _chart(declared, group, Axis("cost of the replies, US dollars", log=True), _axis(metric), series)


DRAWN: dict[type[Any], Callable[[Any, Group], Chart | None]] = {
    ByShots: by_shots,
    TwoMetrics: two_metrics,
    Binned: binned,
    Calibration: calibration,
    BySubset: by_subset,
}
"""Each kind of chart that benchmarks declare -> how it is drawn, in the order of the report."""
