"""A panel of judges from the logs of their exams, against the numbers of its formulas on the same verdicts."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from standins.commands import humor_tasks, refused
from standins.grading import verdict
from standins.once import made_once

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.results import read_results
from humor_tasks.results.analysis.panel import COLUMNS, panel_of
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.panel import panel_errors
from humor_tasks.tasks import humorbench_autograder
from humor_tasks.testing import ScriptedModel, material

ROWS = load("humorbench_autograder", dataset="sample").records
ERRS = {"a": {1, 2, 3, 5}, "b": {2, 3, 5, 8}, "c": {3, 7, 13, 21}}
UNREAD = {"c": {30}}


def verdicts(name: str) -> list[bool | None]:
    """A judge's verdict on each row."""
    labels = [record.target == "PASS" for record in ROWS]
    said = [label != (i in ERRS[name]) for i, label in enumerate(labels)]
    return [None if i in UNREAD.get(name, ()) else said[i] for i in range(len(ROWS))]


def examine(name: str, folder: Path, limit: int | None = None, **more: Any) -> Path:
    said = {record.fields["point"] + record.fields["answer"]: v for record, v in zip(ROWS, verdicts(name), strict=True)}

    def answer(messages: Any) -> str:
        shown = material(messages[-1].text)
        return verdict(said[shown["point"] + shown["explanation"]])

    task, model = humorbench_autograder("sample"), ScriptedModel(name, answer).model
    (log,) = eval(task, model=model, log_dir=str(folder), display="log", limit=limit, **more)
    assert log.status == "success", log.error
    return Path(log.location)


@pytest.fixture(scope="module")
def exams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of three judges."""
    return made_once(tmp_path_factory, "panel", lambda folder: [examine(name, folder) for name in "abc"])


def test_the_panel_is_that_of_the_verdicts(exams: Path) -> None:
    results = sorted(read_results([exams]).results, key=lambda result: result.system)
    found = panel_of(results)
    expected = panel_errors(
        [record.target == "PASS" for record in ROWS],
        {f"mockllm/{name}": verdicts(name) for name in "abc"},
        [record.cluster for record in ROWS],
    )
    assert found.errors == expected
    assert (found.items, found.elsewhere, found.errors.left_out) == (len(ROWS), 0, 1)
    lines = {(measure, judges): e for measure, judges, e in found.lines}
    assert lines["error_correlation", "mockllm/a and mockllm/b"] == expected.correlations["mockllm/a", "mockllm/b"]
    assert lines["gain_of_3", "all 3"] == expected.majorities[3].gain
    assert [measure for measure, _ in lines].count("error_correlation") == 3


def test_the_command_prints_and_writes_the_panel(exams: Path, tmp_path: Path) -> None:
    for ending in ("md", "csv", "json"):
        printed = humor_tasks("judge", "exam", exams, "--panel", "-o", tmp_path / f"panel.{ending}")
    assert printed == (tmp_path / "panel.md").read_text()
    assert "humorbench\\_autograder: 3 judges, 40 items" in printed
    assert "Items left out of the gains, because a judge gave no verdict: 1." in printed
    rows = json.loads((tmp_path / "panel.json").read_text())
    assert rows == json.loads(humor_tasks("judge", "exam", exams, "--panel", "--json"))
    written = list(csv.DictReader((tmp_path / "panel.csv").open()))
    assert [list(row) for row in (rows[0], written[0])] == [list(COLUMNS)] * 2
    for row, of_csv in zip(rows, written, strict=True):
        assert {name: "" if value is None else str(value) for name, value in row.items()} == of_csv
    assert len({row["judges"] for row in rows}) == 4


def test_a_panel_keeps_the_items_that_all_judges_judged(exams: Path, tmp_path: Path) -> None:
    short = examine("a", tmp_path, limit=30)
    found = panel_of(read_results([exams, short]).results)
    assert (found.items, found.elsewhere) == (30, 10)
    assert sum(judge.startswith("mockllm/a (") for judge in found.judges) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda exams, folder: [next(exams.glob("*.eval"))], "is the only run of humorbench_autograder"),
        (lambda exams, folder: [exams, examine("a", folder, limit=1, epochs=2)], "holds several epochs"),
    ],
)
def test_what_is_no_panel(make: Any, message: str, exams: Path, tmp_path: Path) -> None:
    assert message in refused("judge", "exam", "--panel", *make(exams, tmp_path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda o: replace(o, target="PASS" if o.target == "FAIL" else "FAIL"), "another right answer than in"),
        (lambda o: replace(o, id=f"another-{o.id}"), "no item with a right answer in common"),
        (lambda o: replace(o, target=None), "no item with a right answer in common"),
    ],
)
def test_runs_of_other_items(change: Callable[[Outcome], Outcome], message: str, exams: Path) -> None:
    first, second, _ = read_results([exams]).results
    other = replace(second, outcomes=tuple(map(change, second.outcomes)))
    with pytest.raises(BadInput, match=message):
        panel_of([first, other])


def test_the_file_of_a_panel(exams: Path) -> None:
    assert "a panel ends in .md, .csv, .json" in refused("judge", "exam", exams, "--panel", "-o", "panel.txt")
    assert "takes the panel; add --panel" in refused("judge", "exam", exams, "-o", "panel.md")
