"""The plugin `cpu_time` names each test over its budget of CPU time, whether the test or a process of it spends it."""

from __future__ import annotations

import cpu_time
import pytest

pytest_plugins = ["pytester"]

# Without unraisableexception, which collects all garbage five times at the end of each of these runs.
PLUGINS = ("-p", "cpu_time", "-p", "no:xdist", "-p", "no:unraisableexception")
TESTS = """
import subprocess, sys, time
import pytest

def spend(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def dear():
    spend(0.2)

def test_within(dear): ...

def test_itself():
    spend(0.2)

def test_by_a_process():
    code = "import time\\nwhile time.process_time() < 0.2: ..."
    subprocess.run([sys.executable, "-c", code])

def test_by_importing():
    import dear_to_import

@pytest.mark.cpu(0.5, "a reason")
def test_with_a_mark():
    spend(0.2)
"""


@pytest.fixture
def budgets(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder of tests, of which each may take .1 s."""
    monkeypatch.setattr(cpu_time, "BUDGET", 0.1)
    monkeypatch.setattr(cpu_time, "MOST", 0.7)
    monkeypatch.setattr(cpu_time, "METER", cpu_time.Meter())
    pytester.makeini("[pytest]\nmarkers = cpu(seconds, reason): may take more")
    pytester.makepyfile(
        dear_to_import="import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: ..."
    )
    return pytester


def test_what_is_over_its_budget_is_named(budgets: pytest.Pytester) -> None:
    budgets.makepyfile(TESTS)
    run = budgets.runpytest_inprocess(*PLUGINS)
    run.assert_outcomes(passed=5)
    assert run.ret == pytest.ExitCode.OK
    over = [line.split("::")[1].split(":")[0] for line in run.outlines if line.startswith("OVER BUDGET")]
    assert over == ["test_itself", "test_by_a_process"]


@pytest.mark.parametrize(
    ("mark", "problem"),
    [("(9, 'why')", "is not above 0.1 and at most 0.7"), ("(0.05, 'why')", "is not above"), ("(0.5, '')", "no reason")],
)
def test_a_mark_stays_below_the_most_and_has_a_reason(budgets: pytest.Pytester, mark: str, problem: str) -> None:
    budgets.makepyfile(f"import pytest\n@pytest.mark.cpu{mark}\ndef test_it(): ...")
    run = budgets.runpytest_inprocess(*PLUGINS)
    assert run.ret != pytest.ExitCode.OK
    assert problem in run.stdout.str() + run.stderr.str()
