"""The benchmarks of a suite with their parameters, and which of them can run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import BENCHMARKS, GROUP, find_benchmark
from humor_tasks.contract.definition import Benchmark, Run
from humor_tasks.contract.options import declared
from humor_tasks.contract.suites import ALL_SUITES, SUITES
from humor_tasks.errors import BadInput, check_choice, one_line
from humor_tasks.on_inspect.tasks.building import parameters_of_task
from humor_tasks.parameters import name_and_value


@dataclass(frozen=True)
class Member:
    """A benchmark as a suite runs it.

    parameters: of its Inspect task, by name; the others have their defaults. named: whether the user gave it parameters
    by its name, so that it cannot be left out in silence.
    """

    benchmark: Benchmark[Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    named: bool = False

    @property
    def name(self) -> str:
        """The benchmark, with what the suite or the user says of it: "ranking (setting=pixels)"."""
        given = {name: Path(str(value)).name for name, value in self.parameters.items()}
        own = [f"{name}={value}" for name, value in given.items() if name not in ("budget", "dataset")]
        return f"{self.benchmark.name} ({', '.join(own)})" if own else self.benchmark.name

    @property
    def key(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        """What makes two members the same."""
        return self.benchmark.name, tuple(sorted(self.parameters.items()))

    @property
    def download(self) -> str:
        """The size of the pictures that opening it downloads unless cached; "" for none, or an unknown size."""
        shows = self.parameters.get("setting") == "pixels" and "dataset" not in self.parameters
        return self.benchmark.card.source.pictures if shows else ""

    def open(self) -> Run[Any]:
        """The benchmark opened with the parameters that are its own. Raises BadInput as `Benchmark.open` does."""
        own = {option.name for option in declared(self.benchmark.options)}
        return self.benchmark.open(**{name: value for name, value in self.parameters.items() if name in own})


@dataclass(frozen=True)
class Absent:
    """A member of the suite that is left out. why: one sentence with the remedy."""

    member: Member
    why: str


def suite_names() -> tuple[str, ...]:
    """The suites that a benchmark belongs to, those of this package first, and `all`."""
    theirs = (suite for benchmark in _benchmarks() for suite in benchmark.suites)
    return (*dict.fromkeys((*SUITES, *theirs)), ALL_SUITES)


def members(suite: str, given: Sequence[str] = (), **shared: Any) -> list[Member]:
    """The members of a suite in the order of the registry.

    given: parameters as NAME=VALUE, for every member that has it, or TASK.NAME=VALUE, which replaces what is given for
    all. shared: parameters of all members by name; None where not given. Raises BadInput for an unknown suite, a
    parameter that no member has, a value that it does not take, a task that is not in the suite, and a text that is no
    NAME=VALUE.
    """
    check_choice("suite", suite, suite_names())
    found = {
        member.key: member
        for benchmark in _benchmarks()
        for of, parameters in benchmark.suites.items()
        if suite in (of, ALL_SUITES)
        for member in [Member(benchmark, parameters)]
    }
    chosen = list(found.values())
    named = [name_and_value(text)[0] for text in given] + [name for name, value in shared.items() if value is not None]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise BadInput(f"{twice} is given twice; give it once.")
    for name, value in shared.items():
        chosen = chosen if value is None else _given(chosen, "", name, value, f"{name}={value}")
    for text in sorted(given, key=lambda text: "." in text.partition("=")[0]):
        name, value = name_and_value(text)
        task, dot, parameter = name.rpartition(".")
        if dot:
            check_choice(f"-T {text}: task of suite {suite}", task, dict.fromkeys(m.benchmark.name for m in chosen))
        chosen = _given(chosen, task, parameter, value, f"-T {text}")
    return chosen


def _benchmarks() -> Iterator[Benchmark[Any]]:
    """This package's benchmarks, then those of other packages."""
    yield from BENCHMARKS.values()
    for name in sorted(set(entry_points(group=GROUP).names) - BENCHMARKS.keys()):
        yield find_benchmark(name)


def _given(chosen: Sequence[Member], task: str, name: str, value: Any, text: str) -> list[Member]:
    """The members with a parameter added to those that have it and are of this task, "" for any."""
    changed, takes = [], False
    for member in chosen:
        known = parameters_of_task(member.benchmark.name)
        if task in ("", member.benchmark.name) and name in known:
            takes = True
            read = known[name].read(value) if isinstance(value, str) else value
            _check_value(member, name, read, text)
            member = Member(member.benchmark, {**member.parameters, name: read}, member.named or bool(task))
        elif task == member.benchmark.name:
            check_choice(f"{text}: parameter of {task}", name, known)
        changed.append(member)
    if not takes:
        every = dict.fromkeys(p for member in chosen for p in parameters_of_task(member.benchmark.name))
        check_choice(f"{text}: parameter of the suite's tasks", name, every)
    return changed


def _check_value(member: Member, name: str, value: Any, text: str) -> None:
    """Raise BadInput for a value that a benchmark's parameter does not take, whatever its other parameters are."""
    if name not in {option.name for option in declared(member.benchmark.options)}:
        return
    try:
        member.benchmark.options(**{name: value})
    except BadInput as problem:
        try:
            member.benchmark.options()
        except BadInput:  # it lacks another parameter
            return
        raise BadInput(f"{text}: {member.benchmark.name}: {problem}") from None


def opened(chosen: Sequence[Member], grader: bool) -> tuple[list[tuple[Member, Run[Any]]], list[Absent]]:
    """The members that can run, with their rows, and those that cannot. grader: whether there is one.

    Raises BadInput as `check_left` does, and for a member whose parameters the user gave by its name.
    """
    ready: list[tuple[Member, Run[Any]]] = []
    absent: list[Absent] = []
    for member in chosen:
        if member.benchmark.judging and not grader:
            absent.append(Absent(member, "needs a grader model: --grader MODEL."))
            continue
        try:
            ready.append((member, member.open()))
        except BadInput as problem:
            if member.named:
                raise BadInput(f"{member.name}: {problem}") from None
            absent.append(Absent(member, one_line(problem, 600)))
    check_left(ready, absent)
    return ready, absent


def check_left(ready: Sequence[Any], absent: Sequence[Absent]) -> None:
    """Raise BadInput, with the reasons, where no member of a suite is left that can run."""
    if not ready:
        reasons = "\n".join(f"{each.member.name}: {each.why}" for each in absent)
        raise BadInput(f"no task of the suite can run.\n{reasons}")
