"""judge_first=commit: judges write their own view before they see what they judge; without it there is no verdict."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.solver import generate
from standins.grading import as_object, bears, breaks, graded_log, only, own_task, points, verdict
from standins.judging import judged_log, says, write_texts
from standins.judging import verdict as prefers
from standins.logs import metrics

from humor_tasks import load, tasks
from humor_tasks.benchmarks.preference import PREFERENCE
from humor_tasks.contract.judging.rubrics import POINT, Judgement, open_rubric
from humor_tasks.errors import BadInput
from humor_tasks.testing import ScriptedModel

VIEW = "Bears have no business in an office."
SECRET = "The answer to be judged."
COMMIT: dict[str, Any] = {"judge_first": "commit", "cache": False}


def judge(name: str, says_last: str, view: str | ModelOutput = VIEW) -> ScriptedModel:
    """Gives its view, then a verdict."""
    return ScriptedModel(name, lambda messages: says_last if messages[-2].role == "assistant" else view)


# ---- what is asked ------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", "ABCDE")
@pytest.mark.parametrize(
    ("family", "judgement", "item"),
    [
        ("humorbench", POINT, ("description", "caption")),
        ("coverage", POINT, ("context",)),
        ("preference", PREFERENCE, ("context",)),
    ],
)
def test_the_first_request_shows_the_item_alone(
    family: str, judgement: Judgement, item: tuple[str, ...], letter: str
) -> None:
    rubric = open_rubric(family, letter, judgement, "commit")
    judged = [name for name in judgement.required if name != "format"]
    material = {name: f"<{name} & {name}" for name in (*item, *judged)}
    prompt, plain = rubric.ask(material), open_rubric(family, letter, judgement).ask(material)
    first, rest = prompt.turns[: prompt.first], prompt.turns[prompt.first :]
    assert [turn.role for turn in first] == ["system", "user"]
    assert (first[0], *rest) == plain.turns
    for name in item:
        assert f">\n&lt;{name} & {name}\n</" in first[1].text
    assert not [name for name in judged if f"{name} & {name}" in first[1].text]
    assert "instruction" in first[1].text or "instruct" in first[1].text  # the material gives none
    assert rubric.hash != open_rubric(family, letter, judgement).hash


def test_a_view_is_written_before_the_answer_and_once_for_all_points() -> None:
    panel = [judge("a", verdict(True)), judge("b", verdict(False), "Another view.")]
    log = graded_log(own_task(bears("s", "It has fur.", "It flies."), **COMMIT), says("m", SECRET), *panel)
    for each, view in zip(panel, (VIEW, "Another view."), strict=True):
        firsts = [asked for asked in each.asked if SECRET not in str(asked)]
        lasts = [asked for asked in each.asked if SECRET in str(asked)]
        assert [[role for role, _ in asked] for asked in firsts] == [["system", "user"]]
        for asked in lasts:
            assert asked[:3] == [*firsts[0], ("assistant", view)]
            assert [role for role, _ in asked[3:]] == ["user"]
        assert sorted("fur" in asked[3][1] for asked in lasts) == [False, True]
    assert [[v["word"] for v in point["verdicts"]] for point in points(only(log))] == [[True, False]] * 2
    rubric = open_rubric("coverage", None, POINT, "commit").hash
    signed = f"|temperature:0.0|seed:1234|judge_first:commit|prompts:{rubric}"
    assert (only(log).metadata or {})["signature"].endswith(signed)


def test_a_pair_and_its_picture_are_seen_before_its_explanations(tmp_path: Path) -> None:
    texts = {record.id: SECRET for record in load("explanation", dataset="sample").records}
    system = write_texts(tmp_path / "texts.json", texts)
    by = judge("j", prefers("TIE"))
    task = tasks.explanation_preference(
        system, dataset="sample", setting="pixels", judge_first="commit", cache=False, prompts="C"
    )
    log = judged_log(task, by, limit=2)
    assert metrics(log)["tie_rate"] == 1
    for messages in by.messages:
        shown = [any(getattr(part, "type", "") == "image" for part in message.content) for message in messages]
        assert shown == [False, True, False, False][: len(messages)]
        assert (SECRET in messages[-1].text) == (len(messages) == 4)
    assert Counter(map(len, by.messages)) == {2: 2, 4: 2}
    assert "|judge_first:commit|" in (log.eval.metadata or {})["signature"]


# ---- no view ------------------------------------------------------------------------------------


NO_VIEW = [
    ("", "stop", "empty", "is empty"),
    ("<think>They are", "stop", "unparsed", "is unparsed"),
    (VIEW, "max_tokens", "unparsed", "is not whole (stop reason max_tokens)"),
    (VIEW, "content_filter", "refused", "is refused"),
]


@pytest.mark.parametrize(("reply", "stop", "status", "why"), NO_VIEW)
def test_without_a_view_there_is_no_verdict(reply: str, stop: Any, status: str, why: str) -> None:
    by = says("j", reply, stop)
    log = graded_log(own_task(bears("s", "It has fur.", "It flies."), **COMMIT), says("m", SECRET), by)
    assert [[v["status"] for v in point["verdicts"]] for point in points(only(log))] == [[status]] * 2
    assert all(f" {why}; no verdict" in v["reasons"] for point in points(only(log)) for v in point["verdicts"])
    assert metrics(log)["missing_verdicts"] == 1
    assert len(by.asked) == 1
    examined = says("j", reply, stop)
    exam = graded_log(tasks.humorbench_autograder("sample", judge_first="commit"), examined, limit=2)
    assert metrics(exam)["missing_verdicts"] == 1
    assert not [asked for asked in examined.asked if "<explanation>" in asked[1][1]]


def test_a_request_for_a_view_that_fails_is_a_missing_verdict() -> None:
    by = breaks("j")
    log = graded_log(own_task(bears(), **COMMIT), says("m", SECRET), by)
    ((found,),) = (point["verdicts"] for point in points(only(log)))
    assert (found["status"], found["reasons"]) == ("error", "RuntimeError: the grader is down")
    assert (metrics(log)["missing_verdicts"], len(by.asked)) == (1, 1)


# ---- the exam -----------------------------------------------------------------------------------


def test_the_exam_asks_for_a_view_of_each_joke_once() -> None:
    rows = load("humorbench_autograder", dataset="sample").records
    jokes = {(row.fields["description"], row.fields["caption"]) for row in rows}
    examined = ScriptedModel("j", lambda messages: as_object(True) if len(messages) == 4 else VIEW)
    log = graded_log(tasks.humorbench_autograder("sample", judge_first="commit", structured=True), examined)
    assert (metrics(log)["missing_verdicts"], metrics(log)["recall"]) == (0, 1)
    assert Counter(map(len, examined.asked)) == {2: len(jokes), 4: len(rows)}
    assert all(asked[2] == ("assistant", VIEW) for asked in examined.asked if len(asked) == 4)
    asked_in_form = [config.response_schema is not None for config in examined.configs]
    assert asked_in_form == [len(asked) == 4 for asked in examined.asked]
    assert {config.temperature for config in examined.configs} == {0}
    another = judge("another", verdict(True))
    graded_log(tasks.humorbench_autograder("sample", judge_first="commit"), another, solver=generate(), limit=1)
    assert [len(asked) for asked in another.asked] == [2, 4]  # a solver of the user's does not leave it out
    plain, first = (load("humorbench_autograder", dataset="sample", judge_first=how) for how in ("none", "commit"))
    assert "judge_first" not in str(plain.signature("generate"))
    assert "|judge_first:commit|" in str(first.signature("generate"))


# ---- templates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("commit.txt", "== user ==\n$context $answer", r"commit.txt: shows \$answer before the judge has its own view"),
        ("commit.txt", "== user ==\nYour view?", r"commit.txt: lacks \$context; the grader would not see the item"),
        ("commit.txt", "== system ==\nHm.\n== user ==\n$context", "commit.txt: has a system turn. Remove it"),
        ("grade.txt", "== system ==\n$answer\n== user ==\n$point $format", r"its system turn shows \$answer before"),
    ],
)
def test_templates_that_would_show_the_answer_too_early(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=message):
        open_rubric("coverage", str(tmp_path), POINT, "commit")
