"""From results to everything that a report shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.judging.missing import missing_warning
from humor_tasks.contract.replies import endings_warning
from humor_tasks.errors import BadInput, listed
from humor_tasks.logs.prices import Price
from humor_tasks.results.figures import Chart
from humor_tasks.results.points import part_name, with_verdicts
from humor_tasks.results.read import without_path
from humor_tasks.results.report.charts import charts_of
from humor_tasks.results.report.profile import Profile, profile
from humor_tasks.results.report.scorecard import Scorecard, has_main_metric, scorecard
from humor_tasks.results.report.table import Spending, spent_of, tidy_rows
from humor_tasks.results.result import LeftOut, Result, Results


@dataclass(frozen=True)
class Report:
    """Everything that a report shows; all texts are as the runs have them.

    rows: the tidy table. warnings: what a reader has to know of all of it, one sentence each. spent: tokens and cost of
    each result. profile: None where the benchmarks are of fewer than two abilities.
    """

    results: Results
    rows: tuple[Mapping[str, Any], ...]
    scorecard: Scorecard
    charts: tuple[Chart, ...]
    warnings: tuple[str, ...]
    spent: Spending
    profile: Profile | None = None


def build_report(
    results: Results, prices: Mapping[str, Price] | None = None, hard: str = "hard", anew: bool = False
) -> Report:
    """The report.

    prices: of runs that recorded no cost; with `anew` of all runs. hard: the subset of points, a name or a file, whose
    score has a column. Runs whose verdicts cannot be read are left out. Raises BadInput as `check_subset` does.
    """
    check_subset(hard)
    read, left_out = [], list(results.left_out)
    for result in results.results:
        try:
            read.append(with_verdicts(result, hard))
        except BadInput as problem:
            left_out.append(LeftOut(result.run.path, without_path(result.run.path, problem)))
    results = Results(tuple(read), tuple(left_out))
    spent = {result.key: spent_of(result, prices, anew) for result in read}
    card = scorecard(results, (part_name(hard),))
    return Report(
        results,
        tuple(tidy_rows(read, card.groups, spent)),
        card,
        charts_of(card.groups, spent),
        (*_circular(read, hard), *_missing(read), *_unscored(read), *_unknown(read)),
        spent,
        profile(card, results),
    )


def check_subset(subset: str) -> None:
    """Raise BadInput where a benchmark with subsets of its points has no such subset."""
    for benchmark in BENCHMARKS.values():
        if benchmark.display.subsets:
            benchmark.display.subsets.keys(subset, "")


def _circular(results: Iterable[Result], hard: str) -> Iterator[str]:
    """A warning of the logs that chose the rows of `hard`, a file of `humor-tasks analyse hard-subset`."""
    circular: dict[str, None] = {}
    for result in results:
        subsets, run = result.benchmark.display.subsets, result.run
        if subsets and (run.path.name, run.replayed or run.model) in subsets.source_logs(hard):
            circular[run.path.name] = None
    if circular:
        yield (
            f"{listed('log', list(circular))} chose the rows of {hard} for being failed: their hard scores are "
            "circular, and too low. Compare hard scores of other logs only."
        )


def _missing(results: Iterable[Result]) -> Iterator[str]:
    """The warnings of many missing verdicts, and of how replies ended."""
    for result in filter(has_main_metric, results):
        values = {name: e.value for name, e in result.estimates.items()}
        for warning in filter(None, (missing_warning(values), endings_warning(values))):
            yield f"{result.paths[0].name}: {warning}"


def _unscored(results: Iterable[Result]) -> Iterator[str]:
    """The runs of a judged benchmark without verdicts."""
    results = list(results)
    scored = {result.paths for result in results if has_main_metric(result)}
    for result in results:
        if result.paths not in scored:
            main = result.benchmark.metrics[0].name
            grade = " Grade it with `humor-tasks grade`." if result.benchmark.judging else ""
            yield f"{result.paths[0].name}: has no value of {main}, so that it is not in the scorecard.{grade}"


def _unknown(results: Iterable[Result]) -> list[str]:
    """What the logs of other packages' tasks do not say, once a task."""
    return list(dict.fromkeys(f"{result.benchmark.name}: {text}" for result in results for text in result.unknown))
