"""The profile: what each model understands of humour, ability by ability, and what tells two or three models apart.

A row is a model, a column the main metric of one benchmark, in the order of `contract.suites.ABILITIES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from humor_tasks.contract.suites import ABILITIES
from humor_tasks.errors import BadInput
from humor_tasks.files.tables import short
from humor_tasks.results.compare import adjusted_text, compare, signed
from humor_tasks.results.levels import levels
from humor_tasks.results.report.scorecard import Column, Scorecard
from humor_tasks.results.report.table import PUBLISHED, TextTable, cells_text, published_cell, unit, value_text
from humor_tasks.results.result import Results

NO_OVERALL = (
    "There is no overall score: the abilities have different scales, levels of chance and rows, and a mean over them "
    "would rank models by the tasks that are in it."
)
OTHER_ROWS = "Published values are of other rows or another protocol where the scorecard says so."
SAMPLE_ROWS = (
    "The rows are the packaged sample, invented to try tasks out: these scores compare with no published value."
)
MOST = 3
"""Models up to which every two are compared."""


@dataclass(frozen=True)
class Profile:
    """models: the profile itself. differences: of every two models; None for one model, or more than MOST."""

    models: TextTable
    differences: TextTable | None
    notes: tuple[str, ...]

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """Both tables, as far as they are there."""
        return (self.models, self.differences) if self.differences else (self.models,)


def profile(card: Scorecard, results: Results) -> Profile | None:
    """The profile of a scorecard; None where its benchmarks are of fewer than two abilities."""
    columns = [
        column
        for column in card.columns
        if column.benchmark.ability and column.estimate == column.benchmark.metrics[0].name
    ]
    columns.sort(key=lambda column: list(ABILITIES).index(column.benchmark.ability))
    if len({column.benchmark.ability for column in columns}) < 2:
        return None
    rows = [
        (short(system), *(cells_text(card, system, column) for column in columns))
        for system in card.systems
        if any(card.cells(system, column) for column in columns)
    ]
    beside = [("chance", *map(_chance, columns))]
    beside += [(name, *(published_cell(column, field) for column in columns)) for name, field in PUBLISHED.items()]
    rows += [row for row in beside if set(row[1:]) != {"-"}]
    models = TextTable(
        "The main metric of each benchmark, with its 95 % interval", ("model", *map(_heading, columns)), tuple(rows)
    )
    cells = [cell for column in columns for cell in column.cells]
    notes = [NO_OVERALL, *([OTHER_ROWS] if any(column.beside for column in columns) else [])]
    notes += [SAMPLE_ROWS] if any(cell.result.run.source.get("dataset") == "sample" for cell in cells) else []
    return Profile(models, _differences(results, columns), tuple(notes))


def _heading(column: Column) -> str:
    percent = ", %" if unit(column.metric) else ""
    arrow = "" if column.metric.direction == "higher" else ", lower is better"
    return f"{ABILITIES[column.benchmark.ability]}: {column.title}{percent}{arrow}"


def _chance(column: Column) -> str:
    """The level of a guess of the main metric."""
    of_main = next(each for each in levels(column.benchmark) if each.metric.name == column.metric.name)
    level = next((each for each in of_main.chance if each.estimate == column.metric.name), None)
    return "-" if level is None else value_text(level.value, column.metric)


def _differences(results: Results, columns: Sequence[Column]) -> TextTable | None:
    """The paired differences of every two models by the main metrics, with Holm's correction over all of them."""
    shown = {id(cell.result) for column in columns for cell in column.cells if cell.result.complete}
    held = Results(tuple(result for result in results.results if id(result) in shown))
    if not 2 <= len({result.system for result in held.results}) <= MOST:
        return None
    try:
        rows = tuple(_rows(held))
    except BadInput:  # no two of them compare; the scorecard says why
        return None
    head = ("ability", "benchmark", "first", "second", "first - second", "p (Holm)", "items / clusters")
    count = len(rows)
    title = (
        f"Paired differences on common items, with 95 % intervals by cluster; p after Holm's correction over {count}"
    )
    return TextTable(title, head, rows)


def _rows(held: Results) -> Iterator[tuple[str, ...]]:
    by_name = {benchmark.name: benchmark for benchmark in held.benchmarks}
    order = list(ABILITIES)
    compared = compare(held).benchmarks
    for each in sorted(compared, key=lambda each: order.index(by_name[each.benchmark].ability)):
        for comparison in each.comparisons:
            e = comparison.test.difference
            yield (
                ABILITIES[by_name[each.benchmark].ability],
                f"{each.benchmark} {each.metric}",
                short(comparison.first.label),
                short(comparison.second.label),
                signed(e),
                adjusted_text(comparison.test),
                f"{e.n} / {e.clusters}",
            )
