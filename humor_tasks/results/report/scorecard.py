"""The scorecard: systems by benchmarks, in groups of results that compare, beside published figures.

Results of one benchmark that do not compare are in different groups, and so never in one column. An unfinished run is
shown in the group whose protocol and rows it has; it has no rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.metric import Metric
from humor_tasks.contract.options import parameters_of
from humor_tasks.papers.published import GRADERS, published
from humor_tasks.papers.published import Figure as Published
from humor_tasks.results.comparable import labels_in_column
from humor_tasks.results.report.grouping import Group, groups_of
from humor_tasks.results.result import Result, Results
from humor_tasks.scorers.estimate import Estimate

__all__ = ["Cell", "Column", "Group", "Scorecard", "scorecard"]

IN_COLUMNS = ("setting", "input", "shots", "cot")
"""Entries of a signature by which results of one group are in different columns."""
SPLIT_COLUMNS = {"dataset", "revision", "split", "fold", "shard", "seed", "prompts", "on_unparsed", "subset", "system"}
"""Parameters that are no part of a column's protocol: the group's heading names them, or they are names of files."""
EXTRA_METRICS = {
    "spread": "Spread: the highest less the lowest value under one prompt set.",
    "order_effect": "Order effect: the highest less the lowest value by the place of the right choice.",
}
"""Metric of several askings of an item that stands beside the main one -> what it is, in one sentence."""


@dataclass(frozen=True)
class Cell:
    """One result in one column.

    rank: 1 for the best of the column; None for an unfinished run. label: what tells the result apart from others of
    its system in the column; "" where it is alone. notes: what a reader has to know of the run. beside: see `beside`
    below.
    """

    result: Result
    estimate: Estimate
    rank: int | None
    label: str
    notes: tuple[str, ...]
    beside: Mapping[str, Estimate]


@dataclass(frozen=True)
class Column:
    """One metric of the results of one group and setting.

    key: unique, made of letters and digits. part: the part of the data; "" for all of it. group: the group's name.
    setting: what these runs have in common and those of another column of the group do not. protocol: the whole of it:
    the entries of IN_COLUMNS, and every other parameter that has not its default. cells: the best first, then those of
    unfinished runs. human, best: published figures of people, and of the best model. beside: what keeps the published
    figures from comparison with these runs, one sentence each. others: in what each published figure has another
    protocol, in a few words, by field (human, best).
    """

    key: str
    benchmark: Benchmark
    metric: Metric
    part: str
    group: str
    setting: str
    protocol: str
    cells: tuple[Cell, ...]
    human: Published | None
    best: Published | None
    beside: tuple[str, ...]
    others: Mapping[str, str]

    @property
    def estimate(self) -> str:
        """The name of the estimate: METRIC, or METRIC_PART."""
        return f"{self.metric.name}_{self.part}" if self.part else self.metric.name

    @property
    def title(self) -> str:
        """Benchmark and metric, with group and setting where there are several."""
        apart = "; ".join(text for text in (self.group, self.setting) if text)
        return f"{self.benchmark.name} {self.estimate}" + (f" ({apart})" if apart else "")


@dataclass(frozen=True)
class Scorecard:
    """Systems by columns; the system that is best in the first column first."""

    systems: tuple[str, ...]
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]

    def cells(self, system: str, column: Column) -> tuple[Cell, ...]:
        """The cells of a system in a column: several where it ran more than once."""
        return tuple(cell for cell in column.cells if cell.result.system == system)


def scorecard(results: Results, parts: Sequence[str] = ()) -> Scorecard:
    """The scorecard of the results that have their benchmark's main metric; others are in the tidy table only.

    parts: the parts of the data over which the main metric has a column of its own.
    """
    main = [result for result in results.results if has_main_metric(result)]
    by_name = {benchmark.name: benchmark for benchmark in results.benchmarks}
    groups = [
        group
        for name, benchmark in by_name.items()
        for group in groups_of(benchmark, (result for result in main if result.benchmark.name == name))
    ]
    without_keys = [column for group in groups for column in _columns(group, parts)]
    columns = tuple(replace(column, key=f"c{i}") for i, column in enumerate(without_keys, 1))
    systems = dict.fromkeys(cell.result.system for column in columns for cell in column.cells)
    return Scorecard(tuple(systems), columns, tuple(groups))


def has_main_metric(result: Result) -> bool:
    """Whether a result has its benchmark's main metric; one of a reply's form only, or of no graded reply, has not."""
    return result.benchmark.metrics[0].name in result.estimates


# ---- columns ------------------------------------------------------------------------------------


def _columns(group: Group, parts: Sequence[str]) -> list[Column]:
    """A column per setting and metric of a group."""
    by_setting: dict[str, list[Result]] = {}
    for result, setting in zip(group.results, settings_of(group.results), strict=True):
        by_setting.setdefault(setting, []).append(result)
    return [
        _column(group, metric, part, setting, held)
        for setting, held in by_setting.items()
        for metric, part in _in_columns(group.benchmark, held, parts)
    ]


def settings_of(results: Sequence[Result]) -> list[str]:
    """The setting of each result in words, as far as the results differ in it."""
    names = [n for n in IN_COLUMNS if len({result.signature.get(n, "-") for result in results}) > 1]
    return [", ".join(_worded(name, result.signature.get(name, "-")) for name in names) for result in results]


def protocol_of(results: Sequence[Result]) -> str:
    """The protocol of these results in words, also what all runs of a report share; see `Column`."""
    signed = [result for result in results if result.signature]
    if not signed:
        return ""
    defaults = parameters_of(results[0].benchmark.options)
    parts = []
    for name in dict.fromkeys((*IN_COLUMNS, *defaults)):
        values = list(dict.fromkeys(result.signature.get(name, "-") for result in signed))
        if values == ["-"] or name in SPLIT_COLUMNS:
            continue
        if name in IN_COLUMNS:
            parts.append(" or ".join(_worded(name, value) for value in values))
        elif values != [str(defaults[name].default)]:
            parts.append(f"{name}={' or '.join(values)}")
    return ", ".join(parts)


def _worded(name: str, value: str) -> str:
    if value == "-":
        return f"{name} not recorded"
    if name == "shots":
        return f"{value} shot" if value == "1" else f"{value} shots"
    if name == "cot":
        return "with reasoning" if value == "True" else "no reasoning"
    return value


def _in_columns(benchmark: Benchmark, results: Iterable[Result], parts: Sequence[str]) -> list[tuple[Metric, str]]:
    """The estimates that have a column: the primary metric; where nothing is published of it, also what is; parts."""
    estimated: dict[str, tuple[Metric, str]] = {}
    for result in results:
        for metric in result.opened.reported:
            for name in result.summaries.get(metric.name, ()):
                estimated.setdefault(name, (metric, part_of(name, metric)))
    if not estimated:
        return []
    first = next(iter(estimated))
    figures = published(benchmark.name)
    names = [] if any(figure.estimate == first for figure in figures) else [figure.estimate for figure in figures]
    names += [f"{benchmark.metrics[0].name}_{part}" for part in parts]
    return [estimated[name] for name in dict.fromkeys((first, *names)) if name in estimated]


def part_of(name: str, metric: Metric) -> str:
    """The part of the data in the name of an estimate of this metric; "" for all of it."""
    return name.removeprefix(metric.name).removeprefix("_")


def _column(group: Group, metric: Metric, part: str, setting: str, results: Sequence[Result]) -> Column:
    bare = Column("", group.benchmark, metric, part, group.name, setting, "", (), None, None, (), {})
    held = [result for result in results if bare.estimate in result.estimates]
    sign = -1 if metric.direction == "higher" else 1
    values = {id(result): sign * result.estimates[bare.estimate].value for result in held}
    ranked = [result for result in held if result.complete and values[id(result)] == values[id(result)]]
    ranked.sort(key=lambda result: values[id(result)])
    others = [result for result in held if not any(result is other for other in ranked)]
    labels = dict(zip(map(id, held), labels_in_column(held), strict=True))
    cells = tuple(
        Cell(
            result,
            result.estimates[bare.estimate],
            1 + sum(values[id(other)] < values[id(result)] for other in ranked) if i < len(ranked) else None,
            labels[id(result)],
            result.notes,
            beside(result, metric, part),
        )
        for i, result in enumerate((*ranked, *others))
    )
    human, best = (best_published(metric, part, held, kind) for kind in ("human", "model"))
    return replace(
        bare,
        protocol=protocol_of(held),
        cells=cells,
        human=human,
        best=best,
        beside=tuple(sentences(held, (human, best))),
        others={"human": mark(human, held), "best": mark(best, held)},
    )


def beside(result: Result, metric: Metric, part: str) -> dict[str, Estimate]:
    """What stands beside the main metric of a run that asks each item several times: EXTRA_METRICS's.

    Empty for other metrics, for a part of the data, and for a run that asks each item once.
    """
    main = not part and metric.name == result.benchmark.metrics[0].name
    return {name: result.estimates[name] for name in EXTRA_METRICS if main and name in result.estimates}


def words(name: str) -> str:
    """A metric's name in a text: "order effect"."""
    return name.replace("_", " ")


def explained(columns: Sequence[Column]) -> list[str]:
    """What stands beside the values of these columns, one sentence each."""
    shown = {name for column in columns for cell in column.cells for name in cell.beside}
    return [text for name, text in EXTRA_METRICS.items() if name in shown]


# ---- published figures beside runs --------------------------------------------------------------


class Difference(NamedTuple):
    """An entry of the protocol, its value of a published figure, and those of the runs."""

    name: str
    published: str
    runs: str


def best_published(metric: Metric, part: str, results: Sequence[Result], kind: str) -> Published | None:
    """The best published figure of this kind for a metric of these results, or a part of it."""
    if not results:
        return None
    recorded = {value for result in results for value in result.signature.values()}
    figures = [
        figure
        for figure in published(results[0].benchmark.name)
        if (figure.kind, figure.metric, figure.study, figure.bound) == (kind, metric.name, None, None)
        and (figure.part or "") in (part, *(() if part else recorded))
        and any(_in_protocol(figure, result) for result in results)
    ]
    best = max if metric.direction == "higher" else min
    return best(figures, key=lambda figure: figure.value, default=None)


def _in_protocol(figure: Published, result: Result) -> bool:
    """True if the benchmark has the figure's setting, or if the figure's NAME=VALUE matches the run's."""
    if figure.setting is None:
        return True
    name, equals, value = figure.setting.partition("=")
    if equals:
        return result.signature.get(name) == value
    parameter = parameters_of(result.benchmark.options).get("setting")
    return parameter is not None and figure.setting in parameter.choices


def differences(figure: Published | None, results: Sequence[Result]) -> list[Difference]:
    """The entries of the figure's protocol that the runs have with another value, or not all with that one."""
    if figure is None:
        return []
    different = []
    for name, theirs in figure.declared.items():
        ours = {_value(result, name) for result in results} - {"", "-"}
        if ours - {theirs}:
            different.append(Difference(name, theirs, ", ".join(sorted(ours))))
    return different


def _value(result: Result, name: str) -> str:
    """The run's value of an entry; "" where it records none."""
    if name == GRADERS:
        return ", ".join(result.run.graders)
    return result.signature.get(name, "")


def sentences(results: Sequence[Result], figures: Iterable[Published | None]) -> list[str]:
    """What keeps the published figures from comparison with these results: the data, and the protocol of each."""
    known = [figure for figure in figures if figure is not None]
    if not known or not results:
        return []
    texts = []
    public = _corpus(results)
    data = {str(result.run.source.get("dataset") or result.signature.get("data", "-")) for result in results} - {"-"}
    if data - {public}:
        theirs = public or "a corpus that is not public"
        texts.append(f"The published figures are of {theirs}; these runs are of {', '.join(sorted(data))}.")
    for figure in known:
        if different := differences(figure, results):
            theirs = ", ".join(f"{difference.name} {difference.published}" for difference in different)
            ours = ", ".join(f"{difference.name} {difference.runs}" for difference in different)
            texts.append(f"The published figure of {figure.system} is of {theirs}; these runs are of {ours}.")
    return texts


def _corpus(results: Sequence[Result]) -> str:
    """The name of the corpus that the published figures are of; "" for one that is not public, as MOCK's.

    A benchmark without a default dataset has such a corpus. So has one that compares the texts of another (`of`).
    """
    options: Any = results[0].opened.options
    of = find_benchmark(options.of).options if getattr(options, "of", None) else type(options)
    return str(of.dataset)


def mark(figure: Published | None, results: Sequence[Result]) -> str:
    """ "other fold, setting": the names of what differs, for the place beside the figure; "" where nothing does."""
    names = [difference.name for difference in differences(figure, results)]
    return f"other {', '.join(names)}" if names else ""
