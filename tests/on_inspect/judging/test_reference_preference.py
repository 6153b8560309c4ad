"""reference_preference: a reply against the reference, in `explanation` and in somebody else's task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from inspect_ai import Task, score
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ContentImage
from inspect_ai.scorer import Score
from standins.judging import (
    always,
    between,
    fickle,
    judged,
    judged_log,
    judging,
    longer,
    says,
    shown,
    slow_metrics,
)
from standins.logs import metrics

from humor_tasks import load
from humor_tasks.benchmarks.preference import PREFERENCE
from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.on_inspect import reference_preference
from humor_tasks.tasks import explanation, explanation_preference
from humor_tasks.testing import ScriptedModel

HUMAN = {record.id: record.target or "" for record in load("explanation", dataset="sample").records}
IDS = list(HUMAN)
REPLIES = {
    IDS[0]: f"Explanation: {HUMAN[IDS[1]]}",
    IDS[1]: f"<think>Hm.</think>{HUMAN[IDS[2]][:120]}",
    IDS[2]: HUMAN[IDS[2]],
    IDS[3]: "I'm sorry, but I can't help with that.",
    IDS[4]: f"{HUMAN[IDS[3]]} {HUMAN[IDS[0]]}",
}


def explainer(replies: Mapping[str, str] = REPLIES) -> ScriptedModel:
    """Answers by the record's id."""
    return ScriptedModel("explainer", lambda messages: replies[(messages[-1].metadata or {})["id"]])


def compared(**more: Any) -> Task:
    """`explanation` with this scorer."""
    how = {name: more.pop(name) for name in ("structured", "prompts", "cache", "retries", "grader") if name in more}
    task = explanation(dataset="sample", **more)
    task.scorer = [reference_preference(**how)]
    return task


def found(log: EvalLog) -> dict[str, Score]:
    return {str(sample.id): (sample.scores or {})["reference_preference"] for sample in log.samples or []}


def verdicts(result: Score) -> list[list[dict[str, Any]]]:
    return [question["verdicts"] for question in (result.metadata or {})["judged"]]


def own_task(*samples: Sample, **how: Any) -> Task:
    return Task(dataset=list(samples), scorer=reference_preference(**how))


def bears(target: str | list[str] = "A bear.", identity: str = "s", **metadata: Any) -> Sample:
    return Sample(id=identity, input="Why <bears>?", target=target, metadata=metadata or None)


# ---- explanation --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("on_unparsed", "structured"), [("wrong", True), ("exclude", False)])
def test_its_numbers_are_those_of_the_task(on_unparsed: str, structured: bool) -> None:
    judges = [judging(name, fickle, structured) for name in ("inside", "after")]
    inside = judged_log(compared(on_unparsed=on_unparsed, structured=structured), judges[0], model=explainer().model)
    task = explanation_preference(inside.location, dataset="sample", on_unparsed=on_unparsed, structured=structured)
    after = judged_log(task, judges[1])
    assert metrics(inside) == pytest.approx(metrics(after), nan_ok=True)
    assert metrics(inside)["same_text"] == pytest.approx(1 / 5)
    assert metrics(inside)["empty"] == pytest.approx(1 / 5)
    assert 0 < metrics(inside)["unparsed"] < 1
    pairs = [{shown(asked[-1][1]) for asked in judge.asked} for judge in judges]
    assert pairs[0] == pairs[1]
    assert [len(judge.asked) for judge in judges] == [6, 6]


def test_what_a_score_keeps() -> None:
    log = judged_log(
        compared(), judging("x", longer), judging("y", always("A")), judging("z", longer), model=explainer().model
    )
    scores = found(log)
    assert {i: (scores[i].answer, scores[i].value) for i in IDS[1:]} == {
        IDS[1]: ("against against", 0.0),
        IDS[2]: ("tie tie", 0.5),
        IDS[3]: ("against against", 0.0),
        IDS[4]: ("system system", 1.0),
    }
    first, second = verdicts(scores[IDS[1]])
    assert [word["word"] for word in first] == ["B", "A", "B"]
    assert [word["word"] for word in second] == ["A", "A", "A"]
    assert verdicts(scores[IDS[2]]) == [[], []]
    rubric = open_rubric("preference", None, PREFERENCE).hash
    signature = f"graders:mockllm/x,mockllm/y,mockllm/z|verdict:tags|temperature:0.0|seed:1234|prompts:{rubric}"
    assert (scores[IDS[0]].metadata or {})["signature"] == signature


def test_the_judge_is_shown_what_was_asked_and_its_picture() -> None:
    judge = judging("j", longer)
    log = judged_log(compared(setting="pixels"), judge, model=explainer().model)
    task = load("explanation", dataset="sample", setting="pixels")
    questions = {record.id: task.prompt(record) for record in task.records}
    seen = {}
    for messages in judge.messages:
        assert not isinstance(messages[-1].content, str)
        image, text = messages[-1].content
        assert isinstance(image, ContentImage)
        seen[between(text.text, "joke")] = image.image  # type: ignore[union-attr]
    asked = {i: questions[i] for i in (IDS[0], IDS[1], IDS[4])}
    assert seen == {prompt.turns[-1].text: prompt.pictures[0].data_uri() for prompt in asked.values()}
    assert metrics(log)["same_text"] == pytest.approx(1 / 5)


@pytest.mark.slow
def test_worked_examples_are_no_part_of_the_joke() -> None:
    judge = judging("j", longer)
    judged_log(compared(shots=2), judge, model=explainer().model)
    task = load("explanation", dataset="sample", shots=2)
    questions = {task.prompt(record).turns[-1].text for record in task.records}
    assert {between(asked[-1][1], "joke") for asked in judge.asked} < questions


# ---- somebody else's task -----------------------------------------------------------------------


def test_in_somebody_elses_task_the_reply_meets_the_target() -> None:
    samples = [bears("A bear. " * 9, "short"), bears("A b.", "long"), bears("They are\n<b>bears</b>.", "same")]
    judge = judging("j", longer)
    log = judged_log(own_task(*samples), judge, model=says("m", "<think>Hm.</think>They are <b>bears</b>.").model)
    assert {name: found(log)[name].value for name in ("short", "long", "same")} == {"short": 0, "long": 1, "same": 0.5}
    texts = {sample.id: str(sample.target) for sample in samples}
    expected = slow_metrics([judged(longer, ("They are <b>bears</b>.", texts[i]), str(i)) for i in ("short", "long")])
    assert metrics(log)["win_rate"] == pytest.approx(0.5)
    assert metrics(log)["preferred"] == pytest.approx(1 / 3)
    assert metrics(log)["inconsistent"] == expected["inconsistent"][0] == 0
    rubric = open_rubric("preference", None, PREFERENCE)
    material = {"context": "Why <bears>?", "first": "They are <b>bears</b>.", "second": "A b."}
    turns = [(turn.role, turn.text) for turn in rubric.ask(material).turns]
    assert turns in judge.asked
    assert len(judge.asked) == 4


@pytest.mark.parametrize("target", ["", " \n"])
def test_a_target_without_a_text_is_an_error(target: str) -> None:
    judge = judging("j", longer)
    log = judged_log(own_task(bears(target)), judge, model=says("m", "They are.").model, status="error")
    assert "sample s: the target has no reference text to compare the reply with" in str(log.error)
    assert judge.asked == []


def test_an_empty_reply_loses_unasked() -> None:
    judge = judging("j", always("A"))
    log = judged_log(own_task(bears()), judge, model=says("m", "<think>Hm.</think> \n").model)
    assert (found(log)["s"].value, found(log)["s"].answer, judge.asked) == (0, "against against", [])
    assert metrics(log)["empty"] == 1


# ---- judges, and scoring a log ------------------------------------------------------------------


@pytest.mark.slow
def test_a_log_can_be_compared_later_and_again() -> None:
    log = judged_log(explanation(dataset="sample"), judging("unused", longer), model=explainer().model)
    judge = judging("j", fickle)
    roles = {"grader": judge.model}
    scored = score(
        read_eval_log(log.location), reference_preference(), model_roles=roles, action="overwrite", display="log"
    )
    inside = judged_log(compared(), judging("j2", fickle), model=explainer().model)
    assert metrics(scored) == pytest.approx(metrics(inside), nan_ok=True)
    assert len(judge.asked) == 6
    again = score(scored, reference_preference(), model_roles=roles, action="append", display="log")
    assert again.results
    assert [scores.name for scores in again.results.scores] == ["reference_preference", "reference_preference1"]
    assert len(judge.asked) == 6 + 1  # five are kept, and the one that was unreadable is asked for again
