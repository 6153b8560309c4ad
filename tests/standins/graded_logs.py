"""Logs of scripted explainers and graders, each made once a run for all workers, and what is read from them."""

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
from standins.once import made_once_below

from humor_tasks.cli import main
from humor_tasks.logs.prices import VARIABLE, Price
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect.client import register_prices
from humor_tasks.results import read_results
from humor_tasks.results.points import GradedLog, GradedPoint, with_verdicts
from humor_tasks.results.report.build import Report, build_report
from humor_tasks.results.report.table import Cost, Pooled, group_table, spent_of
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


def run_log(task: Task, by: Model, judges: list[Model], folder: Path, **more: Any) -> EvalLog:
    roles = {"grader": judges if len(judges) > 1 else judges[0]} if judges else None
    (log,) = eval(task, model=by, model_roles=roles, log_dir=str(folder), display="log", **more)
    return log


def forget_prices() -> None:
    register_prices.cache_clear()
    clear_model_info_cache()


class Logs:
    """Every log is made when a test first asks for it, with the prices of PRICES. folder: one of the worker's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prices = folder / "prices.toml"
        self.prices.write_text(PRICES)
        self.of = functools.cache(self._make)

    def _make(self, name: str, *judges: str, limit: int | None = None) -> Path:
        """The log of a model's explanations, graded by `judges`."""

        def make(folder: Path) -> None:
            task, panel = humorbench(dataset="sample", cache=False), [grader(judge) for judge in judges]
            log = run_log(task, explainer(name), panel, folder, limit=limit)
            assert log.status == "success", log.error

        called = f"graded {name} by {' and '.join(judges)}, {limit or 'all'}"
        made = made_once_below(self.folder.parent, called, lambda folder: self.priced(lambda: make(folder)))
        (path,) = made.glob("*.eval")
        return path

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


def spent(found: Cost | None) -> tuple[int, int, Any]:
    assert found
    return found.input, found.output, None if found.cost is None else pytest.approx(found.cost)


def paid(path: Path, prices: Mapping[str, Price] | None = None) -> Pooled:
    """What a log's system and graders took; by these prices where they are given."""
    return spent_of(with_verdicts(read_results([path]).results[-1]), prices, anew=prices is not None)


def report_of(*paths: Path, **how: Any) -> Report:
    return build_report(read_results(paths), **how)


def rows_of(report: Report) -> list[dict[str, str]]:
    """The rows of the table for people of the report's first group."""
    card = report.scorecard
    head, rows = group_table(card.groups[0], card.columns, report.results.results, report.spent)
    return [dict(zip(head, row, strict=True)) for row in rows]


def made_log(
    name: str = "mockllm/a",
    passes: Mapping[str, bool | None] | None = None,
    *,
    fingerprint: str | None = None,
    path: str = "log.eval",
) -> GradedLog:
    """A log that no run made."""
    given = {f"{i}-x": i % 3 != 0 for i in range(12)} if passes is None else passes
    points = tuple(GradedPoint(k, f"c{i // 2}", v, "It is.") for i, (k, v) in enumerate(given.items()))
    return GradedLog(Path(path), name, Signature({"graders": "j"}), fingerprint, points)


def humor_tasks(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])
