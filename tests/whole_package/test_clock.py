"""No test depends on the clock: a loaded machine may be a hundred times slower than an idle one."""

from __future__ import annotations

import ast
import os

import pytest
from hypothesis import HealthCheck, settings
from standins.paths import TESTS
from standins.waiting import LIMIT

CLOCKS = {
    *("time.sleep", "time.time", "time.monotonic", "time.perf_counter", "time.process_time", "anyio.sleep"),
    *("asyncio.sleep", "anyio.move_on_after", "anyio.fail_after"),
}
# The second prints how long a case took; the third counts CPU time.
ALLOWED = {"standins/waiting.py", "characterisation/record.py", "cpu_time.py"}
WAITS = {"wait", "join", "result", "run", "Timer", "urlopen", "set_default_timeout", "communicate"}


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def found(source: str) -> list[str]:
    """The uses of a clock, and the waits for less than LIMIT, with their lines."""
    uses = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            uses.append(f"line {node.lineno}: from time import")
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.Attribute) and node.attr in ("st_mtime", "st_mtime_ns", "st_ctime"):
                uses.append(f"line {node.lineno}: {node.attr}")
            continue
        name = dotted(node.func)
        if name in CLOCKS:
            uses.append(f"line {node.lineno}: {name}")
        given = [word.value for word in node.keywords if word.arg == "timeout"]
        if name.rpartition(".")[2] in WAITS:
            given += node.args[:1]
        short = [
            value.value
            for value in given
            if isinstance(value, ast.Constant) and isinstance(value.value, int | float) and value.value < LIMIT
        ]
        uses += [f"line {node.lineno}: {name} waits {seconds} s" for seconds in short]
    return uses


def test_only_one_place_looks_at_the_clock() -> None:
    """Wait with `standins.waiting.wait_until`, limit by LIMIT, and bound an algorithm by `cpu_below`."""
    files = {path.relative_to(TESTS).as_posix(): path for path in TESTS.rglob("*.py")}
    uses = {name: found(path.read_text(encoding="utf-8")) for name, path in files.items()}
    assert {name: told for name, told in uses.items() if told and name not in ALLOWED} == {}


@pytest.mark.parametrize(
    "source",
    [
        "time.sleep(1)",
        "start = time.monotonic()",
        "from time import sleep",
        "done.wait(60)",
        "subprocess.run(command, timeout=300)",
        "path.stat().st_mtime_ns",
        "anyio.move_on_after(0.1)",
    ],
)
def test_what_depends_on_the_clock_is_found(source: str) -> None:
    assert len(found(source)) == 1


def test_properties_have_no_deadline_and_the_same_examples_in_every_run() -> None:
    now = settings.default
    assert now is not None
    assert (now.deadline, now.derandomize, HealthCheck.too_slow in now.suppress_health_check) == (None, True, True)


def test_progress_bars_print_no_rates() -> None:
    assert os.environ["TQDM_DISABLE"] == "1"
