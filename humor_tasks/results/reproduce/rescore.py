"""The scores of a finished run, computed again from its log: no model and no grader is asked.

Replies are read again by the rules of the log, or by others; grades are counted again from the verdicts in the log.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.preference import judging_of
from humor_tasks.contract.answers import Choice
from humor_tasks.contract.definition import Benchmark, Run
from humor_tasks.contract.judging.questions import JUDGED, damaged, panels_in
from humor_tasks.contract.options import parameters_of, read_parameters
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.logs import LoggedSample, Scored
from humor_tasks.results import LeftOut, Result, read_results
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.scorers.estimate import Estimate

RULES = ("extraction", "on_unparsed", "seed", "thinking")
"""The parameters that change how a reply counts, and not what was asked."""
READ_BY_NAME = "multiple_choice_"
"""A scorer named so reads letters by the rule that ends its name."""


@dataclass(frozen=True)
class Item:
    """The outcome of one reply, logged and computed again."""

    id: str
    epoch: int
    logged: Outcome
    rescored: Outcome

    @property
    def changed(self) -> bool:
        """Whether the reply is read or valued in another way."""
        one, two = self.logged, self.rescored
        return (one.status, one.answer, one.values) != (two.status, two.answer, two.values)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        both = {"logged": self.logged, "rescored": self.rescored}
        scores = {n: {"status": o.status, "answer": o.answer, "values": dict(o.values)} for n, o in both.items()}
        return {"id": self.id, "epoch": self.epoch, "target": self.logged.target} | scores


@dataclass(frozen=True)
class Rescored:
    """The scores of one scorer; `changed` are the parameters that differ from the log's."""

    result: Result
    changed: Mapping[str, Any]
    items: tuple[Item, ...]
    estimates: Mapping[str, Estimate]

    @property
    def lines(self) -> Iterator[tuple[str, float, float, float]]:
        """(name, logged, rescored, difference) of each metric; nan where it has no value."""
        names = dict.fromkeys((*self.result.estimates, *self.estimates))
        for name in names:
            logged, again = (e[name].value if name in e else math.nan for e in (self.result.estimates, self.estimates))
            yield name, logged, again, 0.0 if logged == again else again - logged

    def as_dict(self, items: bool = False) -> dict[str, Any]:
        """For JSON; an undefined number is None. With `items`, also the outcome of every reply."""

        def number(value: float) -> float | None:
            return value if math.isfinite(value) else None

        columns = ("logged", "rescored", "difference")
        metrics = {name: dict(zip(columns, map(number, rest), strict=True)) for name, *rest in self.lines}
        about: dict[str, Any] = {
            "logs": [str(path) for path in self.result.paths],
            "system": self.result.system,
            "benchmark": self.result.benchmark.name,
            "scorer": self.result.scorer,
            "changed": dict(self.changed),
        }
        about |= {"replies": len(self.items), "changed_replies": sum(item.changed for item in self.items)}
        about |= {"notes": list(self.result.notes), "metrics": metrics}
        return about | ({"items": [item.as_dict() for item in self.items]} if items else {})


def rescore(paths: Sequence[Path], given: Sequence[tuple[str, str]] = ()) -> tuple[list[Rescored], Sequence[LeftOut]]:
    """The scores of each run and scorer in logs, folders of logs and parts of runs, and what was left out of them.

    given: parameters as name and text. Raises BadInput where there is no log of this package's tasks, and for
    parameters that none of the scores has.
    """
    read = read_results(paths)
    results = read.results
    rules = [rules_of(result) for result in results]
    known = dict.fromkeys(name for names in rules for name in names)
    for name, _ in given:
        if not known:
            benchmarks = ", ".join(dict.fromkeys(_asked(result).name for result in results))
            raise BadInput(f"-T {name}: no parameter changes the scores of {benchmarks}.")
        check_choice("parameter of these scores", name, known)
    again = []
    for result, names in zip(results, rules, strict=True):
        benchmark = _asked(result)
        changes = read_parameters(benchmark.options, benchmark.name, [pair for pair in given if pair[0] in names])
        again.append(_rescored(result, changes))
    return again, read.left_out


def _asked(result: Result) -> Benchmark:
    """The benchmark whose samples the run holds; a scorer of pairs has the metrics of another one."""
    return find_benchmark(str(result.run.benchmark))


def rules_of(result: Result) -> list[str]:
    """The names in RULES that change these scores."""
    benchmark = _asked(result)
    declared = parameters_of(benchmark.options)
    form = benchmark.reopen(None, result.run.options).form
    written = result.run.harness == "inspect" or next(iter(result.run)).reply is not None
    applies: dict[str, bool] = {
        "extraction": isinstance(form, Choice) and written,
        "thinking": written and not form.literal,
        "on_unparsed": benchmark.judging is None or benchmark.judging.judges_replies,
        "seed": form.guess(0, "") is not None,
    }
    return [name for name in RULES if name in declared and applies[name]]


def _rescored(result: Result, changes: Mapping[str, Any]) -> Rescored:
    of_scorer = result.run.scorers.get(result.scorer, {})
    settings = dict(result.run.options) | {n: of_scorer[n] for n in RULES if of_scorer.get(n) is not None}
    if result.scorer.startswith(READ_BY_NAME):
        settings["extraction"] = result.scorer.removeprefix(READ_BY_NAME)
    changed = {name: value for name, value in changes.items() if settings.get(name) != value}
    version = next(iter(result.run)).version
    run = _asked(result).reopen(version, settings | dict(changes))
    placed = [
        (
            sample.epoch,
            sample.place or 0,
            Item(sample.id, sample.epoch, score.outcome, _again(run, sample, score, score.outcome)),
        )
        for sample in result.run
        for score in sample.scores
        if score.scorer.rsplit("/", 1)[-1] == result.scorer and score.outcome is not None
    ]
    items = tuple(item for *_, item in sorted(placed, key=lambda entry: entry[:2]))
    metrics = run if run.benchmark is result.benchmark else result.opened
    return Rescored(result, changed, items, metrics.metrics([item.rescored for item in items]))


# ---- one reply ----------------------------------------------------------------------------------


def _read(run: Run, sample: LoggedSample, logged: Outcome) -> Outcome:
    """From the reply, or from the log-likelihoods of the labels."""
    record = Record(sample.id, sample.cluster, {}, "", (), logged.target, logged.groups, facts=logged.facts)
    numbers = logged.values  # among them those that the model reported
    if sample.reply is None and isinstance(sample.raw, list):
        responses = [sample.raw] if isinstance(sample.raw[0], int | float | str) else sample.raw
        answer = run.form.from_likelihoods([float(likelihood) for likelihood, _ in responses])
        return run.scored(record, answer, numbers)
    return run.outcome(record, sample.reply or "", sample.refused, numbers, sample.cut_off)


def _again(run: Run, sample: LoggedSample, score: Scored, logged: Outcome) -> Outcome:
    """From the reply, or where judges were asked from their verdicts."""
    panels, judging = panels_in(score.details, sample.where), judging_of(run)
    if judging is None or (panels is None and score.scorer.rsplit("/", 1)[-1] != judging.scorer):
        return _read(run, sample, logged)
    unread = Outcome(sample.id, sample.cluster, sample.groups, "answered", None, None, {}, sample.facts)
    try:
        if panels is None:
            raise KeyError(JUDGED)
        return judging.outcome(run, _read(run, sample, logged) if judging.judges_replies else unread, panels)
    except (LookupError, TypeError, ArithmeticError) as problem:
        raise damaged(sample.where, problem) from None
