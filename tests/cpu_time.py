"""A pytest plugin: which tests take more CPU time than their budget, and where a run spent it. It fails no run.

User and system time of this process and of its finished children are counted, not the clock: a loaded machine changes
neither verdict nor report. Imports are not counted, because they fall to whichever test needs a library first. What a
fixture of several tests takes is counted as the fixture's, also at its end, where processes such as a browser finish.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Generator, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from typing import Any

import pytest

BUDGET = 5.0  # seconds that a test may take without a mark
MOST = 20.0  # seconds that a mark may allow
SHARED = 25.0  # seconds that a fixture of several tests may take
FILES = 12  # files that the report names


def cpu_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class Meter:
    """CPU time since `start`, without what was spent in `aside`."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.begin, self.excluded, self.depth = cpu_seconds(), 0.0, 0
        self.shared: dict[str, float] = {}
        self.ending: dict[str, float] = {}

    def share(self, fixture: str, before: float, inner: float) -> None:
        """Count what was spent since `before` as the fixture's, but for what was since counted as others'."""
        spent = self.seconds() - before - (sum(self.shared.values()) - inner)
        self.shared[fixture] = self.shared.get(fixture, 0) + spent

    def seconds(self) -> float:
        return cpu_seconds() - self.begin - self.excluded


METER = Meter()


class ImportTimer:
    """A finder that leaves the finding to the others and times the execution of what they found."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        others = sys.meta_path[sys.meta_path.index(ImportTimer) + 1 :]
        spec = next((spec for finder in others if (spec := finder.find_spec(name, path, target))), None)
        if spec is not None and isinstance(spec.loader, SourceFileLoader | ExtensionFileLoader):
            for method in ("create_module", "exec_module"):
                setattr(spec.loader, method, not_counted(getattr(spec.loader, method)))
        return spec


def not_counted(function: Any) -> Any:
    """The function, the time of whose outermost call the meter leaves out."""

    def timed(*arguments: Any) -> Any:
        METER.depth += 1
        begin = cpu_seconds()
        try:
            return function(*arguments)
        finally:
            METER.depth -= 1
            if METER.depth == 0:
                METER.excluded += cpu_seconds() - begin

    return timed


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any],
) -> Generator[None, object, object]:
    if fixturedef.scope == "function":
        return (yield)
    before, inner = METER.seconds(), sum(METER.shared.values())
    try:
        return (yield)
    finally:
        METER.share(fixturedef.argname, before, inner)
        # The last finalizer that is added is the first that runs.
        fixturedef.addfinalizer(lambda: METER.ending.update({fixturedef.argname: METER.seconds()}))


@pytest.hookimpl
def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[Any]) -> None:
    begin = METER.ending.pop(fixturedef.argname, None)
    if begin is not None:
        METER.share(fixturedef.argname, begin, sum(METER.shared.values()))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    METER.start()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown":
        spent = METER.seconds()
        report.user_properties += [("cpu", (spent, METER.shared, budget_of(item)))]
    return report


def budget_of(item: pytest.Item) -> float:
    mark = item.get_closest_marker("cpu")
    if mark is None:
        return BUDGET
    seconds, reason = mark.args
    assert BUDGET < seconds <= MOST, f"{item.nodeid}: cpu({seconds}, ...) is not above {BUDGET} and at most {MOST}"
    assert reason, f"{item.nodeid}: cpu({seconds}, ...) gives no reason"
    return float(seconds)


class CpuReport:
    """What the tests of all workers took, by file. Names each test over its budget: processors differ by far."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.over: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent, shared, budget = dict(report.user_properties).get("cpu", (0.0, {}, BUDGET))
        self.files[report.nodeid.partition("::")[0]] += spent
        self.check(report.nodeid, spent - sum(shared.values()), budget)
        for fixture, seconds in shared.items():
            self.check(f"fixture {fixture}", seconds, SHARED)

    def check(self, name: str, seconds: float, budget: float) -> None:
        if seconds > budget:
            self.over.append(f"{name}: {seconds:.1f} s, its budget is {budget:g} s")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        total = sum(self.files.values())
        if total > BUDGET or self.over:
            terminalreporter.section(f"CPU time: {total:.0f} s, imports not counted")
            for file, seconds in self.files.most_common(FILES):
                terminalreporter.write_line(f"{seconds:7.1f} s  {file}")
        for line in self.over:
            terminalreporter.write_line(f"OVER BUDGET {line}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    if ImportTimer not in sys.meta_path:
        sys.meta_path.insert(0, ImportTimer)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(CpuReport(), "cpu_report")
