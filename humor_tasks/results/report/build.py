"""From results to everything that a report shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.judging import missing_warning
from humor_tasks.data.prices import Price
from humor_tasks.results.report.chart import Chart
from humor_tasks.results.report.charts import charts_of
from humor_tasks.results.report.graded import graded
from humor_tasks.results.report.scorecard import Scorecard, has_main_metric, scorecard
from humor_tasks.results.report.spent import Both, spent_of
from humor_tasks.results.report.table import Line, circular, incomparable, lines_of
from humor_tasks.results.report.tidy import tidy_rows
from humor_tasks.results.result import Result, Results


@dataclass(frozen=True)
class Report:
    """Everything that a report shows; all texts are as the runs have them.

    rows: the tidy table. judged: by benchmark, the table of its judged points with tokens and cost, for benchmarks that
    declare subsets of their points. warnings: what a reader has to know of all of it, one sentence each. spent: tokens
    and cost by the path of a run.
    """

    results: Results
    rows: tuple[Mapping[str, Any], ...]
    scorecard: Scorecard
    charts: tuple[Chart, ...]
    judged: Mapping[str, tuple[Line, ...]]
    warnings: tuple[str, ...]
    spent: Mapping[Path, Both]


def build_report(
    results: Results, prices: Mapping[str, Price] | None = None, hard: str = "hard", anew: bool = False
) -> Report:
    """The report.

    prices: of runs that recorded no cost; with `anew` of all runs. hard: the subset of the hard score, a name or a
    file. Raises BadInput as `check_subset` does.
    """
    check_subset(hard)
    spent = {r.run.path: spent_of(r.run, r.benchmark.judging is not None, prices, anew) for r in results.results}
    card = scorecard(results)
    with_points = [r for r in results.results if r.benchmark.display.subsets and has_main_metric(r)]
    judged = {
        name: tuple(lines_of([graded(r.run, prices, anew) for r in with_points if r.benchmark.name == name], hard))
        for name in dict.fromkeys(r.benchmark.name for r in with_points)
    }
    warnings = [told for lines in judged.values() for told in (*incomparable(lines), *circular(lines, hard))]
    warnings += [*_missing(results.results), *_unscored(results.results)]
    return Report(
        results,
        tuple(tidy_rows(results.results, card.groups, spent)),
        card,
        charts_of(card.groups, [line for lines in judged.values() for line in lines], spent),
        judged,
        tuple(warnings),
        spent,
    )


def check_subset(subset: str) -> None:
    """Raise BadInput where a benchmark with subsets of its points has no such subset."""
    for benchmark in BENCHMARKS.values():
        if benchmark.display.subsets:
            benchmark.display.subsets.keys(subset, "")


def _missing(results: Iterable[Result]) -> Iterator[str]:
    """The warnings of many missing verdicts."""
    for result in filter(has_main_metric, results):
        told = missing_warning({name: e.value for name, e in result.estimates.items()})
        if told:
            yield f"{result.paths[0].name}: {told}"


def _unscored(results: Iterable[Result]) -> Iterator[str]:
    """The runs of a judged benchmark without verdicts."""
    results = list(results)
    scored = {result.paths for result in results if has_main_metric(result)}
    for result in results:
        if result.paths not in scored:
            main = result.benchmark.metrics[0].name
            grade = " Grade it with `humor-tasks grade`." if result.benchmark.judging else ""
            yield f"{result.paths[0].name}: has no value of {main}, so that it is not in the scorecard.{grade}"
