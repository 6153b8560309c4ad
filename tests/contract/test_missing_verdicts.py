"""Missing verdicts: the warning above 2 %, and scores with them counted as failed and as passed, everywhere."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from standins.graded_logs import report_of, rows_of
from standins.grading import FEW, bears, graded_log, grader, own_task
from standins.judging import panel, says, verdict, write_texts
from standins.logs import metrics

from humor_tasks import evaluate, load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.crowd.writing import judged as compared
from humor_tasks.benchmarks.mock.generation import judged as rated
from humor_tasks.contract.definition import Data, Run
from humor_tasks.contract.judging.missing import MISSING, TOLERATED, missing_warning
from humor_tasks.contract.judging.pairs import pair_outcome
from humor_tasks.contract.judging.points import judged as graded
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.tasks import humorbench
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

EXPLAINER = "<explanation>Bears.</explanation>"
VERDICTS = {name: b.judging.verdicts if b.judging else b.verdicts for name, b in BENCHMARKS.items()}


# ---- the rule -----------------------------------------------------------------------------------


def test_every_benchmark_whose_scores_rest_on_verdicts_has_the_rule() -> None:
    rules = {name: rule for name, rule in VERDICTS.items() if rule}
    assert set(rules) == {name for name, b in BENCHMARKS.items() if MISSING in [metric.name for metric in b.reported]}
    for benchmark_name, rule in rules.items():
        benchmark = BENCHMARKS[benchmark_name]
        names = [metric.name for metric in benchmark.reported]
        assert set(rule.bounded) <= {metric.name for metric in benchmark.metrics}
        assert {MISSING} | {f"{name}_missing_{word}" for name in rule.bounded for word in ("failed", "passed")} == set(
            names
        ) - {metric.name for metric in benchmark.metrics}
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, None),
        ({MISSING: math.nan}, None),
        ({MISSING: TOLERATED}, None),
        ({MISSING: 0.0201}, "2.0% of the graders' verdicts are missing"),
        ({MISSING: 1.0}, "100.0% of the graders' verdicts are missing"),
        (
            {MISSING: 0.5, "x": 1.0, "x_missing_failed": 0.25, "x_missing_passed": 0.75},
            "Scores leave them out: x is 0.250 with each of them counted as failed and 0.750 as passed.",
        ),
        ({MISSING: 0.5, "x_missing_failed": math.nan, "x_missing_passed": 1.0}, "Scores leave them out."),
    ],
)
def test_the_warning(values: dict[str, float], told: str | None) -> None:
    found = missing_warning(values)
    assert found is None if told is None else told in str(found)


def without_data(name: str, **options: Any) -> Run:
    benchmark = BENCHMARKS[name]
    return Run(benchmark, benchmark.options(**options), Data((), {}), {})


def value(run: Run, outcomes: list[Outcome], *names: str) -> list[float]:
    found = run.metrics(outcomes)
    return [found[name].value for name in names]


def record(identity: str, **groups: str) -> Record:
    return Record(identity, identity, {}, "", (), "PASS", groups)


def test_points() -> None:
    run = without_data("humorbench")
    words: list[list[bool | None]] = [[True, None, None], [False, True], [None], [None]]
    given = [list(map(panel, each)) for each in words]
    outcomes = [graded(run, run.outcome(record(str(i)), EXPLAINER), panels) for i, panels in enumerate(given)]
    outcomes[3] = graded(run, run.outcome(record("3"), EXPLAINER), [panel(True, False)])  # a panel without a majority
    outcomes.append(graded(run, run.outcome(record("4"), ""), [panel()]))  # covers nothing; no grader was asked
    names = (MISSING, "coverage", "coverage_missing_failed", "coverage_missing_passed")
    assert value(run, outcomes, *names) == pytest.approx([4 / 7, 2 / 4, 2 / 8, 6 / 8])


def test_pairs() -> None:
    run = without_data("explanation_preference", system="x")
    said = [("A", "B"), ("A", None), (None, "A"), (None, None), ("tie", "tie")]  # system shown first, then second
    outcomes = [pair_outcome(record(str(i), lengths="3 4"), choices, ("answered",)) for i, choices in enumerate(said)]
    outcomes.append(pair_outcome(record("5", lengths="3 4", settled="against"), (None, None), ()))
    names = ("win_rate", "win_rate_missing_failed", "win_rate_missing_passed")
    assert value(run, outcomes, MISSING) == pytest.approx([4 / 10])
    # won; won or a tie; lost or a tie; lost or won; a tie; lost
    assert value(run, outcomes, *names) == pytest.approx([1.5 / 3, (1.5 + 0.5) / 6, (1.5 + 1 + 0.5 + 1) / 6])
    names = ("preferred", "preferred_missing_failed", "preferred_missing_passed")
    assert value(run, outcomes, *names) == pytest.approx([1 / 3, 1 / 6, 3 / 6])


def test_ratings() -> None:
    run = without_data("mock_generation")
    ungraded = [run.outcome(record(str(i)), "A story.") for i in range(2)]
    outcomes = [
        rated(run, ungraded[0], [panel(4.0, rating="sms"), panel(2.0, rating="hss")]),
        rated(run, ungraded[1], [panel(2.0, rating="sms"), panel(None, rating="hss")]),
        rated(run, run.outcome(record("2"), ""), []),  # the lowest ratings, and nobody was asked
    ]
    names = (MISSING, "hss", "hss_missing_failed", "hss_missing_passed", "sms_missing_failed", "sms_missing_passed")
    assert value(run, outcomes, *names) == pytest.approx([1 / 4, 3 / 2, 4 / 3, 8 / 3, 7 / 3, 7 / 3])


def test_captions_against_people() -> None:
    run = without_data("caption_writing")
    said = {("A", "B"): 12, ("B", "A"): 19, ("A", None): 3, (None, "A"): 8, (None, None): 2}  # written first, second
    outcomes = []
    for i, (first, second) in enumerate(order for orders, times in said.items() for order in [orders] * times):
        panels = [panel(word, pairing="top10", target=t) for t, word in (("A", first), ("B", second))]
        written = Outcome(str(i), str(i), {}, "answered", "ten captions", None, {})
        outcomes.append(compared(run, written, panels))
    names = (MISSING, *(f"win_rate_top10{word}" for word in ("", "_missing_failed", "_missing_passed")))
    assert value(run, outcomes, *names) == pytest.approx([15 / 88, 24 / 62, 27 / 88, 42 / 88])


def test_the_exam_of_a_judge() -> None:
    opened = load("humorbench_autograder", dataset="sample")
    replies = {each.id: verdict(each.target) for each in opened.records}
    for i, identity in enumerate(replies):
        replies[identity] = "It passes." if i < 3 else "I can't help with that." if i < 4 else replies[identity]
    report = evaluate(opened, replies)
    names = (MISSING, "accuracy", "accuracy_missing_failed", "accuracy_missing_passed")
    assert [report.metrics[name].value for name in names] == pytest.approx([4 / 40, 1, 36 / 40, 1])
    assert "10.0% of the graders' verdicts are missing" in str(report.warning)
    assert evaluate(opened, {each.id: verdict("PASS") for each in opened.records}).warning is None


# ---- Inspect ------------------------------------------------------------------------------------


def talkative(unread: int, of: int) -> ScriptedModel:
    """A grader that adds a sentence after its verdict to the first `unread` of each `of` replies."""
    asked = -1

    def answer(messages: Any) -> str:
        nonlocal asked
        asked += 1
        return verdict("PASS") + (" I hope this helps." if asked % of < unread else "")

    return ScriptedModel("talkative", answer)


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name.startswith("humor_tasks") and r.levelno >= logging.WARNING]


def judged(*, unread: int, of: int, points: int) -> EvalLog:
    """A run of somebody's task with one point a sample, so that a missing verdict is a sample without a value."""
    samples = [bears(str(i), f"Point {i}.") for i in range(points)]
    return graded_log(own_task(*samples, cache=False), says("m", "Bears."), talkative(unread, of))


@pytest.mark.slow
@pytest.mark.parametrize(("unread", "warns"), [(0, False), (1, True)])
def test_a_run_with_missing_verdicts_warns_on_the_screen_and_in_its_log(
    caplog: pytest.LogCaptureFixture, unread: int, warns: bool
) -> None:
    log = judged(unread=unread, of=4, points=4)
    found = metrics(log)
    assert (found["coverage"], found["coverage_missing_passed"]) == (1, 1)
    assert found["coverage_missing_failed"] == 1 - unread / 4
    assert found[MISSING] == found["grader_failed"] == unread / 4
    told = warnings_of(caplog)
    kept = read_eval_log(log.location)
    if warns:
        (warning,) = told
        assert "25.0% of the graders' verdicts are missing" in warning
        assert "coverage is 0.750 with each of them counted as failed and 1.000 as passed" in warning
        assert kept.metadata[MISSING] in warning
    else:
        assert (told, MISSING in kept.metadata) == ([], False)
    assert (len(kept.samples or []), kept.results) == (4, log.results)  # the log is whole


# ---- lm-eval, grade, score, report --------------------------------------------------------------


def test_lm_eval(caplog: pytest.LogCaptureFixture) -> None:
    replies = iter(["It passes.", *[verdict("PASS")] * 40])
    model = ScriptedLM(lambda prompt, doc: next(replies))
    found = run_lm_eval(model, "humorbench_autograder", metadata={"dataset": "sample"})["results"][
        "humorbench_autograder"
    ]
    low, high = (found[f"acc_missing_{word},none"] for word in ("failed", "passed"))
    assert found[f"{MISSING},none"] == pytest.approx(1 / 40)
    assert high - low == pytest.approx(1 / 40)
    assert low <= found["acc,none"] <= high
    told = [each for each in warnings_of(caplog) if "missing" in each]
    assert len(told) == 1
    assert told[0].startswith("humorbench_autograder: 2.5% of the graders' verdicts are missing")


def test_score_tells_it(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from humor_tasks.cli import main

    replies = {each.id: "It passes." for each in load("humorbench_autograder", dataset="sample").records}
    arguments = ["--task", "humorbench_autograder", "--dataset", "sample"]
    done = CliRunner().invoke(main, ["score", write_texts(tmp_path / "p.json", replies), *arguments])
    assert done.exit_code == 0
    assert "Warning: 100.0% of the graders' verdicts are missing" in done.stderr
    assert "accuracy_missing_passed" in done.stdout


@pytest.mark.slow
def test_grade_and_report_tell_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from humor_tasks.cli import main
    from humor_tasks.results import grade

    log = graded_log(humorbench("sample", FEW, cache=False), says("m", EXPLAINER), talkative(0, 2))
    judge = talkative(1, 2)
    monkeypatch.setattr(grade, "open_model", lambda name, **more: judge.model)
    arguments = ["grade", log.location, "--grader", "x/y", "--no-cache", "--log-dir", str(tmp_path)]
    done = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "scores.json")])
    assert done.exit_code == 0, done.output
    assert "Warning: 50.0% of the graders' verdicts are missing" in done.stderr
    assert "coverage is 0.500 with each of them counted as failed and 1.000 as passed" in done.stderr
    written = json.loads((tmp_path / "scores.json").read_text())["metrics"]
    assert [written[f"coverage_missing_{word}"]["value"] for word in ("failed", "passed")] == [0.5, 1]
    (path,) = tmp_path.glob("*.eval")
    report = report_of(path)
    (row,) = (row for row in report.rows if (row["metric"], row["part"]) == ("coverage", ""))
    assert [row[name] for name in (MISSING, "missing_failed", "missing_passed")] == [0.5, 0.5, 1]
    cells = rows_of(report)[0]
    assert (cells["missing verdicts"], cells["as failed / passed"]) == ("50.0 %", "50.0 / 100.0")
    done = CliRunner().invoke(main, ["report", str(path)])
    assert f"Warning: {path.name}: 50.0% of the graders' verdicts are missing" in done.stderr


@pytest.mark.slow
def test_a_reply_that_the_run_left_out_is_not_missing(tmp_path: Path) -> None:
    judge = grader("g", lambda point: True)
    log = graded_log(
        humorbench("sample", FEW, on_unparsed="exclude", cache=False), ScriptedModel("m", ["", *[EXPLAINER] * 3]), judge
    )
    assert metrics(log)[MISSING] == 0
    (row,) = (r for r in report_of(Path(log.location)).rows if (r["metric"], r["part"]) == ("coverage", ""))
    assert [row[name] for name in (MISSING, "missing_failed", "missing_passed")] == [0, 1, 1]
