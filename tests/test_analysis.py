"""What is computed from finished logs: reports, hard subsets, corrections for the judge; and prices."""

from __future__ import annotations

import csv
import dataclasses
import functools
import hashlib
import html
import io
import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai import Task, eval, score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import Model, ModelCost, ModelOutput, ModelUsage, get_model, get_model_info, set_model_cost
from inspect_ai.model._model_info import clear_model_info_cache
from inspect_ai.solver import generate
from standins.chat import chat_server, text_of

from humor_tasks import load
from humor_tasks.analysis.correct import correct, read_judged, read_labels
from humor_tasks.analysis.graded import GradedLog, GradedPoint, Spent, read_graded
from humor_tasks.analysis.hard_subset import hard_subset
from humor_tasks.analysis.report import (
    COLUMNS,
    Line,
    as_csv,
    as_json,
    as_markdown,
    incomparable,
    lines_of,
    plot,
    write_report,
)
from humor_tasks.benchmarks._humorbench import subset_keys
from humor_tasks.cli import main
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import graders
from humor_tasks.on_inspect.coverage import element_coverage
from humor_tasks.on_inspect.grade import grading_task, read_written
from humor_tasks.on_inspect.humorbench import humorbench
from humor_tasks.on_inspect.prices import register_prices
from humor_tasks.on_inspect.tasks import matching
from humor_tasks.prices import VARIABLE, Price, read_prices
from humor_tasks.scorers.correction import prediction_powered, rogan_gladen
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.writing import write_bytes

# ---- logs of a scripted run ---------------------------------------------------------------------

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
ELEMENTS = Path(folder("humorbench")) / "comprehensive_annotations.csv"
SHARES = {"a": 80, "b": 60, "c": 40, "free": 70}
ROWS = 38


def verdict(explainer: str, point: str) -> bool | None:
    """What the scripted grader says of a model's explanation: made up, but always the same."""
    number = int(hashlib.sha256(f"{explainer}, {point}".encode()).hexdigest(), 16)
    return None if number % 17 == 0 else number % 100 < SHARES[explainer]


def model(name: str, answer: Callable[[str], str], usage: ModelUsage, role: str | None = None) -> Model:
    def output(messages: list[Any], *rest: Any) -> ModelOutput:
        made = ModelOutput.from_content(f"mockllm/{name}", answer(messages[-1].text))
        made.usage = usage.model_copy()
        return made

    return get_model(f"mockllm/{name}", role=role, custom_outputs=output, memoize=False)


def explainer(name: str) -> Model:
    return model(name, lambda asked: f"<explanation>{name} gets it.</explanation>", EXPLAINING)


def grader(name: str) -> Model:
    def answer(asked: str) -> str:
        tagged = {tag: re.search(rf"<{tag}>\s*(.*?)\s*</{tag}>", asked, re.S) for tag in ("explanation", "point")}
        texts = {tag: html.unescape(found[1]) for tag, found in tagged.items() if found}
        said = verdict(texts["explanation"].split()[0], texts["point"])
        judged = "" if said is None else f"<judgement>{'PASS' if said else 'FAIL'}</judgement>"
        return f"<reasoning>So it is.</reasoning>\n{judged}"

    return model(name, answer, GRADING)


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


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    return Logs(tmp_path_factory.mktemp("graded"))


@pytest.fixture
def no_prices() -> Iterator[None]:
    """Nothing registered before or after."""
    forget_prices()
    yield
    forget_prices()


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
    points = tuple(GradedPoint(k, f"c{i // 2}", v, None) for i, (k, v) in enumerate(given.items()))
    return GradedLog(
        Path(path), name, "s", "graders:j", fingerprint, points, Spent(1000, 200, cost), Spent(30, 4, None)
    )


# ---- graded logs --------------------------------------------------------------------------------


def test_a_graded_log_holds_every_point_with_its_verdict(logs: Logs) -> None:
    found = read_graded(logs.of("a", "judge"))
    records = load("humorbench", dataset="sample").records
    expected = {r.id: (r.cluster, verdict("a", r.points[0].text)) for r in records}
    assert {point.id: (point.cluster, point.passed) for point in found.points} == expected
    assert len(found.points) == ROWS
    assert {passed for _, passed in expected.values()} == {True, False, None}
    assert {point.explanation for point in found.points} == {"a gets it."}
    assert found.model == "mockllm/a"
    assert found.signature.startswith("bench:humorbench|v:1-A")
    assert found.graders.startswith("graders:mockllm/judge|verdict:tags")
    assert found.fingerprint == load("humorbench", dataset="sample").data.provenance["fingerprint"]


def test_a_score_in_a_report_is_the_score_of_the_run(logs: Logs) -> None:
    path = logs.of("a", "judge")
    (line,) = lines_of([read_graded(path)])
    results = read_eval_log(str(path)).results
    assert results
    (metrics,) = [score.metrics for score in results.scores if score.name.startswith("element_coverage")]
    shown = (line.score.value, line.score.stderr, line.score.low, line.score.high)
    names = ("coverage", "coverage_stderr", "coverage_ci_low", "coverage_ci_high")
    assert shown == pytest.approx([metrics[name].value for name in names])
    assert line.no_verdict == ROWS - line.score.n == sum(p.passed is None for p in line.log.points) > 0


def test_tokens_and_costs_of_explainer_and_grader_are_told_apart(logs: Logs) -> None:
    found = read_graded(logs.of("a", "judge"))
    assert found.explainer
    assert spent(found.explainer) == (ROWS * 135, ROWS * 10, ROWS * EXPLAINED["a"] / 1e6)
    assert spent(found.grader) == (ROWS * 7, ROWS * 1, ROWS * GRADED["judge"] / 1e6)


@pytest.mark.parametrize("anew", [False, True])
def test_a_model_that_grades_itself(logs: Logs, anew: bool) -> None:
    found = read_graded(logs.of("a", "a", limit=4), read_prices(logs.prices) if anew else None)
    assert found.explainer
    assert spent(found.explainer) == (4 * 135, 4 * 10, 4 * EXPLAINED["a"] / 1e6)
    assert spent(found.grader) == (4 * 7, 4 * 1, 4 * GRADED["a"] / 1e6)


@pytest.mark.parametrize("anew", [False, True])
def test_a_panel_costs_what_its_graders_cost(logs: Logs, anew: bool) -> None:
    found = read_graded(logs.of("b", "judge", "c", limit=4), read_prices(logs.prices) if anew else None)
    assert found.explainer
    assert spent(found.explainer) == (4 * 135, 4 * 10, 4 * EXPLAINED["b"] / 1e6)
    assert spent(found.grader) == (4 * 14, 4 * 2, 4 * (GRADED["judge"] + GRADED["c"]) / 1e6)
    assert "mockllm/judge,mockllm/c" in found.graders
    records = load("humorbench", dataset="sample").records[:4]
    assert [p.passed for p in found.points] == [verdict("b", r.points[0].text) for r in records]


def test_a_panel_with_the_explainer_in_it(logs: Logs) -> None:
    path = logs.of("a", "a", "judge", limit=4)
    recorded = read_graded(path)
    assert recorded.explainer
    assert spent(recorded.explainer) == (4 * 135, 4 * 10, 4 * EXPLAINED["a"] / 1e6)
    assert spent(recorded.grader) == (4 * 14, 4 * 2, 4 * (GRADED["a"] + GRADED["judge"]) / 1e6)
    anew = read_graded(path, read_prices(logs.prices))
    assert anew.explainer
    assert spent(anew.explainer) == (4 * 135, 4 * 10, None)  # its tokens as grader are not recorded apart
    assert spent(anew.grader) == (4 * 14, 4 * 2, None)


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize(
    ("name", "judges", "explaining", "grading"),
    [
        ("free", ("judge",), None, GRADED["judge"]),
        ("a", ("free",), EXPLAINED["a"], None),
        ("a", ("judge", "free"), EXPLAINED["a"], None),
        ("free", ("free",), None, None),
        ("free", ("free", "judge"), None, None),
    ],
)
def test_a_cost_is_known_when_every_model_in_it_has_a_price(
    logs: Logs, anew: bool, name: str, judges: tuple[str, ...], explaining: float | None, grading: float | None
) -> None:
    found = read_graded(logs.of(name, *judges, limit=4), read_prices(logs.prices) if anew else None)
    assert found.explainer
    costs = [None if each is None else pytest.approx(4 * each / 1e6) for each in (explaining, grading)]
    assert found.grader
    assert [found.explainer.cost, found.grader.cost] == costs
    cells = dict(zip(*rows_of(lines_of([found])), strict=False))
    assert (cells["explainer cost"] == "-") == (explaining is None)
    assert (cells["grader cost"] == "-") == (grading is None)
    assert "-" not in (cells["explainer tokens in / out"], cells["grader tokens in / out"])


def test_tokens_priced_anew(logs: Logs) -> None:
    other = {"mockllm/a": Price(2, 20, 0, 0, "-", "-"), "mockllm/judge": Price(1, 1, 1, 1, "-", "-")}
    found = read_graded(logs.of("a", "judge"), other)
    assert found.explainer
    assert found.grader
    assert found.explainer.cost == pytest.approx(ROWS * (200 + 200) / 1e6)
    assert found.grader.cost == pytest.approx(ROWS * 8 / 1e6)
    without = read_graded(logs.of("a", "judge"), {"mockllm/judge": other["mockllm/judge"]})
    assert without.explainer
    assert without.grader
    assert without.explainer.cost is None
    assert without.grader.cost == pytest.approx(ROWS * 8 / 1e6)


@pytest.mark.parametrize("anew", [False, True])
def test_a_grader_that_the_scorer_was_given_is_no_explainer(
    logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    """In somebody else's task, without a role."""

    def given(name: str, memoize: bool) -> Model:
        assert (name, memoize) == ("mockllm/judge", False)
        return model("judge", lambda asked: "<reasoning>Yes.</reasoning><judgement>PASS</judgement>", GRADING)

    monkeypatch.setattr(graders, "get_model", given)
    other = Task(
        dataset=[Sample(id=1, input="Why?", target=["One.", "Two."])],
        solver=generate(),
        scorer=element_coverage(grader="mockllm/judge", cache=False),
        metadata={"source": "a diary"},
    )
    log = logs.priced(lambda: run(other, explainer("a"), [], tmp_path))
    found = read_graded(Path(log.location), read_prices(logs.prices) if anew else None)
    assert [(point.id, point.passed) for point in found.points] == [("1-1", True), ("1-2", True)]
    assert (found.signature, found.fingerprint) == ("-", None)
    assert found.explainer
    assert spent(found.explainer) == (135, 10, EXPLAINED["a"] / 1e6)
    assert spent(found.grader) == (14, 2, 2 * GRADED["judge"] / 1e6)


def test_a_log_of_grade_has_no_explainer_to_pay(logs: Logs, tmp_path: Path) -> None:
    path = logs.of("a", "judge", limit=4)
    task = logs.priced(lambda: grading_task(read_written(path, "humorbench"), "humorbench", path.name, cache=False))
    log = logs.priced(lambda: run(task, get_model("none/none"), [grader("judge")], tmp_path))
    found, first = read_graded(Path(log.location)), read_graded(path)
    assert found.model == "mockllm/a"
    assert found.explainer is None
    assert spent(found.grader) == spent(first.grader)
    assert found.points == first.points
    (line,) = lines_of([found])
    assert (line.cells()["explainer_cost"], line.cells()["explainer_output_tokens"]) == (None, None)
    cells = dict(zip(*rows_of([line]), strict=False))
    assert (cells["explainer tokens in / out"], cells["explainer cost"]) == ("-", "-")
    assert cells["grader tokens in / out"] == "28 / 4"
    assert (found.version, found.subset, found.rows, found.samples) == (first.version, "all", ROWS, 4)
    with pytest.raises(BadInput, match="known cost"):
        plot(tmp_path / "p.png", [line])


def test_logs_that_are_not_graded(logs: Logs, tmp_path: Path) -> None:
    (tmp_path / "text.eval").write_text("this is no log")
    (tmp_path / "text.json").write_text("{}")
    for path, message in (
        (tmp_path / "missing.eval", "there is no such log"),
        (tmp_path / "text.eval", "cannot be read as an Inspect log"),
        (tmp_path / "text.json", "cannot be read as an Inspect log"),
        (tmp_path, "there is no such log"),
    ):
        with pytest.raises(BadInput, match=message):
            read_graded(path)
    other = run(matching(dataset="sample"), model("a", lambda asked: "Answer: A", EXPLAINING), [], tmp_path, limit=1)
    with pytest.raises(BadInput, match="has no score of element_coverage"):
        read_graded(Path(other.location))
    task = humorbench(dataset="sample", cache=False)
    hidden = run(task, explainer("a"), [grader("judge")], tmp_path, limit=1, log_samples=False)
    with pytest.raises(BadInput, match="holds no verdicts"):
        read_graded(Path(hidden.location))


def test_unfinished_logs(tmp_path: Path) -> None:
    calls: list[str] = []

    def once(asked: str) -> str:
        calls.append(asked)
        if len(calls) > 1:
            raise RuntimeError("out of jokes")
        return "<explanation>a gets it.</explanation>"

    def log_of(**more: Any) -> Path:
        calls.clear()
        task = humorbench(dataset="sample", cache=False)
        judges = [grader("judge")]
        return Path(run(task, model("a", once, EXPLAINING), judges, tmp_path, limit=2, max_samples=1, **more).location)

    with pytest.raises(BadInput, match="ended with status error; finish it with inspect eval-retry"):
        read_graded(log_of())
    with pytest.raises(BadInput, match=r"sample 90.* has no score of element_coverage"):
        read_graded(log_of(fail_on_error=False))


def test_every_epoch_counts(tmp_path: Path) -> None:
    task = humorbench(dataset="sample", cache=False)
    log = run(task, explainer("a"), [grader("judge")], tmp_path, limit=3, epochs=2)
    found = read_graded(Path(log.location))
    assert sorted(p.id for p in found.points) == sorted(
        2 * [r.id for r in load("humorbench", dataset="sample").records[:3]]
    )
    with pytest.raises(BadInput, match="holds 3 rows more than once"):
        read_judged(Path(log.location))
    assert (found.samples, found.rows) == (3, ROWS)


def test_a_log_says_what_it_is_of(logs: Logs, tmp_path: Path) -> None:
    found = read_graded(logs.of("a", "judge"))
    assert (found.version, found.subset, found.rows, found.samples) == ("1-A", "all", ROWS, ROWS)
    part = run(
        humorbench(dataset="sample", subset="wordplay", cache=False), explainer("a"), [grader("judge")], tmp_path
    )
    found = read_graded(Path(part.location))
    size = len(load("humorbench", dataset="sample", subset="wordplay").records)
    assert (found.subset, found.rows, found.samples) == ("wordplay", size, size)
    written = read_written(Path(part.location), "humorbench")
    again = run(
        grading_task(written, "humorbench", "x", cache=False), get_model("none/none"), [grader("judge")], tmp_path
    )
    found = read_graded(Path(again.location))
    assert (found.version, found.subset, found.rows, found.samples) == ("1-A", "wordplay", size, size)
    assert incomparable(lines_of([read_graded(Path(part.location)), found])) == []


# ---- verdicts that the run did not pay for ------------------------------------------------------


def unpaid(path: Path, prices: Mapping[str, Price] | None = None) -> GradedLog:
    """The log, which must show nothing of its grader's tokens and cost, and its explainer's as they were."""
    found = read_graded(path, prices)
    assert found.grader is None
    (line,) = lines_of([found])
    names = ("grader_input_tokens", "grader_output_tokens", "grader_cost")
    assert [line.cells()[name] for name in names] == [None] * 3
    cells = dict(zip(*rows_of([line]), strict=False))
    assert (cells["grader tokens in / out"], cells["grader cost"]) == ("-", "-")
    return found


@pytest.mark.parametrize("action", ["overwrite", "append"])
@pytest.mark.parametrize("judge", ["c", "a"])  # another model, and the explainer itself
def test_a_log_graded_again_by_another_does_not_show_what_the_first_grader_took(
    logs: Logs, tmp_path: Path, action: Any, judge: str
) -> None:
    first = logs.of("a", "judge", limit=4)
    again = score(
        read_eval_log(str(first)),
        element_coverage(cache=False),
        model_roles={"grader": grader(judge)},
        action=action,
        display="none",
    )
    path = tmp_path / "again.eval"
    write_eval_log(again, str(path))
    found = unpaid(path)
    assert found.graders.startswith(f"graders:mockllm/{judge}|")
    assert spent(found.explainer) == spent(read_graded(first).explainer) == (540, 40, 4 * EXPLAINED["a"] / 1e6)
    assert rows_of(lines_of([found]))[1][8] == f"mockllm/{judge}"


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("judges", [("judge",), ("judge", "c"), ("a",)])
def test_a_log_whose_verdicts_came_from_the_cache_does_not_show_them_as_free(
    logs: Logs, tmp_path: Path, judges: tuple[str, ...], anew: bool
) -> None:
    prices = read_prices(logs.prices) if anew else None

    def made() -> Path:
        task = humorbench(dataset="sample", cache=True)
        return Path(run(task, explainer("a"), [grader(judge) for judge in judges], tmp_path, limit=4).location)

    first, second = logs.priced(made), logs.priced(made)
    paid = read_graded(first, prices)
    assert spent(paid.grader) == (4 * 7 * len(judges), 4 * len(judges), 4 * sum(GRADED[j] for j in judges) / 1e6)
    found = unpaid(second, prices)
    assert found.points == paid.points
    assert spent(found.explainer) == spent(paid.explainer) == (540, 40, 4 * EXPLAINED["a"] / 1e6)


# ---- report -------------------------------------------------------------------------------------


def test_the_table_has_the_best_model_first(logs: Logs) -> None:
    lines = lines_of([read_graded(path) for path in logs.pool()])
    assert [line.log.model for line in lines] == ["mockllm/a", "mockllm/b", "mockllm/c"]
    rows = rows_of(lines)
    assert rows[0] == [
        *("model", "score", "of", "hard score", "of", "no verdict", "explainer tokens in / out", "explainer cost"),
        *("grader", "grader tokens in / out", "grader cost", "version"),
    ]
    assert as_markdown(lines).splitlines()[1] == "|" + "---|" * len(rows[0])
    assert len({len(row) for row in rows}) == 1
    e = lines[0].score
    first = ["mockllm/a", f"{100 * e.value:.1f} [{100 * e.low:.1f}, {100 * e.high:.1f}]", str(e.n), "-", "0"]
    assert rows[1][:5] == first
    assert rows[1][5] == str(ROWS - e.n)
    assert rows[1][6:8] == ["5130 / 380", f"${ROWS * 213e-6:.4f}"]
    assert rows[1][8:] == ["mockllm/judge", "266 / 38", f"${ROWS * 340e-6:.4f}", "1-A"]


def test_the_table_shows_of_how_many_points_the_hard_score_is(tmp_path: Path) -> None:
    given = {"1-a": True, "2-b": False, "3-c": True, "4-d": None}
    (tmp_path / "mine.json").write_text(json.dumps({"keys": ["1-a", "2-b", "4-d"]}))
    (line,) = lines_of([made_log(passes=given)], str(tmp_path / "mine.json"))
    _, row = rows_of([line])
    assert row[3].startswith("50.0 [")
    assert (row[2], row[4], row[5]) == ("3", "2", "1")


ALIKE = made_log(fingerprint="f")
ALIKE = dataclasses.replace(ALIKE, version="1-A", rows=12, samples=12)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"fingerprint": "other"}, "the logs differ in data file: f, other."),
        ({"fingerprint": None}, "the logs differ in data file: f, None."),
        ({"version": "2-A"}, "the logs differ in version: 1-A, 2-A."),
        ({"subset": "hard"}, "the logs differ in subset: all, hard."),
        ({"graders": "graders:k"}, "the logs differ in grader or way of asking: graders:j, graders:k."),
        (
            {"graders": "graders:j|verdict:json"},
            "the logs differ in grader or way of asking: graders:j, graders:j|verdict:json.",
        ),
        ({"samples": 5, "path": Path("part.eval")}, "part.eval holds 5 samples of 12."),
    ],
)
def test_what_does_not_compare_is_named(change: dict[str, Any], told: str) -> None:
    other = dataclasses.replace(ALIKE, **change)
    assert incomparable(lines_of([ALIKE, other])) == [told]
    assert incomparable(lines_of([ALIKE, other, ALIKE, other]))[0] == told  # each value once


def test_everything_that_does_not_compare_is_named() -> None:
    change: dict[str, Any] = {
        "fingerprint": "g",
        "version": "2-A",
        "subset": "hard",
        "graders": "graders:k",
        "samples": 3,
    }
    told = incomparable(lines_of([ALIKE, dataclasses.replace(ALIKE, **change)]))
    assert [text.split(":")[0].removeprefix("the logs differ in ") for text in told] == [
        *("data file", "version", "subset", "grader or way of asking", "log.eval holds 3 samples of 12."),
    ]


def test_logs_that_compare_have_nothing_told_of_them(logs: Logs) -> None:
    assert incomparable([]) == incomparable(lines_of([ALIKE])) == []
    other = dataclasses.replace(ALIKE, model="x/y", signature="t", path=Path("o.eval"), explainer=None, grader=None)
    assert incomparable(lines_of([ALIKE, other])) == []
    unknown = dataclasses.replace(ALIKE, rows=None, samples=3)
    assert incomparable(lines_of([ALIKE, unknown])) == []
    assert incomparable(lines_of([read_graded(path) for path in logs.pool()])) == []


def test_epochs_do_not_hide_that_a_run_is_partial(tmp_path: Path) -> None:
    task = humorbench(dataset="sample", cache=False)
    half, whole = (
        run(task, explainer("a"), [grader("judge")], tmp_path, limit=limit, epochs=2) for limit in (ROWS // 2, None)
    )
    told = incomparable(lines_of([read_graded(Path(half.location)), read_graded(Path(whole.location))]))
    assert told == [f"{Path(half.location).name} holds {ROWS // 2} samples of {ROWS}."]


def test_names_with_bars_and_logs_without_verdicts() -> None:
    silent = made_log("silent", dict.fromkeys(["1-a", "2-b"]))
    lines = lines_of(
        [silent, made_log("a|b"), made_log("best", {"1-a": True}), silent, made_log("worst", {"1": False})]
    )
    assert [line.log.model for line in lines] == ["best", "a|b", "worst", "silent", "silent"]
    rows = as_markdown(lines).splitlines()
    assert rows[3].startswith("| a\\|b | 66.7 [")
    assert rows[5].startswith("| silent | - | 0 | - | 0 | 2 | 1000 / 200 | $1.0000 | j | 30 / 4 | - | - |")


def test_hard_score_is_over_the_keys_of_the_list(logs: Logs, tmp_path: Path) -> None:
    found = read_graded(logs.of("a", "judge"))
    chosen = [p for p in found.points if p.passed is not None][:9] + [p for p in found.points if p.passed is None][:1]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"keys": [p.id for p in chosen]}))
    (line,) = lines_of([found], str(path))
    assert line.hard == clustered_mean([float(bool(p.passed)) for p in chosen[:9]], [p.cluster for p in chosen[:9]])
    assert (line.hard.n, line.cells()["hard_points"]) == (9, 9)
    (line,) = lines_of([found])  # the public list has no key of the sample
    assert line.hard.n == 0
    assert line.cells()["hard_score"] is None
    (line,) = lines_of([found], "all")
    assert line.hard == line.score
    with pytest.raises(BadInput, match="there is no 'nowhere'"):
        lines_of([found], "nowhere")


def test_csv_and_json_carry_the_numbers(logs: Logs, tmp_path: Path) -> None:
    lines = lines_of([*(read_graded(path) for path in logs.pool()), made_log('odd, "name"', {"1-a": None}, cost=None)])
    table = list(csv.DictReader(io.StringIO(as_csv(lines))))
    objects = json.loads(as_json(lines), parse_constant=pytest.fail)
    assert [list(row) for row in table] == [list(row) for row in objects] == [list(COLUMNS)] * 4
    for row, shown, line in zip(table, objects, lines, strict=True):
        assert shown == line.cells()
        assert row == {name: "" if value is None else str(value) for name, value in shown.items()}
    cells = objects[0]
    assert (cells["model"], cells["log"]) == ("mockllm/a", logs.of("a", "judge").name)
    assert cells["score"] == lines[0].score.value
    assert (cells["low"], cells["high"]) == (lines[0].score.low, lines[0].score.high)
    assert (cells["explainer_input_tokens"], cells["grader_output_tokens"]) == (ROWS * 135, ROWS)
    assert cells["grader_cost"] == pytest.approx(ROWS * 340e-6)
    assert objects[3]["model"] == 'odd, "name"'
    assert [objects[3][name] for name in ("score", "low", "hard_score", "explainer_cost")] == [None] * 4
    for name, text in ((".md", as_markdown(lines)), (".csv", as_csv(lines)), (".json", as_json(lines))):
        write_report(tmp_path / f"r{name}", lines)
        assert (tmp_path / f"r{name}").read_bytes() == text.encode()


@pytest.mark.parametrize("name", ["report.txt", "report", "report.MD"])
def test_reports_in_other_forms_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"a report ends in \.md, \.csv, \.json"):
        write_report(tmp_path / name, lines_of([made_log()]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "begins"), [(".png", b"\x89PNG\r\n"), (".svg", b"<?xml"), (".pdf", b"%PDF-")])
def test_pictures(tmp_path: Path, kind: str, begins: bytes) -> None:
    some = [made_log("mockllm/a", cost=0.5), made_log("_x/$a_$b^2", {"1-a": True, "2-b": False}, cost=2.0)]
    left_out = [made_log(cost=None), made_log(cost=0.0), made_log(passes={"1-a": None})]
    path = tmp_path / "new folder" / f"p{kind}"
    assert plot(path, lines_of([*some, *left_out])) == 2
    assert path.read_bytes().startswith(begins)
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_labels_of_close_points_stay_apart_and_inside_the_picture(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from matplotlib.figure import Figure

    drawn: list[Figure] = []
    save = Figure.savefig

    def keep(figure: Figure, *given: Any, **more: Any) -> None:
        drawn.append(figure)
        save(figure, *given, **more)

    monkeypatch.setattr(Figure, "savefig", keep)
    names = [f"provider-{i}/a-model-with-a-name-that-is-rather-long-{i}-preview-2025-07-1{i}" for i in range(6)]
    close = [{f"{k}-x": k >= i for k in range(100)} for i in range(6)]
    given = [made_log(name, passes, cost=1 + i / 50) for i, (name, passes) in enumerate(zip(names, close, strict=True))]
    assert plot(tmp_path / "p.png", lines_of(given)) == 6
    (figure,) = drawn
    figure.draw_without_rendering()  # saving had another resolution
    legend = figure.axes[0].get_legend()
    assert legend
    assert [text.get_text().split()[1] for text in legend.get_texts()] == names
    numbers = list(figure.axes[0].texts)
    assert [number.get_text() for number in numbers] == [str(i) for i in range(1, 7)]
    boxes = [text.get_window_extent() for text in (*legend.get_texts(), *numbers)]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    frame = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    assert all(frame.x0 <= b.x0 and b.x1 <= frame.x1 and frame.y0 <= b.y0 and b.y1 <= frame.y1 for b in boxes)


def test_pictures_that_cannot_be_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("p.txt", "p", "p.jpg", "p.raw"):
        with pytest.raises(BadInput, match=r"a picture ends in \.png, \.svg, \.pdf"):
            plot(tmp_path / name, lines_of([made_log()]))
    (tmp_path / "p.png").write_text("mine")
    with pytest.raises(BadInput, match="name prices with --prices FILE"):
        plot(tmp_path / "p.png", lines_of([made_log(cost=None)]))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(BadInput, match="humor-tasks\\[plot\\]"):
        plot(tmp_path / "p.png", lines_of([made_log()]))
    assert (tmp_path / "p.png").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.md"
    path.write_text("before")

    def full(self: Path, data: bytes) -> None:
        with self.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(BadInput, match=r"cannot be written \(disk full\)"):
            write_report(path, lines_of([made_log()]))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(BadInput, match="not a file that can be replaced"):
        write_bytes(tmp_path, b"")


# ---- hard subset --------------------------------------------------------------------------------


@settings(derandomize=True, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from([f"{i}-k" for i in range(12)]), st.sampled_from([True, False, None])),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 14),
    st.integers(1, 4),
)
def test_hard_subset_against_counting_by_hand(pool: list[dict[str, bool | None]], size: int, least: int) -> None:
    attempts = {k: sum(passes.get(k) is not None for passes in pool) for passes in pool for k in passes}
    passed = {k: sum(passes.get(k) is True for passes in pool) for k in attempts}
    left = {k for k, n in attempts.items() if n >= least}
    chosen: list[str] = []
    while left and len(chosen) < size:
        best = None
        for k in sorted(left):
            rate = Fraction(passed[k], attempts[k])
            if best is None or (rate, -attempts[k]) < best[0]:
                best = ((rate, -attempts[k]), k)
        assert best
        chosen.append(best[1])
        left.remove(best[1])
    given_logs = [made_log(passes=passes) for passes in pool]
    if not chosen:
        with pytest.raises(
            BadInput, match=f"no row has {least} verdicts; the most is {max(attempts.values(), default=0)}"
        ):
            hard_subset(given_logs, size, least)
        return
    if not left:  # the chosen are all there are
        with pytest.raises(BadInput, match=f"{len(chosen)} rows have {least} verdicts.* would be all of them"):
            hard_subset(given_logs, size, least)
        return
    found = hard_subset(given_logs, size, least)
    assert found["keys"] == chosen
    assert found["attempts"] == {k: attempts[k] for k in chosen}
    assert found["pass_rates"] == {k: pytest.approx(passed[k] / attempts[k], abs=1e-6) for k in chosen}
    enough = sum(n >= least for n in attempts.values())
    assert found["note"].startswith(f"lowest pass rate of {enough} rows with at least {least} verdicts")
    assert found["note"].endswith(f"{len(attempts) - enough} rows had fewer")


def test_ties_go_to_more_attempts_then_to_the_smaller_key() -> None:
    first = made_log(passes={"b": False, "a": False, "c": False, "d": True, "e": None})
    second = made_log(passes={"c": False, "d": False, "e": None})
    assert hard_subset([first, second], 3, 1)["keys"] == ["c", "a", "b"]
    assert hard_subset([first, second], 2, 1)["keys"] == ["c", "a"]
    assert hard_subset([first, second], 1, 2)["keys"] == ["c"]
    assert hard_subset([first, second], 1, 2)["note"].endswith("3 rows had fewer")  # with e, which has none
    with pytest.raises(BadInput, match="no row has 3 verdicts; the most is 2"):
        hard_subset([first, second])


@pytest.mark.parametrize(("size", "least", "eligible"), [(4, 1, 4), (5, 1, 4), (100, 1, 4), (2, 2, 2), (3, 2, 2)])
def test_a_subset_is_smaller_than_what_it_is_of(size: int, least: int, eligible: int) -> None:
    pool = [made_log(passes={"a": True, "b": False, "c": True, "d": True, "e": None})]
    pool.append(made_log(passes={"a": True, "b": False, "e": None}))
    with pytest.raises(BadInput, match=rf"\b{eligible} rows have {least} verdicts.* {size} would be all of them"):
        hard_subset(pool, size, least)
    assert len(hard_subset(pool, eligible - 1, least)["keys"]) == eligible - 1


def test_a_subset_belongs_to_one_file() -> None:
    one, two, unknown = (made_log(fingerprint=name) for name in ("one", "two", None))
    with pytest.raises(BadInput, match="the logs are of 2 different data files"):
        hard_subset([one, two], 5, min_attempts=1)
    assert hard_subset([one, unknown, one], 5, min_attempts=1)["corpus_sha256"] == "one"
    assert hard_subset([unknown], 5, min_attempts=1)["corpus_sha256"] is None


def test_a_written_subset_is_one_for_the_task_and_the_report(logs: Logs, tmp_path: Path) -> None:
    path = tmp_path / "my_hard.json"
    arguments = ["hard-subset", *map(str, logs.pool()), "-o", str(path), "--size", "5", "--min-attempts", "2"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{path}: 5 rows, lowest pass rate of ")
    made = json.loads(path.read_text())
    pool = [read_graded(log) for log in logs.pool()]
    assert made == hard_subset(pool, 5, 2)
    assert made["corpus_sha256"] == pool[0].fingerprint
    assert [entry.split(", graders:")[0] for entry in made["source"]["logs"]] == [
        f"{log.path.name}: {log.model}" for log in pool
    ]
    assert subset_keys(str(path), "sample") == frozenset(made["keys"])
    task = humorbench(dataset="sample", subset=str(path), cache=False)
    assert {sample.id for sample in task.dataset} == set(made["keys"])
    log = run(task, explainer("a"), [grader("judge")], tmp_path)
    (line,) = lines_of([read_graded(Path(log.location))], str(path))
    assert line.hard == line.score
    (whole,) = lines_of([read_graded(logs.of("a", "judge"))], str(path))
    assert whole.hard == line.score


# ---- correction ---------------------------------------------------------------------------------


def judged_rows(seed: int, rows: int = 60) -> tuple[list[GradedPoint], dict[str, bool]]:
    """Verdicts of an easygoing judge, a few missing, and labels of every third row."""
    draw = random.Random(seed)
    points, labels = [], {}
    for i in range(rows):
        label = draw.random() < 0.6
        said = (label or draw.random() < 0.3) if i % 11 else None
        points.append(GradedPoint(f"{i}-k", f"cartoon-{i // 4}", said, f"Explanation {i}."))
        if i % 3 == 0:
            labels[f"{i}-k"] = label
    return points, labels


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_correction_is_what_the_scorers_say(seed: int) -> None:
    points, labels = judged_rows(seed)
    found = correct(points, labels)
    read = [p for p in points if p.passed is not None]
    rest, both = [p for p in read if p.id not in labels], [p for p in read if p.id in labels]
    human = [labels[p.id] for p in both]
    own = {"clusters": [p.cluster for p in rest], "human_clusters": [p.cluster for p in both]}
    verdicts = [[bool(p.passed) for p in part] for part in (rest, both)]
    expected = {
        "judged": clustered_mean([float(bool(p.passed)) for p in read], [p.cluster for p in read]),
        "labelled": clustered_mean([float(label) for label in human], own["human_clusters"]),
        "prediction_powered": prediction_powered(*verdicts, human, **own),
        "rogan_gladen": rogan_gladen(*verdicts, human, **own),
    }
    assert found.without_verdict == len(points) - len(read) == 6
    assert list(found.estimates()) == list(expected)
    for name, estimate in found.estimates().items():
        assert vars(estimate) == pytest.approx(vars(expected[name])), name
    assert found.prediction_powered.n == len(read) < len(points)
    assert found.judged.value > found.rogan_gladen.value  # the judge was easygoing


def table(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def human_labels(path: Path) -> list[dict[str, str]]:
    """Labels of every other row, a third of them against the grader."""
    points = read_graded(path).points
    with ELEMENTS.open(newline="", encoding="utf-8") as file:
        corpus = list(csv.DictReader(file))
    rows = []
    for i, (row, point) in enumerate(zip(corpus, points, strict=True)):
        assert point.id.startswith(f"{row['idx']}-")
        label = bool(point.passed) != (i % 3 == 0)
        named = {"id": point.id, "idx": row["idx"], "element": row["element"]}
        rows.append(named | {"label": "PASS" if label else "FAIL", "explanation": f"  {point.explanation}\n"})
    return rows[::2]


@pytest.mark.parametrize("columns", [("id",), ("idx", "element"), ("id", "explanation"), ("id", "idx", "element")])
def test_labels_go_by_id_or_by_idx_and_element(logs: Logs, tmp_path: Path, columns: tuple[str, ...]) -> None:
    rows = human_labels(logs.of("a", "judge"))
    path = table(tmp_path / "labels.csv", [{name: row[name] for name in (*columns, "label")} for row in rows])
    points = read_judged(logs.of("a", "judge"))
    labels = read_labels(path, points)
    assert labels == {row["id"]: row["label"] == "PASS" for row in rows}
    found = correct(points, labels)
    assert found.judged == lines_of([read_graded(logs.of("a", "judge"))])[0].score
    assert found.labelled.n == sum(p.passed is not None for p in points if p.id in labels) < len(labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "pass"}, "labels.csv, line 2: label is 'pass'; it must be PASS or FAIL"),
        ({"label": ""}, "label is ''"),
        ({"id": "1-nobody"}, "1 labelled row: 1-nobody not among the judged rows. Nothing was computed."),
        ({"id": "3-k"}, "labels.csv, line 3: the same row as .*labels.csv, line 2"),
        ({"explanation": "Another one."}, "line 2: labels another explanation than the one that was judged"),
    ],
)
def test_labels_that_do_not_fit(tmp_path: Path, change: dict[str, str], message: str) -> None:
    points, labels = judged_rows(1)
    texts = {p.id: p.explanation or "" for p in points}
    rows = [{"id": k, "label": "PASS" if v else "FAIL", "explanation": texts[k]} for k, v in labels.items()]
    rows[0] |= change
    with pytest.raises(BadInput, match=message):
        read_labels(table(tmp_path / "labels.csv", rows), points)


def test_label_files_that_are_none(tmp_path: Path) -> None:
    points, _ = judged_rows(1)
    for rows, message in (
        ([{"id": "0-k", "labels": "PASS"}], "there is no column 'label'.*Did you mean 'labels'"),
        ([{"idx": "0", "label": "PASS"}], "needs a column id, or the columns idx and element"),
    ):
        with pytest.raises(BadInput, match=message):
            read_labels(table(tmp_path / "labels.csv", rows), points)
    with pytest.raises(BadInput, match="cannot be read"):
        read_labels(tmp_path / "missing.csv", points)


def test_a_correction_needs_ten_labels_of_rows_with_a_verdict() -> None:
    points, labels = judged_rows(1)
    silent = {p.id: True for p in points if p.passed is None}
    said = {p.id: labels[p.id] for p in points if p.id in labels and p.passed is not None}
    nine, ten = dict(list(said.items())[:9]), dict(list(said.items())[:10])
    for few in ({}, {"3-k": True}, silent, {"3-k": True, **silent}, nine, {**nine, **silent}):
        counted = len([k for k in few if k not in silent])
        message = f"^{counted} of the labelled rows have a verdict; a correction needs at least 10"
        with pytest.raises(BadInput, match=message):
            correct(points, few)
    found = correct(points, ten)
    assert (found.labelled.n, found.prediction_powered.n) == (10, 54)


@pytest.mark.parametrize(("n", "few"), [(10, True), (99, True), (100, False), (150, False)])
def test_a_correction_by_few_labels_says_so(tmp_path: Path, n: int, few: bool) -> None:
    points, _ = judged_rows(1, 300)
    said = [p for p in points if p.passed is not None]
    silent = [p for p in points if p.passed is None]  # which do not count
    labels = {p.id: i % 3 > 0 for i, p in enumerate([*said[:n], *silent])}
    warning = f"{n} labelled rows: below 100 the corrected intervals are too narrow." if few else ""
    assert correct(points, labels).few == warning
    words = {True: "PASS", False: "FAIL", None: ""}
    rows = [{"id": p.id, "cluster": p.cluster, "verdict": words[p.passed]} for p in points]
    judged = table(tmp_path / "judged.csv", rows)
    named = table(tmp_path / "labels.csv", [{"id": k, "label": words[v]} for k, v in labels.items()])
    done = humor_tasks("correct-for-judge", judged, "--labels", named, "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr == (f"Beware: {warning}\n" if few else "")
    assert json.loads(done.stdout)["metrics"]["labelled"]["n"] == n


def test_judged_rows_from_a_csv(tmp_path: Path) -> None:
    points, labels = judged_rows(2)
    words = {True: "PASS", False: "FAIL", None: ""}
    rows = [{"id": p.id, "cluster": p.cluster, "verdict": words[p.passed]} for p in points]
    found = read_judged(table(tmp_path / "judged.csv", rows))
    assert [(p.id, p.cluster, p.passed) for p in found] == [(p.id, p.cluster, p.passed) for p in points]
    assert correct(found, labels) == correct(points, labels)
    alone = read_judged(table(tmp_path / "alone.csv", [{k: row[k] for k in ("id", "verdict")} for row in rows]))
    assert [p.cluster for p in alone] == [p.id for p in alone]
    named = read_judged(table(tmp_path / "named.csv", [{"idx": "7", "element": "A pun.", "verdict": "FAIL"}]))
    assert [(p.id.split("-")[0], p.passed) for p in named] == [("7", False)]
    assert len(named[0].id) == len("7-") + 8
    with pytest.raises(BadInput, match=r"bad.csv, line 2: verdict is 'maybe'; it must be PASS, FAIL or empty"):
        read_judged(table(tmp_path / "bad.csv", [{"id": "1", "verdict": "maybe"}]))
    with pytest.raises(BadInput, match=r"line 3: the same row as .* line 2"):
        read_judged(table(tmp_path / "twice.csv", 2 * [{"id": "1", "verdict": "PASS"}]))


# ---- prices -------------------------------------------------------------------------------------


def test_the_packaged_prices() -> None:
    prices = read_prices()
    assert {"openai/gpt-4o", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro"} <= set(prices)
    for name, price in prices.items():
        assert "/" in name
        assert price.source.startswith("https://"), name
        assert date.fromisoformat(price.as_of) > date(2024, 1, 1), name
        assert 0 <= price.cache_read <= price.input <= price.output, name


def test_the_cost_of_tokens() -> None:
    price = Price(1, 10, 0.1, 2, "-", "-")
    assert price.cost(100, 10, 30, 5) == pytest.approx(213e-6)
    assert price.cost(1_000_000, 0) == 1


def test_prices_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = tmp_path / "own.toml", tmp_path / "other.toml"
    own.write_text('[models."x/y"]\ninput = 1\noutput = 2.5\n')
    other.write_text('[models."x/z"]\ninput = 0\noutput = 0\nas_of = 2026-01-02\nsource = "https://x.example"\n')
    monkeypatch.setenv(VARIABLE, str(own))
    assert read_prices() == {"x/y": Price(1, 2.5, 1, 1, "-", "-")}  # without a cache price: that of input
    assert read_prices(other) == {"x/z": Price(0, 0, 0, 0, "2026-01-02", "https://x.example")}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "~/other.toml")
    assert list(read_prices()) == ["x/z"]
    monkeypatch.setenv(VARIABLE, "")
    assert "openai/gpt-4o" in read_prices()


def test_prices_that_name_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    entry = '[models."x/y"]\ninput = 1\noutput = 2\n'
    found = []
    for head in ("", 'currency = "USD"\n', 'unit = "million tokens"\n', 'currency = "USD"\nunit = "million tokens"\n'):
        path.write_text(head + entry)
        found.append(read_prices(path))
    assert found == [{"x/y": Price(1, 2, 1, 1, "-", "-")}] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('currency = "EUR"\n[models."x/y"]\ninput = 1\noutput = 1', "currency is 'EUR'; prices are read as USD"),
        ('currency = ""\n[models."x/y"]\ninput = 1\noutput = 1', "currency is ''; prices are read as USD"),
        ('unit = "token"\n[models."x/y"]\ninput = 1\noutput = 1', "unit is 'token'; prices are read as million tokens"),
        ('unit = 1\n[models."x/y"]\ninput = 1\noutput = 1', "unit is 1; prices are read as million tokens"),
        (None, "cannot be read"),
        ("[models", "cannot be read"),
        ("\udcff", "cannot be read"),
        ("", "has no table"),
        ("[models]", "has no table"),
        ("models = 3", "has no table"),
        ('models = ["x/y"]', "has no table"),
        ('[models]\n"x/y" = 3', "x/y: must be a table with input, output"),
        ('[models."x/y"]\ninput = -1\noutput = 1', r"x/y: input is -1; it must be dollars"),
        ('[models."x/y"]\ninput = "1"\noutput = 1', "x/y: input is '1'"),
        ('[models."x/y"]\ninput = true\noutput = 1', "x/y: input is True"),
        ('[models."x/y"]\ninput = 1\noutput = nan', "x/y: output is nan"),
        ('[models."x/y"]\ninput = 1\noutput = inf', "x/y: output is inf"),
        ('[models."x/y"]\ninput = 1\noutput = 1\ncache_read = -0.1', "x/y: cache_read is -0.1"),
        ('[models."x/y"]\ninput = 1', "x/y: has no output price"),
        ('[models."x/y"]\noutput = 1', "x/y: input is None"),
    ],
)
def test_prices_that_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_prices: None, text: str | None, message: str
) -> None:
    path = tmp_path / "prices.toml"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=f"prices: {re.escape(str(path))}.*{message}"):
        read_prices(path)
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(PrerequisiteError, match=message):
        register_prices()
    with pytest.raises(PrerequisiteError, match=message):  # the failure is not remembered as done
        humorbench(dataset="sample")


def cost_of(name: str) -> float | None:
    info = get_model_info(name)
    return info.cost.input if info and info.cost else None


def test_models_that_the_user_priced_keep_their_price(no_prices: None) -> None:
    before = get_model_info("openai/gpt-4o-mini")
    assert before
    assert before.cost is None
    set_model_cost("openai/gpt-4o", ModelCost(input=77, output=1, input_cache_read=1, input_cache_write=1))
    register_prices()
    assert cost_of("openai/gpt-4o") == 77
    assert cost_of("openai/gpt-4o-mini") == read_prices()["openai/gpt-4o-mini"].input
    after = get_model_info("openai/gpt-4o-mini")
    assert after
    assert after.model_copy(update={"cost": None}) == before


def test_prices_are_registered_once_a_process(logs: Logs, no_prices: None, monkeypatch: pytest.MonkeyPatch) -> None:
    humorbench(dataset="sample")
    assert cost_of("mockllm/a") is None
    monkeypatch.setenv(VARIABLE, str(logs.prices))
    humorbench(dataset="sample")
    assert cost_of("mockllm/a") is None
    register_prices.cache_clear()
    humorbench(dataset="sample")
    assert cost_of("mockllm/a") == 1


def test_a_cost_config_goes_before_our_prices(logs: Logs, tmp_path: Path) -> None:
    """Applied after our prices, as in a call of eval()."""
    own = ModelCost(input=1000, output=0, input_cache_read=0, input_cache_write=0)

    def make() -> EvalLog:
        task = humorbench(dataset="sample", cache=False)
        return run(task, explainer("a"), [grader("judge")], tmp_path, limit=2, model_cost_config={"mockllm/a": own})

    found = read_graded(Path(logs.priced(make).location))
    assert found.explainer
    assert found.grader
    assert found.explainer.cost == pytest.approx(2 * 100 * 1000 / 1e6)
    assert found.grader.cost == pytest.approx(2 * GRADED["judge"] / 1e6)


@pytest.mark.slow
def test_a_cost_config_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Applied before our prices are registered."""
    (tmp_path / "costs.json").write_text(
        json.dumps({"openai/gpt-4o": {"input": 1000, "output": 0, "input_cache_read": 0, "input_cache_write": 0}})
    )
    (tmp_path / "prices.toml").write_text(
        '[models."openai/gpt-4o"]\ninput = 1\noutput = 1\n[models."openai/gpt-4o-mini"]\ninput = 2\noutput = 3\n'
    )
    monkeypatch.setenv(VARIABLE, str(tmp_path / "prices.toml"))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("INSPECT_DISPLAY", "plain")

    def answer(messages: list[dict[str, Any]]) -> str:
        asked = text_of(messages[-1])
        return "<judgement>PASS</judgement>" if "<point>" in asked else "<explanation>A pun.</explanation>"

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = [sys.executable, "-m", "inspect_ai", "eval", "humor_tasks/humorbench", "-T", "dataset=sample"]
        command += ["-T", "cache=false", "--model", "openai/gpt-4o", "--model-role", "grader=openai/gpt-4o-mini"]
        command += ["--limit", "3", "--log-dir", str(tmp_path), "--model-cost-config", str(tmp_path / "costs.json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("*.eval")
    found = read_graded(path)
    assert found.explainer
    assert spent(found.explainer) == (3, 3, 3 * 1000 / 1e6)  # a token in and a token out a request
    assert spent(found.grader) == (3, 3, 3 * (2 + 3) / 1e6)


# ---- the command line ---------------------------------------------------------------------------


def humor_tasks(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_report_on_the_command_line(logs: Logs, tmp_path: Path) -> None:
    paths = [*logs.pool(), logs.of("free", "judge", limit=4)]
    done = humor_tasks("report", *paths, "-o", tmp_path / "r.json", "--plot", tmp_path / "p.svg", "--hard", "wordplay")
    assert done.exit_code == 0, done.output
    shown = done.stdout.splitlines()
    assert shown[0].startswith("| model | score | of | hard score | of |")
    assert shown[-1] == f"{tmp_path / 'p.svg'}: 3 of 4 models have a known cost."
    assert done.stderr == f"Beware: {paths[-1].name} holds 4 samples of {ROWS}.\n"
    lines = lines_of([read_graded(path) for path in paths])
    assert "\n".join(shown[:-1]) + "\n" == as_markdown(lines)
    assert json.loads((tmp_path / "r.json").read_text()) == json.loads(as_json(lines))


def test_report_prices_anew_on_the_command_line(logs: Logs, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."mockllm/free"]\ninput = 1000\noutput = 0\ncache_read = 0\ncache_write = 0\n')
    path = logs.of("free", "judge", limit=4)
    done = humor_tasks("report", path, "--prices", prices)
    ends = "| 540 / 40 | {} | mockllm/judge | 28 / 4 | {} | 1-A |"
    assert done.stdout.splitlines()[2].endswith(ends.format("$0.4000", "-"))
    assert humor_tasks("report", path).stdout.splitlines()[2].endswith(ends.format("-", "$0.0014"))
    done = humor_tasks("report", path, "--prices", tmp_path / "none.toml")
    assert done.exit_code == 2
    assert "prices: " in done.output


def test_report_prices_logs_without_costs_by_the_users_list(
    logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        "".join(f'[models."mockllm/{name}"]\ninput = 1000\noutput = 0\n' for name in ("free", "judge", "a"))
    )
    half, whole = logs.of("free", "judge", limit=4), logs.of("a", "judge", limit=4)

    def costs(*more: str | Path) -> list[list[float | None]]:
        done = humor_tasks("report", half, whole, "-o", tmp_path / "r.json", *more)
        assert done.exit_code == 0, done.output
        cells = {row["model"]: row for row in json.loads((tmp_path / "r.json").read_text())}
        return [[cells[f"mockllm/{m}"][f"{who}_cost"] for who in ("explainer", "grader")] for m in ("free", "a")]

    recorded = [None, pytest.approx(4 * 340e-6)], [pytest.approx(4 * 213e-6), pytest.approx(4 * 340e-6)]
    assert costs() == list(recorded)  # the packaged list has no such model
    monkeypatch.setenv(VARIABLE, str(prices))
    free, judge, a = (pytest.approx(4 * tokens * 1000 / 1e6) for tokens in (135, 7, 135))
    assert costs() == [[free, recorded[0][1]], recorded[1]]  # what was recorded stands
    assert costs("--prices", prices) == [[free, judge], [a, judge]]
    prices.write_text("models = 3")
    done = humor_tasks("report", half)
    assert done.exit_code == 2
    assert "has no table" in " ".join(done.output.split())


def test_report_says_on_stderr_what_does_not_compare(logs: Logs, tmp_path: Path) -> None:
    alike = humor_tasks("report", *logs.pool())
    assert (alike.exit_code, alike.stderr) == (0, "")
    other = logs.of("a", "free", limit=4)
    done = humor_tasks("report", *logs.pool(), other, "-o", tmp_path / "r.csv")
    assert done.exit_code == 0
    told = incomparable(lines_of([read_graded(path) for path in (*logs.pool(), other)]))
    assert len(told) == 2
    assert done.stderr.splitlines() == [f"Beware: {text}" for text in told]
    assert "Beware" not in done.stdout
    assert "Beware" not in (tmp_path / "r.csv").read_text()


def test_commands_that_fail_leave_what_was_there(logs: Logs, tmp_path: Path) -> None:
    mine = {name: tmp_path / name for name in ("r.txt", "p.png", "s.json", "labels.csv")}
    for path in mine.values():
        path.write_text("mine")
    log, free = logs.of("a", "judge"), logs.of("free", "judge", limit=4)
    for arguments, message in (
        (["report"], "Missing argument"),
        (["report", tmp_path / "no.eval"], "there is no such log"),
        (["report", log, tmp_path / "no.eval", "--plot", mine["p.png"]], "there is no such log"),
        (["report", log, "-o", mine["r.txt"]], "a report ends in"),
        (["report", log, "--hard", "easy"], "there is no 'easy'"),
        (["report", free, "--plot", mine["p.png"]], "no log has both a score and a known cost"),
        (["hard-subset", log, "-o", mine["s.json"]], "no row has 3 verdicts; the most is 1"),
        (["hard-subset", log, "-o", mine["s.json"], "--size", "0"], "0 is not in the range"),
        (["hard-subset", log, "-o", mine["s.json"], "--min-attempts", "1"], "100 would be all of them"),
        (["hard-subset", log], "Missing option '-o'"),
        (["correct-for-judge", log, "--labels", mine["labels.csv"]], "there is no column 'label'"),
        (["correct-for-judge", mine["s.json"], "--labels", mine["labels.csv"]], "cannot be read as an Inspect log"),
        (["correct-for-judge", log], "Missing option '--labels'"),
    ):
        done = humor_tasks(*arguments)
        assert done.exit_code == 2, arguments
        assert message in " ".join(done.output.split()), arguments
        assert "Traceback" not in done.output
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(mine, "mine")


def test_correct_for_judge_on_the_command_line(logs: Logs, tmp_path: Path) -> None:
    log = logs.of("a", "judge")
    path = table(tmp_path / "labels.csv", human_labels(log))
    points = read_judged(log)
    expected = correct(points, read_labels(path, points))
    shown = humor_tasks("correct-for-judge", log, "--labels", path)
    assert shown.exit_code == 0, shown.output
    names = [row.split()[0] for row in shown.output.splitlines()[1:5]]
    assert names == ["judged", "labelled", "prediction_powered", "rogan_gladen"]
    assert f"judged:{log.name}|labels:labels.csv|without_verdict:{expected.without_verdict}" in shown.output
    found = json.loads(humor_tasks("correct-for-judge", log, "--labels", path, "--json").stdout)
    for name, estimate in expected.estimates().items():
        assert Estimate(**found["metrics"][name]) == pytest.approx(estimate)
    assert expected.without_verdict > 0


def test_what_cannot_be_known_is_null(tmp_path: Path) -> None:
    points, _ = judged_rows(3)
    rows = [{"id": p.id, "verdict": "PASS" if p.passed else "FAIL"} for p in points]
    judged = table(tmp_path / "judged.csv", rows)
    labels = table(tmp_path / "labels.csv", [{"id": p.id, "label": "PASS"} for p in points[:12]])
    done = humor_tasks("correct-for-judge", judged, "--labels", labels, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout, parse_constant=pytest.fail)["metrics"]
    assert found["rogan_gladen"]["value"] is None  # no FAIL among the labels
    assert found["labelled"]["value"] == 1
    assert math.isfinite(found["prediction_powered"]["value"])


@pytest.mark.slow
def test_a_process_of_its_own(logs: Logs, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "humor_tasks.cli", "report", str(logs.of("a", "judge")), "-o"]
    done = subprocess.run([*command, str(tmp_path / "r.csv")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text()))
    assert float(row["explainer_cost"]) == pytest.approx(ROWS * 213e-6)
    assert done.stdout.startswith("| model |")
    refused = subprocess.run([*command, str(tmp_path / "r.txt")], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "a report ends in" in refused.stderr
    assert "Traceback" not in refused.stderr
