"""Published figures beside runs: which one, and in what its protocol differs from that of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from humor_tasks.benchmarks.metric import Metric
from humor_tasks.benchmarks.options import parameters_of
from humor_tasks.data.published import GRADERS, Figure, published
from humor_tasks.results.result import Result


class Difference(NamedTuple):
    """An entry of the protocol, its value of a published figure, and those of the runs."""

    name: str
    published: str
    runs: str


def best_published(metric: Metric, part: str, results: Sequence[Result], kind: str) -> Figure | None:
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


def _in_protocol(figure: Figure, result: Result) -> bool:
    """Whether the setting of a figure is one that the benchmark has, or is told as NAME=VALUE and that of the run."""
    if figure.setting is None:
        return True
    name, equals, value = figure.setting.partition("=")
    if equals:
        return result.signature.get(name) == value
    parameter = parameters_of(result.benchmark.options).get("setting")
    return parameter is not None and figure.setting in parameter.choices


def differences(figure: Figure | None, results: Sequence[Result]) -> list[Difference]:
    """The entries of the figure's protocol that the runs have with another value, or not all with that one."""
    if figure is None:
        return []
    found = []
    for name, theirs in figure.declared.items():
        ours = {_value(result, name) for result in results} - {"", "-"}
        if ours - {theirs}:
            found.append(Difference(name, theirs, ", ".join(sorted(ours))))
    return found


def _value(result: Result, name: str) -> str:
    """The run's value of an entry; "" where it records none."""
    if name == GRADERS:
        return ", ".join(result.run.graders)
    return result.signature.get(name, "")


def sentences(results: Sequence[Result], figures: Iterable[Figure | None]) -> list[str]:
    """What keeps the published figures from comparison with these results: the data, and the protocol of each."""
    known = [figure for figure in figures if figure is not None]
    if not known or not results:
        return []
    told = []
    public = type(results[0].opened.options).dataset
    data = {str(result.run.source.get("dataset") or result.signature.get("data", "-")) for result in results} - {"-"}
    if public and data - {public}:
        told.append(f"The published figures are of {public}; these runs are of {', '.join(sorted(data))}.")
    for figure in known:
        if found := differences(figure, results):
            theirs = ", ".join(f"{each.name} {each.published}" for each in found)
            ours = ", ".join(f"{each.name} {each.runs}" for each in found)
            told.append(f"The published figure of {figure.system} is of {theirs}; these runs are of {ours}.")
    return told


def mark(figure: Figure | None, results: Sequence[Result]) -> str:
    """ "other fold, setting": the names of what differs, for the place beside the figure; "" where nothing does."""
    found = [each.name for each in differences(figure, results)]
    return f"other {', '.join(found)}" if found else ""
