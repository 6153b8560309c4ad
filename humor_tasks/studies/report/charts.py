"""The charts of a report, each from the scorecard's groups; a chart without data is left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from humor_tasks.benchmarks.humicroedit.rating import BINS
from humor_tasks.benchmarks.humorbench.corpus import SUBSETS, subset_keys
from humor_tasks.benchmarks.metric import Metric
from humor_tasks.data.records import Outcome
from humor_tasks.errors import BadInput
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.studies.report.beside import best_published, mark
from humor_tasks.studies.report.chart import Axis, Chart, Point, Reference, Series, known, point
from humor_tasks.studies.report.grouping import Group
from humor_tasks.studies.report.scorecard import part_of, settings_of
from humor_tasks.studies.report.spent import Both
from humor_tasks.studies.report.table import Line, share
from humor_tasks.studies.results.result import Result

INTERVAL = "Bars are 95 % intervals."
WIDTH = 0.2
"""The width of a bin of the scale from 0 to 3."""


def charts_of(groups: Sequence[Group], lines: Sequence[Line], spent: Mapping[Path, Both]) -> tuple[Chart, ...]:
    """Every chart that has data, in the order of the report. lines: HumorBench's table. spent:
    tokens and cost by the path of a run."""
    makers: dict[str, Callable[[Group], Chart | None]] = {
        "matching": by_shots,
        "ranking": crowd_against_editors,
        "humicroedit_rating": error_by_funniness,
    }
    found = [makers[name](group) for name in makers for group in groups if group.benchmark.name == name]
    found += [calibration(group) for group in groups if group.benchmark.name == "humicroedit_rating"]
    found += [by_category(group, lines) for group in groups if group.benchmark.name == "humorbench"]
    found += [*judge_bias(groups), *map(by_fold, groups)]
    found += [score_by_cost(group, spent) for group in groups]
    return tuple(chart for chart in found if chart is not None)


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


# ---- caption contest ----------------------------------------------------------------------------


def by_shots(group: Group) -> Chart | None:
    """Matching accuracy by system, one series per setting and number of shots."""
    metric = group.benchmark.metrics[0]
    results = _best_first(_with(_finished(group), metric.name), metric)
    if not results:
        return None
    series: dict[str, list[Point]] = {}
    for result, setting in zip(results, settings_of(results), strict=True):
        series.setdefault(setting or metric.name, []).append(point(result.system, result.estimates[metric.name]))
    return Chart(
        _name("matching_by_shots", group),
        _title("Matching: accuracy by system and shots", group),
        Axis("system", categories=tuple(dict.fromkeys(result.system for result in results))),
        _axis(metric, "accuracy"),
        tuple(Series(name, tuple(points)) for name, points in sorted(series.items())),
        tuple(_references(results, metric)),
        note=INTERVAL,
    )


def crowd_against_editors(group: Group) -> Chart | None:
    """Accuracy over the crowd's choices against that over the editors'."""
    metrics = {metric.name: metric for metric in group.benchmark.metrics}
    crowd, editors = metrics["crowd_accuracy"], metrics["ny_accuracy"]
    results = _with(_with(_finished(group), crowd.name), editors.name)
    if not results:
        return None
    axes: tuple[tuple[Metric, Literal["x", "y"]], ...] = ((crowd, "x"), (editors, "y"))
    series = []
    for label, result in _labelled(results):
        x, y = result.estimates[crowd.name], result.estimates[editors.name]
        at = Point(x.value, y.value, known(y.low), known(y.high), known(x.low), known(x.high), y.n)
        series.append(Series(label, (at,)))
    return Chart(
        _name("ranking_people", group),
        _title("Ranking: the crowd's choices against the editors'", group),
        _axis(crowd, "accuracy over the crowd's choices (CrowdAcc)"),
        _axis(editors, "accuracy over the editors' choices (NYAcc)"),
        tuple(series),
        tuple(
            replace(each, axis=axis)
            for metric, axis in axes
            for each in _references(results, metric, {"human": "people"})
        ),
        diagonal=True,
        note=INTERVAL,
        source="Hessel et al. 2023, figures 12 and 13",
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


# ---- Humicroedit --------------------------------------------------------------------------------


def error_by_funniness(group: Group) -> Chart | None:
    """Mean absolute error by the headline's mean grade."""
    series = []
    for label, result in _labelled(_finished(group)):
        binned = [(float(name.removeprefix("mae_")), result.estimates.get(name)) for name in BINS]
        points = tuple(point(round(low + WIDTH / 2, 1), e) for low, e in binned if e is not None)
        series += [Series(label, points, "line")] if points else []
    if not series:
        return None
    return Chart(
        _name("humicroedit_error", group),
        _title("Humicroedit: error by funniness", group),
        Axis("mean grade of the headline, bins of 0.2", low=0, high=3),
        Axis("mean absolute error", low=0),
        tuple(series),
        note=INTERVAL,
        source="Hossain et al. 2020, SemEval-2020 Task 7",
    )


def calibration(group: Group) -> Chart | None:
    """Mean grade by the rating, in bins of the rating."""
    series = []
    for label, result in _labelled(_finished(group)):
        points = tuple(_calibrated(result.outcomes))
        series += [Series(label, points, "line")] if points else []
    if not series:
        return None
    return Chart(
        _name("humicroedit_calibration", group),
        _title("Humicroedit: calibration of the ratings", group),
        Axis("mean rating, bins of 0.2", low=0, high=3),
        Axis("mean grade", low=0, high=3),
        tuple(series),
        diagonal=True,
        note=f"Replies without a rating are left out. {INTERVAL}",
    )


def _calibrated(outcomes: Iterable[Outcome]) -> Iterator[Point]:
    bins: dict[int, list[tuple[float, float, str]]] = {}
    for o in outcomes:
        if o.answer is not None and o.target is not None:
            rating = float(o.answer)
            bins.setdefault(min(int(rating / WIDTH + 1e-9), len(BINS) - 1), []).append(
                (rating, float(o.target), o.cluster)
            )
    for _, held in sorted(bins.items()):
        yield point(math.fsum(x for x, _, _ in held) / len(held), clustered_mean(*_two(held)))


def _two(held: Sequence[tuple[float, float, str]]) -> tuple[list[float], list[str]]:
    return [grade for _, grade, _ in held], [cluster for _, _, cluster in held]


# ---- judged -------------------------------------------------------------------------------------


def by_category(group: Group, lines: Sequence[Line]) -> Chart | None:
    """HumorBench's coverage over all elements and over each named subset."""
    paths = {result.run.path for result in _finished(group)}
    series = []
    seen: dict[str, None] = {}
    for line in (line for line in lines if line.log.path in paths):
        points = []
        for subset in SUBSETS:
            found = category(line, subset)
            if found is not None:
                seen[subset] = None
                points.append(point(subset, found))
        series += [Series(line.log.model, tuple(points))] if points else []
    if len(seen) < 2:
        return None
    return Chart(
        _name("humorbench_categories", group),
        _title("HumorBench: coverage by category", group),
        Axis("category", categories=tuple(subset for subset in SUBSETS if subset in seen)),
        Axis("coverage", percent=True),
        tuple(series),
        note=f"Elements without a verdict are left out. {INTERVAL}",
        source="Narad et al. 2025",
    )


def category(line: Line, subset: str) -> Estimate | None:
    """The coverage of the elements of a named subset; None where the run has none of them."""
    try:
        keys = subset_keys(subset, line.log.dataset or "")
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
