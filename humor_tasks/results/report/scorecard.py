"""The scorecard: systems by benchmarks, in groups of results that compare, beside published figures.

Results of one benchmark that do not compare are in different groups, and so never in one column. An unfinished run is
shown in the group whose protocol and rows it has; it has no rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from humor_tasks.benchmarks.definition import Benchmark
from humor_tasks.benchmarks.metric import Metric
from humor_tasks.benchmarks.options import parameters_of
from humor_tasks.data.published import Figure as Published
from humor_tasks.data.published import published
from humor_tasks.results.comparable import SETTINGS, UNTOLD
from humor_tasks.results.report.beside import best_published, mark, sentences
from humor_tasks.results.report.grouping import Group, groups_of
from humor_tasks.results.result import Result, Results
from humor_tasks.scorers.estimate import Estimate

__all__ = ["Cell", "Column", "Group", "Scorecard", "scorecard"]

IN_COLUMNS = ("setting", "input", "shots", "cot")
"""Entries of a signature by which results of one group are in different columns."""
APART = {"dataset", "revision", "split", "fold", "shard", "seed", "prompts", "on_unparsed", "subset", "system"}
"""Parameters that are no part of a column's protocol: the group's heading names them, or they are names of files."""
BESIDE = ("generation", "chat_template")
"""Entries of a signature that stand beside a result wherever results of one column differ in them."""


@dataclass(frozen=True)
class Cell:
    """One result in one column.

    rank: 1 for the best of the column; None for an unfinished run. label: what tells the result apart from others of
    its system in the column; "" where it is alone. notes: what a reader has to know of the run.
    """

    result: Result
    estimate: Estimate
    rank: int | None
    label: str
    notes: tuple[str, ...]


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
        apart = "; ".join(each for each in (self.group, self.setting) if each)
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


def scorecard(results: Results) -> Scorecard:
    """The scorecard of the results that have their benchmark's main metric; others are in the tidy table only."""
    main = [result for result in results.results if has_main_metric(result)]
    by_name = {benchmark.name: benchmark for benchmark in results.benchmarks}
    groups = [
        group
        for name, benchmark in by_name.items()
        for group in groups_of(benchmark, (result for result in main if result.benchmark.name == name))
    ]
    found = [column for group in groups for column in _columns(group)]
    columns = tuple(replace(column, key=f"c{i}") for i, column in enumerate(found, 1))
    systems = dict.fromkeys(cell.result.system for column in columns for cell in column.cells)
    return Scorecard(tuple(systems), columns, tuple(groups))


def has_main_metric(result: Result) -> bool:
    """Whether a result has its benchmark's main metric; one of a reply's form only, or of no graded reply, has not."""
    return result.benchmark.metrics[0].name in result.estimates


# ---- columns ------------------------------------------------------------------------------------


def _columns(group: Group) -> list[Column]:
    """A column per setting and metric of a group."""
    by_setting: dict[str, list[Result]] = {}
    for result, setting in zip(group.results, settings_of(group.results), strict=True):
        by_setting.setdefault(setting, []).append(result)
    return [
        _column(group, metric, part, setting, held)
        for setting, held in by_setting.items()
        for metric, part in _shown(group.benchmark, held)
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
    told = []
    for name in dict.fromkeys((*IN_COLUMNS, *defaults)):
        values = list(dict.fromkeys(result.signature.get(name, "-") for result in signed))
        if values == ["-"] or name in APART:
            continue
        if name in IN_COLUMNS:
            told.append(" or ".join(_worded(name, value) for value in values))
        elif values != [str(defaults[name].default)]:
            told.append(f"{name}={' or '.join(values)}")
    return ", ".join(told)


def _worded(name: str, value: str) -> str:
    if value == "-":
        return f"{name} not recorded"
    if name == "shots":
        return f"{value} shot" if value == "1" else f"{value} shots"
    if name == "cot":
        return "with reasoning" if value == "True" else "no reasoning"
    return value


def _shown(benchmark: Benchmark, results: Iterable[Result]) -> list[tuple[Metric, str]]:
    """The estimates that have a column: the primary metric; where nothing is published of it, also what is."""
    estimated: dict[str, tuple[Metric, str]] = {}
    for result in results:
        for metric in benchmark.reported:
            for name in result.summaries.get(metric.name, ()):
                estimated.setdefault(name, (metric, part_of(name, metric)))
    if not estimated:
        return []
    first = next(iter(estimated))
    figures = published(benchmark.name)
    names = [] if any(figure.estimate == first for figure in figures) else [figure.estimate for figure in figures]
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
    others = [result for result in held if not any(result is each for each in ranked)]
    labels = dict(zip(map(id, held), _labels(held), strict=True))
    cells = tuple(
        Cell(
            result,
            result.estimates[bare.estimate],
            1 + sum(values[id(each)] < values[id(result)] for each in ranked) if i < len(ranked) else None,
            labels[id(result)],
            result.notes,
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


def _labels(results: Sequence[Result]) -> list[str]:
    """What tells each result apart from others of its system: harness, settings, and else the file."""
    labels = []
    for result in results:
        same = [each for each in results if each.system == result.system]
        others = dict.fromkeys((*SETTINGS, *(name for each in same for name in each.signature)))
        names = [n for n in others if n not in UNTOLD and len({each.signature.get(n, "-") for each in same}) > 1]
        names += [n for n in BESIDE if n not in names and len({each.signature.get(n, "-") for each in results}) > 1]
        told: list[str] = [result.run.harness] if len({each.run.harness for each in same}) > 1 else []
        told += [f"{name} {result.signature.get(name, '-')}" for name in names]
        labels.append(", ".join(told))
    repeated = Counter(zip((result.system for result in results), labels, strict=True))
    return [
        ", ".join(filter(None, (label, str(result.paths[0])))) if repeated[result.system, label] > 1 else label
        for result, label in zip(results, labels, strict=True)
    ]
