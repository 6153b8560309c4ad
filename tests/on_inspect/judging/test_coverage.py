"""element_coverage in Inspect with scripted graders: whole runs, panels, failures, logs that are graded again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from standins.grading import (
    FEW,
    REFUSAL,
    as_object,
    bears,
    breaks,
    expected_of,
    explainer,
    found,
    graded_log,
    grader,
    left_out,
    only,
    own_task,
    points,
    replies_of,
    same,
    thirds,
    unread,
    verdict,
)
from standins.judging import between, says
from standins.logs import metrics

from humor_tasks import load
from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.on_inspect import element_coverage
from humor_tasks.scorers.verdict import majority
from humor_tasks.tasks import humorbench
from humor_tasks.testing import ScriptedModel

# ---- HumorBench, end to end ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("per", "on_unparsed"), [("row", "wrong"), ("caption", "exclude")])
def test_humorbench_on_the_sample(per: str, on_unparsed: str) -> None:
    parameters = {"dataset": "sample", "one_explanation_per": per, "on_unparsed": on_unparsed}
    opened = load("humorbench", **parameters)
    replies = replies_of(opened)
    model, judge = explainer(replies), grader("g", thirds)
    log = graded_log(humorbench(**parameters), model, judge)
    outcomes, expected = expected_of(opened, replies, thirds)
    same(log, expected)
    assert len(model.asked) == len(opened.records)
    explained = [(o, r) for o, r in zip(outcomes, opened.records, strict=True) if o.answer]
    assert len(explained) == len(outcomes) - 3
    assert len(judge.asked) == sum(len(record.points) for _, record in explained)
    assert left_out(log) == (3 if on_unparsed == "exclude" else 0)
    results = found(log)
    for record, outcome in zip(opened.records, outcomes, strict=True):
        result = results[record.id]
        assert result.answer == outcome.answer
        assert [(p["id"], p["point"]) for p in points(result)] == [(p.id, p.text) for p in record.points]
    assert log.eval.metadata
    assert log.eval.metadata["signature"] == str(opened.signature("generate"))
    assert log.eval.task_version == opened.version == {"row": "1-A", "caption": "1-A-caption"}[per]


@pytest.mark.slow
def test_what_a_grader_is_shown_and_what_a_score_keeps() -> None:
    opened = load("humorbench", dataset="sample", subset=FEW)
    judge = ScriptedModel("g", lambda messages: verdict(True, "It names the bears."))
    answer = '1 < 2 &lt; {"3"}'
    log = graded_log(humorbench("sample", FEW), says("m", f"<explanation>{answer}</explanation>"), judge)
    rubric = open_rubric("humorbench")
    expected = []
    for record in opened.records:
        asked = rubric.ask({**record.fields, "answer": answer, "point": record.points[0].text})
        expected.append([(turn.role, turn.text) for turn in asked.turns])
    assert sorted(judge.asked) == sorted(expected)
    assert between(judge.asked[0][1][1], "explanation") == '1 &lt; 2 &amp;lt; &#123;"3"}'
    (point,) = points(found(log)[opened.records[0].id])
    assert point == {
        "id": opened.records[0].id,
        "point": opened.records[0].points[0].text,
        "passed": True,
        "verdicts": [{"grader": "mockllm/g", "word": True, "status": "answered", "reasons": "It names the bears."}],
    }
    signature = f"graders:mockllm/g|verdict:tags|temperature:0.0|seed:1234|prompts:{rubric.hash}"
    assert {(result.metadata or {})["signature"] for result in found(log).values()} == {signature}
    assert "It names the bears." in (found(log)[opened.records[0].id].explanation or "")


@pytest.mark.slow
def test_epochs_are_all_counted_and_graded_once() -> None:
    opened = load("humorbench", dataset="sample", subset=FEW)
    judge = grader("g", thirds)
    log = graded_log(humorbench("sample", FEW), explainer(replies_of(opened)), judge, epochs=2, max_samples=1)
    outcomes, _ = expected_of(opened, replies_of(opened), thirds)
    same(log, opened.metrics([o for outcome in outcomes for o in (outcome, outcome)]))
    assert len(judge.asked) == 4  # the second epoch's verdicts are those of the first


# ---- somebody else's task -----------------------------------------------------------------------


def test_somebody_elses_task_with_several_points() -> None:
    samples = [
        bears("one", "It has fur.", "no: It flies."),
        bears("two", "It eats honey.", "It sleeps.", "no: It swims.", context="A <zoo>."),
        bears("three", "no: It reads."),
    ]
    judge = grader("g", lambda point: not point.startswith("no"))
    log = graded_log(own_task(*samples), says("m", "<think>Hm.</think>They are <b>bears</b>."), judge)
    shown = metrics(log)
    names = ("coverage", "all_covered", "grader_failed", "undecided", "missing_verdicts")
    names += ("coverage_missing_failed", "coverage_missing_passed")
    assert list(shown)[:4] == ["coverage", "stderr", "ci_low", "ci_high"]
    assert set(shown) == {n + s for n in names for s in ("", "_stderr", "_ci_low", "_ci_high")} | set(list(shown)[:4])
    assert shown["coverage"] == pytest.approx(3 / 6)
    assert shown["all_covered"] == 0
    # deviations (1 - 2/2)/2, (2 - 3/2)/2, (0 - 1/2)/2, each sample a cluster of its own
    assert shown["coverage_stderr"] == pytest.approx(math.sqrt(3 / 2 * (0.25**2 + 0.25**2)) / 3)
    assert {name: result.value for name, result in found(log).items()} == pytest.approx(
        {"one": 1 / 2, "two": 2 / 3, "three": 0}
    )
    assert [point["id"] for point in points(found(log)["two"])] == ["two-1", "two-2", "two-3"]
    rubric = open_rubric("coverage")
    asked = [
        rubric.ask({"context": context, "answer": "They are <b>bears</b>.", "point": point})
        for context, targets in (("Why bears?", samples[0]), ("A <zoo>.", samples[1]), ("Why bears?", samples[2]))
        for point in targets.target
    ]
    assert sorted(judge.asked) == sorted([(turn.role, turn.text) for turn in prompt.turns] for prompt in asked)


def test_an_empty_answer_of_somebody_elses_task_covers_nothing() -> None:
    judge = grader("g", thirds)
    log = graded_log(own_task(bears()), says("m", "<think>Hm.</think> \n"), judge)
    assert metrics(log)["coverage"] == 0
    assert judge.asked == []
    assert only(log).reason == "no_response"


def test_a_target_without_points_is_an_error() -> None:
    log = graded_log(
        own_task(Sample(id="s", input="?", target=" ")), says("m", "x"), grader("g", thirds), status="error"
    )
    assert "the target has no reference point" in str(log.error)


# ---- panels, failures ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_panel_decides_by_majority() -> None:
    opened = load("humorbench", dataset="sample")
    rules = [thirds, lambda point: len(point) % 2 == 0, lambda point: None if len(point) % 5 == 0 else True]
    panel = [grader(name, rule) for name, rule in zip("abc", rules, strict=True)]
    log = graded_log(humorbench("sample"), explainer(replies_of(opened)), *panel)
    _, expected = expected_of(opened, replies_of(opened), lambda point: majority([rule(point) for rule in rules]))
    same(log, expected)
    assert {len(judge.asked) for judge in panel} == {35}
    for result in found(log).values():
        for point in points(result):
            said = {v["grader"]: v["word"] for v in point["verdicts"]}
            if result.answer:
                assert said == {f"mockllm/{n}": r(point["point"]) for n, r in zip("abc", rules, strict=True)}
                assert point["passed"] == majority(list(said.values()))
    assert expected["grader_failed"].value > 0
    assert unread(log) == sum(result.reason == "grader_failed" for result in found(log).values()) > 0


def yes(point: str) -> bool:
    return True


def no(point: str) -> bool:
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "passed", "words"),
    [
        (lambda: [grader("a", yes), grader("b", yes), breaks("c")], True, ["PASS", "PASS", "error"]),
        (lambda: [grader("a", no), breaks("b"), grader("c", no)], False, ["FAIL", "error", "FAIL"]),
        (lambda: [grader("a", yes), grader("b", no)], None, ["PASS", "FAIL"]),
        (lambda: [grader("a", yes), breaks("b")], None, ["PASS", "error"]),
        (lambda: [breaks("a")], None, ["error"]),
        (lambda: [says("a", "It passes: PASS.")], None, ["unparsed"]),
        (lambda: [says("a", "")], None, ["empty"]),
        (lambda: [says("a", "Well", "content_filter")], None, ["refused"]),
        (lambda: [says("a", verdict(True), "max_tokens")], None, ["unparsed"]),
        (lambda: [says("a", as_object(True))], None, ["unparsed"]),  # not the form that was asked for
    ],
)
def test_what_graders_amount_to(make: Callable[[], list[ScriptedModel]], passed: bool | None, words: list[str]) -> None:
    panel = make()
    log = graded_log(own_task(bears()), says("m", "<explanation>They are.</explanation>"), *panel)
    result = only(log)
    (point,) = points(result)
    assert point["passed"] is passed
    said = [("FAIL", "PASS")[v["word"]] if v["word"] is not None else v["status"] for v in point["verdicts"]]
    assert said == words
    for judge, kept in zip(panel, point["verdicts"], strict=True):
        if kept["status"] == "unparsed":
            assert kept["reply"]  # words that could not be read are kept
        if kept["status"] == "error":
            assert (kept["grader"], kept["reasons"]) == (f"mockllm/{judge.name}", "RuntimeError: the grader is down")
    assert [len(judge.asked) for judge in panel] == [1] * len(panel)
    why = "undecided" if words == ["PASS", "FAIL"] else "grader_failed"
    for name in ("grader_failed", "undecided"):
        assert (result.metadata or {})["values"][name] == (passed is None and name == why)
        assert metrics(log)[name] == (passed is None and name == why)
    if passed is None:
        assert (result.reason, result.value) == (why, "N")
        assert "coverage" not in metrics(log)
    else:
        assert (result.reason, metrics(log)["coverage"]) == (None, float(passed))


def test_a_point_without_a_verdict_leaves_the_denominator() -> None:
    judge = grader("g", lambda point: {"y": True, "n": False, "?": None}[point[0]])
    samples = [bears("a", "y", "?"), bears("b", "n", "y", "?"), bears("c", "?", "? too"), bears("d", "y")]
    log = graded_log(own_task(*samples), says("m", "<explanation>Bears.</explanation>"), judge)
    assert metrics(log)["coverage"] == pytest.approx(3 / 4)  # y, n, y, y
    assert metrics(log)["all_covered"] == pytest.approx(1 / 2)  # of b and d
    assert metrics(log)["grader_failed"] == metrics(log)["missing_verdicts"] == pytest.approx(4 / 8)
    assert metrics(log)["coverage_missing_failed"] == pytest.approx(3 / 8)
    assert metrics(log)["coverage_missing_passed"] == pytest.approx(7 / 8)
    assert unread(log) == 1
    reasons = {name: result.reason for name, result in found(log).items()}
    assert reasons == {"a": None, "b": None, "c": "grader_failed", "d": None}


def test_no_grader_fails_before_anything_is_asked() -> None:
    model = says("m", "<explanation>Bears.</explanation>")
    log = graded_log(humorbench("sample"), model, status="error")
    assert log.error
    assert "--model-role grader=MODEL" in log.error.message
    assert model.asked == []


@pytest.mark.slow
def test_a_reply_without_an_explanation_is_not_graded() -> None:
    opened = load("humorbench", dataset="sample")
    judge = grader("g", thirds)
    replies = ["", REFUSAL, "<think>Hm", "<explanation></explanation>", f"<explanation>{REFUSAL}</explanation>"]
    given = {record.id: replies[i % 5] for i, record in enumerate(opened.records)}
    log = graded_log(humorbench("sample"), explainer(given), judge)
    assert judge.asked == []
    assert metrics(log)["coverage"] == metrics(log)["all_covered"] == 0
    assert metrics(log)["refused"] == pytest.approx(sum(REFUSAL in reply for reply in given.values()) / 38)
    assert "grader_failed" not in metrics(log)
    refused = says("m", "", "content_filter")
    log = graded_log(humorbench("sample", FEW, on_unparsed="exclude"), refused, judge)
    assert (judge.asked, left_out(log), metrics(log)["refused"]) == ([], 4, 1)
    assert {result.reason for result in found(log).values()} == {"refusal"}


# ---- rescoring ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_log_can_be_graded_again() -> None:
    opened = load("humorbench", dataset="sample", subset=FEW)
    replies = replies_of(opened)
    log = graded_log(humorbench("sample", FEW), explainer(replies), breaks("first"))
    assert unread(log) == 4
    kept = read_eval_log(log.location)
    judge = grader("second", thirds)
    again = score(kept, element_coverage(), model_roles={"grader": judge.model}, action="overwrite", display="log")
    _, expected = expected_of(opened, replies, thirds)
    same(again, expected)
    assert len(judge.asked) == 4
    for result in found(again).values():
        assert "graders:mockllm/second|" in (result.metadata or {})["signature"]
        if result.answer:
            assert points(result)[0]["verdicts"][0]["reasons"] == "So it is."
    panel = [grader("x", thirds), grader("y", thirds)]
    roles: Any = {"grader": [judge.model for judge in panel]}
    both = score(log, element_coverage(structured=False), model_roles=roles, action="append", display="log")
    assert both.results
    assert [scores.name for scores in both.results.scores] == ["element_coverage", "element_coverage1"]
    assert metrics(both, 1)["coverage"] == pytest.approx(expected["coverage"].value)
