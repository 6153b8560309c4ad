"""Judges under every prompt set: those whose verdicts hang on the wording are told from those whose verdicts do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from inspect_ai import Task, score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from standins.grading import FEW, bears, graded_log, only, own_task, verdict
from standins.judging import longer, says, shown, write_texts
from standins.judging import verdict as prefers
from standins.logs import metrics

from humor_tasks import load, tasks
from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import element_coverage
from humor_tasks.results import grade as grading
from humor_tasks.results import read_results
from humor_tasks.results.grade import grade, grading_task, judging_by_name, read_written, report_of, requests, under_all
from humor_tasks.results.reproduce.rescore import rescore
from humor_tasks.studies.people.judge import read_judge_log
from humor_tasks.testing import ScriptedModel

SETS = "ABCDE"
SHORT = "A bear."


def judge(answer: Callable[[str, bool], str], by_wording: bool) -> ScriptedModel:
    """Answers a question, and in the wording of set B the opposite where it goes by the wording."""
    name = "by_wording" if by_wording else "firm"
    return ScriptedModel(name, lambda m: answer(m[-1].text, by_wording and "Question: " in m[-1].text))


def passes(asked: str, turned: bool) -> str:
    return verdict(not turned)


def prefers_longer(asked: str, turned: bool) -> str:
    word = longer(*shown(asked))
    return prefers({"A": "B", "B": "A"}[word] if turned else word)


def letter_a(asked: str, turned: bool) -> str:
    return f"Answer: {'AB'[turned]}"


def log_of(folder: Path, task: Task) -> Path:
    model = says("m", f"<explanation>{SHORT}</explanation>")
    return Path(graded_log(task, model, says("unused", ""), log_dir=str(folder), score=False).location)


def under_every_set(path: Path, task: str, by: ScriptedModel) -> EvalLog:
    written = under_all(read_written(path, task), judging_by_name(task), path)
    log = graded_log(grading_task(written, task, path.name, grader_prompts="all", cache=False), None, by)
    assert len(by.asked) == requests(written, task, 1)
    return log


def told(log: EvalLog, primary: str) -> tuple[float, dict[str, float]]:
    """The spread, and the primary metric under each set."""
    shown_metrics = metrics(log)
    return shown_metrics["spread"], {x: shown_metrics[f"{primary}_set_{x}"] for x in SETS}


@pytest.mark.parametrize(
    ("task", "primary", "answer", "firm", "opposite", "asked"),
    [
        ("humorbench", "coverage", passes, 1, 0, 5 * 4),
        ("explanation", "win_rate", prefers_longer, 0, 1, 5 * 2 * 5),
    ],
)
def test_logged_replies_are_judged_under_every_set(
    task: str,
    primary: str,
    answer: Callable[[str, bool], str],
    firm: float,
    opposite: float,
    asked: int,
    tmp_path: Path,
) -> None:
    path = log_of(tmp_path, tasks.humorbench("sample", FEW) if task == "humorbench" else tasks.explanation("sample"))
    items = {str(sample.id): (sample.metadata or {})["cluster"] for sample in read_written(path, task).samples}
    for by in (judge(answer, False), judge(answer, True)):
        log = under_every_set(path, task, by)
        assert len(by.asked) == asked
        differs = by.name == "by_wording"
        assert told(log, primary) == (differs, dict.fromkeys(SETS, firm) | ({"B": opposite} if differs else {}))
        (result,) = (r for r in read_results([Path(log.location)]).results if primary in r.estimates)
        assert result.complete
        assert {outcome.id: outcome.cluster for outcome in result.outcomes} == {
            f"{item}@{letter}": cluster for item, cluster in items.items() for letter in SETS
        }
        assert result.estimates["spread"].n == len(items)
        assert repr(report_of(log).metrics) == repr(dict(result.estimates))
        (again,) = (each for each in rescore([Path(log.location)])[0] if each.result.scorer == result.scorer)
        assert repr(again.estimates) == repr(dict(result.estimates))
        assert result.judging["grader_prompts"] == "all"
        assert len({score.grading for sample in result.run for score in sample.scores}) == 1


@pytest.mark.parametrize(
    ("task", "primary", "answer", "steady"),
    [
        ("humorbench_autograder", "accuracy", passes, "missing_verdicts"),
        ("explanation_preference", "win_rate", prefers_longer, "inconsistent"),
        ("crowd_groups", "accuracy", letter_a, "consistency"),
    ],
)
def test_items_that_are_questions_for_judges_are_asked_under_every_set(
    task: str, primary: str, answer: Callable[[str, bool], str], steady: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"dataset": "sample", "prompts": "all"}
    if task == "explanation_preference":
        given["system"] = write_texts(
            tmp_path / "t.json", {r.id: SHORT for r in load("explanation", dataset="sample").records}
        )
    for by in (judge(answer, False), judge(answer, True)):
        made = getattr(tasks, task)(**given)
        is_judge = task == "explanation_preference"
        log = graded_log(made, None if is_judge else by, *([by] if is_judge else []), limit=20)
        spread, values = told(log, primary)
        differs = by.name == "by_wording" and task != "crowd_groups"
        assert (spread > 0) == differs
        assert len(set(values.values())) == 1 + differs
        assert metrics(log)[steady] == 0  # within each set the orders agree; crowd_groups' judge always says A
    if task == "explanation_preference":
        with pytest.raises(BadInput, match="judges each pair under several prompt sets"):
            read_judge_log(Path(log.location))


def test_a_writers_wordings_leave_that_of_its_judges() -> None:
    captions = "\n".join(f"{i}. Word {i} of a caption." for i in range(1, 11))
    by = judge(letter_a, True)
    log = graded_log(tasks.caption_writing(dataset="sample", contests="9013", prompts="all"), says("m", captions), by)
    assert metrics(log)["spread"] == 0
    assert len({asked[0] for asked in by.asked}) == 1


def test_a_prompt_set_of_the_graders_alone() -> None:
    for chosen, named in ((None, ""), ("A", ""), ("B", "grader_prompts:B|")):
        by = judge(passes, True)
        log = graded_log(own_task(bears(), grader_prompts=chosen, cache=False), says("m", "Bears."), by)
        rubric = open_rubric("coverage", chosen)
        assert metrics(log)["coverage"] == (chosen != "B")
        signature = f"graders:mockllm/by_wording|verdict:tags|temperature:0.0|seed:1234|{named}prompts:{rubric.hash}"
        assert (only(log).metadata or {})["signature"] == signature
    task = tasks.humorbench("sample", FEW, prompts="C", grader_prompts="B", cache=False)
    by = judge(passes, True)
    log = graded_log(task, (model := says("m", f"<explanation>{SHORT}</explanation>")), by)
    assert metrics(log)["coverage"] == 0
    (asked,) = {turns[0][1] for turns in by.asked}
    assert (
        asked
        == open_rubric("humorbench", "B")
        .ask(dict.fromkeys(("description", "caption", "answer", "point"), ""))
        .turns[0]
        .text
    )
    assert model.asked


def test_the_number_of_requests_is_told_first(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = log_of(tmp_path, tasks.humorbench("sample", FEW))
    graders = ["mockllm/g", "mockllm/h"]
    with pytest.raises(RuntimeError), patch.object(grading, "eval", side_effect=RuntimeError):
        grade(path, "humorbench", graders, grader_prompts="all", judge_first="commit")
    assert f"{path}: 20 replies to judge (5 prompt sets): 80 requests" in caplog.text


def test_all_sets_need_replies_that_exist(tmp_path: Path) -> None:
    remedy = "humor-tasks grade LOG --grader MODEL --grader-prompts all"
    with pytest.raises(PrerequisiteError, match=remedy):
        tasks.humorbench("sample", grader_prompts="all")
    by = judge(passes, False)
    log = graded_log(own_task(bears(), grader_prompts="all"), says("m", "Bears."), by, status="error")
    assert log.error
    assert remedy in log.error.message
    several = log_of(tmp_path / "several", tasks.humorbench("sample", FEW, prompts="all"))
    with pytest.raises(BadInput, match="asks each item 5 times"):
        grade(several, "humorbench", ["mockllm/g"], grader_prompts="all")
    log = under_every_set(log_of(tmp_path / "once", tasks.humorbench("sample", FEW)), "humorbench", by)
    with pytest.raises(PrerequisiteError, match=r"grader_prompts=B: its reply is judged under sets A, B, C, D, E"):
        score(log, element_coverage(grader_prompts="B"), model_roles={"grader": by.model}, display="log")
    with pytest.raises(PrerequisiteError, match="name the same templates"):
        element_coverage(prompts="folder", grader_prompts="B")
    assert (
        metrics(score(log, element_coverage(), model_roles={"grader": by.model}, display="log", action="overwrite"))[
            "spread"
        ]
        == 0
    )
