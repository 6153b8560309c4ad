"""Logs of scripted explainers and graders, each made when it is first asked for, and what is read from them."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelUsage
from inspect_ai.model._model_info import clear_model_info_cache

from humor_tasks.benchmarks.humorbench.coverage import HUMORBENCH
from humor_tasks.cli import main
from humor_tasks.data.prices import VARIABLE
from humor_tasks.data.signature import Signature
from humor_tasks.on_inspect.client import register_prices
from humor_tasks.results.report.graded import GradedLog, GradedPoint, Spent
from humor_tasks.results.report.table import Line, as_markdown
from humor_tasks.tasks import humorbench
from humor_tasks.testing import ScriptedModel, scripted_judge

# mockllm/free has no price.
PRICES = """
[models."mockllm/a"]
input = 1
output = 10
cache_read = 0.1
cache_write = 2
[models."mockllm/b"]
input = 3.0
output = 30.0
[models."mockllm/c"]
input = 0.5
output = 5
[models."mockllm/judge"]
input = 20
output = 200
"""
EXPLAINING = ModelUsage(
    input_tokens=100,
    output_tokens=10,
    input_tokens_cache_read=30,
    input_tokens_cache_write=5,
    total_tokens=145,
)
GRADING = ModelUsage(input_tokens=7, output_tokens=1, total_tokens=8)
# Dollars per million calls, by PRICES.
EXPLAINED = {"a": 100 + 100 + 3 + 10, "b": 300 + 300 + 90 + 15, "c": 50 + 50 + 15 + 2.5}
GRADED = {"a": 7 + 10, "b": 21 + 30, "c": 3.5 + 5, "judge": 140 + 200}


SHARES = {"a": 80, "b": 60, "c": 40, "free": 70}
ROWS = 38


def verdict(explainer: str, point: str) -> bool | None:
    """What the scripted grader says of a model's explanation: made up, but always the same."""
    number = int(hashlib.sha256(f"{explainer}, {point}".encode()).hexdigest(), 16)
    return None if number % 17 == 0 else number % 100 < SHARES[explainer]


def explainer(name: str) -> Model:
    return ScriptedModel(name, f"<explanation>{name} gets it.</explanation>", EXPLAINING).model


def grader(name: str) -> Model:
    def said(shown: Mapping[str, str]) -> bool | None:
        return verdict(shown["explanation"].split()[0], shown["point"])

    return scripted_judge(name, said, usage=GRADING).model


def run(task: Task, by: Model, judges: list[Model], folder: Path, **more: Any) -> EvalLog:
    roles = {"grader": judges if len(judges) > 1 else judges[0]} if judges else None
    (log,) = eval(task, model=by, model_roles=roles, log_dir=str(folder), display="none", **more)
    return log


def forget_prices() -> None:
    register_prices.cache_clear()
    clear_model_info_cache()


class Logs:
    """Every log is made when a test first asks for it, with the prices of PRICES."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prices = folder / "prices.toml"
        self.prices.write_text(PRICES)
        self.of = functools.cache(self._make)

    def _make(self, name: str, *judges: str, limit: int | None = None) -> Path:
        """The log of a model's explanations, graded by `judges`."""
        task = self.priced(lambda: humorbench(dataset="sample", cache=False))
        log = self.priced(
            lambda: run(task, explainer(name), [grader(judge) for judge in judges], self.folder, limit=limit)
        )
        assert log.status == "success", log.error
        return Path(log.location)

    def priced(self, make: Callable[[], Any]) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(VARIABLE, str(self.prices))
            forget_prices()
            try:
                register_prices()
                return make()
            finally:
                forget_prices()

    def pool(self) -> list[Path]:
        return [self.of(name, "judge") for name in ("c", "a", "b")]


def spent(found: Spent | None) -> tuple[int, int, Any]:
    assert found
    return found.input, found.output, None if found.cost is None else pytest.approx(found.cost)


def rows_of(lines: list[Line]) -> list[list[str]]:
    """The cells of the table for people: its head, and a row a line."""
    head, _, *rows = as_markdown(lines).splitlines()
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in (head, *rows)]


def made_log(
    name: str = "mockllm/a",
    passes: Mapping[str, bool | None] | None = None,
    *,
    cost: float | None = 1.0,
    fingerprint: str | None = None,
    path: str = "log.eval",
) -> GradedLog:
    """A log that no run made."""
    given = {f"{i}-x": i % 3 != 0 for i in range(12)} if passes is None else passes
    points = tuple(GradedPoint(k, f"c{i // 2}", v, "It is.") for i, (k, v) in enumerate(given.items()))
    grading = Signature({"graders": "j"})
    return GradedLog(
        *(Path(path), name, Signature(), grading, fingerprint, points, Spent(1000, 200, cost), Spent(30, 4, None)),
        subsets=HUMORBENCH.display.subsets,
    )


def humor_tasks(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])
