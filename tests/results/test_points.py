"""What is read from a graded log: its points, tokens and costs, and what a run did not pay for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import Model, get_model
from inspect_ai.solver import generate
from standins.graded_logs import (
    EXPLAINED,
    EXPLAINING,
    GRADED,
    GRADING,
    ROWS,
    Logs,
    explainer,
    grader,
    paid,
    report_of,
    rows_of,
    run_log,
    spent,
    verdict,
)

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.logs.prices import Price, read_prices
from humor_tasks.on_inspect import element_coverage
from humor_tasks.on_inspect.judging import graders
from humor_tasks.results.analysis.verdicts import read_judged
from humor_tasks.results.grade import grading_task, read_written
from humor_tasks.results.points import read_graded
from humor_tasks.results.report.folder import plot_cost
from humor_tasks.results.report.table import Cost
from humor_tasks.tasks import humorbench, matching
from humor_tasks.testing import ScriptedModel, scripted_judge

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
    assert str(found.grading).startswith("graders:mockllm/judge|verdict:tags")
    assert found.fingerprint == load("humorbench", dataset="sample").data.provenance["fingerprint"]


def test_tokens_and_costs_of_explainer_and_grader_are_told_apart(logs: Logs) -> None:
    system, graders = paid(logs.of("a", "judge"))
    assert spent(system) == (ROWS * 135, ROWS * 10, ROWS * EXPLAINED["a"] / 1e6)
    assert spent(graders) == (ROWS * 7, ROWS * 1, ROWS * GRADED["judge"] / 1e6)


@pytest.mark.parametrize("anew", [False, True])
def test_a_model_that_grades_itself(logs: Logs, anew: bool) -> None:
    system, graders = paid(logs.of("a", "a", limit=4), read_prices(logs.prices) if anew else None)
    assert spent(system) == (4 * 135, 4 * 10, 4 * EXPLAINED["a"] / 1e6)
    assert spent(graders) == (4 * 7, 4 * 1, 4 * GRADED["a"] / 1e6)


@pytest.mark.parametrize("anew", [False, True])
def test_a_panel_costs_what_its_graders_cost(logs: Logs, anew: bool) -> None:
    path = logs.of("b", "judge", "c", limit=4)
    system, graders = paid(path, read_prices(logs.prices) if anew else None)
    assert spent(system) == (4 * 135, 4 * 10, 4 * EXPLAINED["b"] / 1e6)
    assert spent(graders) == (4 * 14, 4 * 2, 4 * (GRADED["judge"] + GRADED["c"]) / 1e6)
    found = read_graded(path)
    assert "mockllm/judge,mockllm/c" in found.grading["graders"]
    records = load("humorbench", dataset="sample").records[:4]
    assert [p.passed for p in found.points] == [verdict("b", r.points[0].text) for r in records]


def test_a_panel_with_the_explainer_in_it(logs: Logs) -> None:
    path = logs.of("a", "a", "judge", limit=4)
    system, graders = paid(path)
    assert spent(system) == (4 * 135, 4 * 10, 4 * EXPLAINED["a"] / 1e6)
    assert spent(graders) == (4 * 14, 4 * 2, 4 * (GRADED["a"] + GRADED["judge"]) / 1e6)
    system, graders = paid(path, read_prices(logs.prices))
    assert spent(system) == (4 * 135, 4 * 10, None)  # its tokens as grader are not recorded apart
    assert spent(graders) == (4 * 14, 4 * 2, None)


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
    path, prices = logs.of(name, *judges, limit=4), read_prices(logs.prices) if anew else None
    costs = [None if each is None else pytest.approx(4 * each / 1e6) for each in (explaining, grading)]
    assert [role and role.cost for role in paid(path, prices)] == costs
    (cells,) = rows_of(report_of(path, prices=prices, anew=anew))
    assert (cells["cost"] == "-") == (explaining is None)
    assert (cells["grader cost"] == "-") == (grading is None)
    assert "-" not in (cells["tokens in / out"], cells["grader tokens in / out"])


def test_tokens_priced_anew(logs: Logs) -> None:
    other = {"mockllm/a": Price(2, 20, 0, 0, "-", "-"), "mockllm/judge": Price(1, 1, 1, 1, "-", "-")}
    graders = pytest.approx(ROWS * 8 / 1e6)
    costs = [role and role.cost for role in paid(logs.of("a", "judge"), other)]
    assert costs == [pytest.approx(ROWS * (200 + 200) / 1e6), graders]
    without = paid(logs.of("a", "judge"), {"mockllm/judge": other["mockllm/judge"]})
    assert [role and role.cost for role in without] == [None, graders]


def test_verdicts_in_a_task_of_another_package(logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def given(name: str, memoize: bool) -> Model:
        assert (name, memoize) == ("mockllm/judge", False)
        return scripted_judge("judge", True, usage=GRADING).model

    monkeypatch.setattr(graders, "get_model", given)
    other = Task(
        dataset=[Sample(id=1, input="Why?", target=["One.", "Two."])],
        solver=generate(),
        scorer=element_coverage(grader="mockllm/judge", cache=False),
        metadata={"source": "a diary"},
    )
    log = logs.priced(lambda: run_log(other, explainer("a"), [], tmp_path))
    found = read_graded(Path(log.location))
    assert [(point.id, point.passed) for point in found.points] == [("1-1", True), ("1-2", True)]
    assert found.fingerprint is None


@pytest.mark.slow
def test_a_log_of_grade_has_no_explainer_to_pay(logs: Logs, tmp_path: Path) -> None:
    path = logs.of("a", "judge", limit=4)
    task = logs.priced(lambda: grading_task(read_written(path, "humorbench"), "humorbench", path.name, cache=False))
    log = logs.priced(lambda: run_log(task, get_model("none/none"), [grader("judge")], tmp_path))
    found, first = read_graded(Path(log.location)), read_graded(path)
    assert found.model == "mockllm/a"
    assert found.points == first.points
    system, graders = paid(Path(log.location))
    assert system is None
    assert spent(graders) == spent(paid(path)[1])
    report = report_of(Path(log.location))
    assert (report.rows[0]["cost"], report.rows[0]["output_tokens"]) == (None, None)
    (cells,) = rows_of(report)
    assert (cells["tokens in / out"], cells["cost"], cells["grader tokens in / out"]) == ("-", "-", "28 / 4")
    with pytest.raises(BadInput, match="known cost"):
        plot_cost(tmp_path / "p.png", report)


def test_logs_that_are_not_graded(logs: Logs, tmp_path: Path) -> None:
    other = run_log(
        matching(dataset="sample"), ScriptedModel("a", "Answer: A", EXPLAINING).model, [], tmp_path, limit=1
    )
    with pytest.raises(BadInput, match="has no score of element_coverage"):
        read_graded(Path(other.location))
    task = humorbench(dataset="sample", cache=False)
    hidden = run_log(task, explainer("a"), [grader("judge")], tmp_path, limit=1, log_samples=False)
    with pytest.raises(BadInput, match="holds no verdicts"):
        read_graded(Path(hidden.location))


def test_a_run_whose_samples_failed(tmp_path: Path) -> None:
    task = humorbench(dataset="sample", cache=False)
    once = ["<explanation>a gets it.</explanation>", *(4 * [RuntimeError("out of jokes")])]
    model = ScriptedModel("a", once, EXPLAINING).model
    log = run_log(task, model, [grader("judge")], tmp_path, limit=2, max_samples=1, fail_on_error=False)
    with pytest.raises(BadInput, match=r"sample 90.* has no score of element_coverage"):
        read_graded(Path(log.location))


@pytest.mark.slow
def test_every_epoch_counts(tmp_path: Path) -> None:
    task = humorbench(dataset="sample", cache=False)
    log = run_log(task, explainer("a"), [grader("judge")], tmp_path, limit=3, epochs=2)
    found = read_graded(Path(log.location))
    assert sorted(p.id for p in found.points) == sorted(
        2 * [r.id for r in load("humorbench", dataset="sample").records[:3]]
    )
    with pytest.raises(BadInput, match="holds 3 rows more than once"):
        read_judged(Path(log.location))


@pytest.mark.slow
def test_a_log_says_what_it_is_of(logs: Logs, tmp_path: Path) -> None:
    (group,) = report_of(logs.of("a", "judge")).scorecard.groups
    assert (group.about["version"], group.about["subset"], group.about["items"]) == ("1-A", "all", str(ROWS))
    part = run_log(
        humorbench(dataset="sample", subset="wordplay", cache=False), explainer("a"), [grader("judge")], tmp_path
    )
    size = len(load("humorbench", dataset="sample", subset="wordplay").records)
    written = read_written(Path(part.location), "humorbench")
    again = run_log(
        grading_task(written, "humorbench", "x", cache=False), get_model("none/none"), [grader("judge")], tmp_path
    )
    (group,) = report_of(Path(part.location), Path(again.location)).scorecard.groups
    assert len(group.results) == 2
    assert (group.about["version"], group.about["subset"], group.about["items"]) == ("1-A", "wordplay", str(size))


# ---- verdicts that the run did not pay for ------------------------------------------------------


def unpaid(path: Path, prices: Mapping[str, Price] | None = None) -> Cost | None:
    """What the system took, of a log that must show nothing of its grader's tokens and cost."""
    system, graders = paid(path, prices)
    assert graders is None
    report = report_of(path, prices=prices, anew=prices is not None)
    names = ("grader_input_tokens", "grader_output_tokens", "grader_cost")
    assert [report.rows[-1][name] for name in names] == [None] * 3
    return system


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
        display="log",
    )
    path = tmp_path / "again.eval"
    write_eval_log(again, str(path))
    assert spent(unpaid(path)) == spent(paid(first)[0]) == (540, 40, 4 * EXPLAINED["a"] / 1e6)
    assert read_graded(path).grading["graders"] == f"mockllm/{judge}"


@pytest.mark.slow
@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("judges", [("judge", "c"), ("a",)])
def test_a_log_whose_verdicts_came_from_the_cache_does_not_show_them_as_free(
    logs: Logs, tmp_path: Path, judges: tuple[str, ...], anew: bool
) -> None:
    prices = read_prices(logs.prices) if anew else None

    def made() -> Path:
        task = humorbench(dataset="sample", cache=True)
        return Path(run_log(task, explainer("a"), [grader(judge) for judge in judges], tmp_path, limit=2).location)

    first, second = logs.priced(made), logs.priced(made)
    system, graders = paid(first, prices)
    assert spent(graders) == (2 * 7 * len(judges), 2 * len(judges), 2 * sum(GRADED[j] for j in judges) / 1e6)
    assert read_graded(second).points == read_graded(first).points
    assert spent(unpaid(second, prices)) == spent(system) == (270, 20, 2 * EXPLAINED["a"] / 1e6)
