"""How graders are asked, attacks on them, what settings reach them, and the exam that asks the same."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from standins.attacks import ATTACKS
from standins.grading import (
    as_object,
    bears,
    breaks,
    explainer,
    found,
    graded_log,
    grader,
    only,
    own_task,
    points,
    thirds,
    verdict,
)
from standins.humorbench import RUBRIC
from standins.judging import ProviderError, between, raises, says
from standins.logs import metrics

from humor_tasks import load
from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.on_inspect import element_coverage
from humor_tasks.tasks import humorbench, humorbench_autograder
from humor_tasks.testing import ChatServer, ScriptedModel, scripted_judge, text_of

# ---- the request --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_verdict_is_paid_for_once() -> None:
    samples = [bears("one", "It has fur.", "It flies."), bears("two", "It swims.")]
    for name in ("cached", "anew"):
        judge, model = grader(name, thirds), says("m", "Bears.")
        logs = [graded_log(own_task(*samples, cache=name == "cached"), model, judge) for _ in range(2)]
        assert metrics(logs[0]) == metrics(logs[1])
        first, second = ({name: points(result) for name, result in found(log).items()} for log in logs)
        assert first == second
        assert len(judge.asked) == (3 if name == "cached" else 6)
    other = grader("cached", thirds)
    graded_log(own_task(*samples, seed=1), model, other)  # another request
    assert len(other.asked) == 3


def test_a_failed_request_is_not_kept() -> None:
    model = says("m", "Bears.")
    graded_log(own_task(bears()), model, breaks("g"))
    graded_log(own_task(bears()), model, says("g", "", "content_filter"))
    judge = grader("g", lambda point: True)
    assert metrics(graded_log(own_task(bears()), model, judge))["coverage"] == 1
    assert len(judge.asked) == 1


@pytest.mark.parametrize("structured", [False, True])
def test_settings_reach_the_grader(structured: bool) -> None:
    def answer(messages: list[dict[str, Any]]) -> str:
        return (as_object if structured else verdict)(True, "It says so.")

    with ChatServer(answer) as server:
        judge = get_model("openai-api/grader/g", base_url=server.url, api_key="x", memoize=False)
        task = own_task(bears("s", "It has fur.", "It flies."), structured=structured)
        log = eval(task, model=says("m", "Bears.").model, model_roles={"grader": judge}, display="log")[0]
        assert log.status == "success"
        unpinned = own_task(bears(), structured=structured, temperature=None, seed=None)
        eval(unpinned, model=says("m", "Bears.").model, model_roles={"grader": judge}, display="log")
    first, second, third = server.requests
    for request in (first, second):
        assert (request["model"], request["temperature"], request["seed"]) == ("g", 0, 1234)
        assert [message["role"] for message in request["messages"]] == ["system", "user"]
        assert ("JSON object" in text_of(request["messages"][-1])) == structured
        assert ("response_format" in request) == structured
    if structured:
        asked = first["response_format"]
        assert (asked["type"], asked["json_schema"]["name"], asked["json_schema"]["strict"]) == (
            *("json_schema", "verdict"),
            True,
        )
        schema = asked["json_schema"]["schema"]
        assert schema["required"] == ["reasoning", "judgement"]
        assert schema["properties"]["judgement"]["enum"] == ["PASS", "FAIL"]
        assert schema["additionalProperties"] is False
    assert "temperature" not in third
    assert "seed" not in third
    assert metrics(log)["coverage"] == 1
    assert points(only(log))[0]["verdicts"][0]["reasons"] == "It says so."
    assert f"verdict:{'json' if structured else 'tags'}|" in (only(log).metadata or {})["signature"]


def test_a_grader_by_name_and_own_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grade.txt").write_text("== user ==\n$context: $answer = $point? $format")
    (tmp_path / "verdict.tags.txt").write_text("Judge.")
    with ChatServer(lambda messages: verdict(text_of(messages[-1]).startswith("A zoo"))) as server:
        monkeypatch.setenv("OWNGRADER_API_KEY", "x")
        monkeypatch.setenv("OWNGRADER_BASE_URL", server.url)
        task = own_task(bears(context="A zoo"), grader="openai-api/owngrader/g", prompts=str(tmp_path))
        log = graded_log(task, says("m", "Bears."))
    assert [text_of(message) for message in server.requests[0]["messages"]] == ["A zoo: Bears. = A bear.? Judge."]
    assert metrics(log)["coverage"] == 1
    rubric = open_rubric("coverage", str(tmp_path)).hash
    assert (only(log).metadata or {})["signature"].endswith(f"prompts:{rubric}")


def test_a_wrong_prompts_folder_is_told(tmp_path: Path) -> None:
    judge = grader("g", thirds)
    model = says("m", "Bears.")
    log = graded_log(own_task(bears(), prompts=str(tmp_path / "nowhere")), model, judge, status="error")
    assert "nowhere: there is no such folder" in str(log.error)
    assert judge.asked == []
    model.asked.clear()
    with pytest.raises(PrerequisiteError, match="there is no such folder"):
        humorbench("sample", prompts=str(tmp_path / "nowhere"))
    (tmp_path / "grade.txt").write_text("== user ==\n$answer $point $format $captoin")
    with pytest.raises(PrerequisiteError, match=r"humor_tasks/humorbench: template grade.txt: there is no .*captoin"):
        humorbench("sample", prompts=str(tmp_path))


# ---- attacks ------------------------------------------------------------------------------------

SOME = ATTACKS[::6]  # of each kind; tests/scorers/test_verdict.py has all of them


def attacked(tmp_path: Path, elements: bool) -> tuple[Task, ScriptedModel, list[str], str]:
    """Every attack as the explanation of a sample, in HumorBench or in somebody else's task."""
    if not elements:
        samples = [bears(str(i), f"Point {i}.", context="A zoo.") for i in range(len(SOME))]
        model = ScriptedModel("attacker", lambda messages: SOME[int((messages[-1].metadata or {})["i"])])
        for i, sample in enumerate(samples):
            sample.input = [ChatMessageUser(content="Why?", metadata={"i": i})]
        return own_task(*samples), model, [str(sample.id) for sample in samples], "answer"
    path = tmp_path / "elements.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["idx", "description", "caption", "element"])
        writer.writerows([i, "A bear at a desk.", "Honey?", f"Point {i}."] for i in range(len(SOME)))
    ids = [record.id for record in load("humorbench", dataset=str(path)).records]
    model = explainer({i: f"<explanation>{attack}</explanation>" for i, attack in zip(ids, SOME, strict=True)})
    return humorbench(str(path)), model, ids, "explanation"


@pytest.mark.slow
@pytest.mark.parametrize(("elements", "structured"), [(True, False), (False, True)])
def test_no_attack_passes(tmp_path: Path, elements: bool, structured: bool) -> None:
    task, model, ids, tag = attacked(tmp_path, elements)
    form = as_object if structured else verdict
    quotes = ScriptedModel("quotes", lambda messages: form(False, f"It says: {between(messages[-1].text, tag)}"))
    echoes = ScriptedModel("echoes", lambda messages: between(messages[-1].text, tag))
    task.scorer = [element_coverage(structured=structured)]
    log = graded_log(task, model, quotes, echoes)
    sent = 0
    for result in found(log).values():
        (point,) = points(result)
        assert result.value in (0, "N")
        assert point["passed"] is None  # FAIL and nothing: no majority
        if result.answer is not None:
            sent += 1
            quoted, echoed = point["verdicts"]
            assert (quoted["word"], echoed["word"]) == (False, None), ascii(result.answer[:80])
    assert len(quotes.asked) == len(echoes.asked) == sent
    assert sent > 0.85 * len(ids)
    rubric = open_rubric("humorbench" if elements else "coverage")
    material = {"description": "A bear at a desk.", "caption": "Honey?", "context": "A zoo."}
    for system, (_, asked) in quotes.asked + echoes.asked:
        answer, point_text = between(asked, tag), between(asked, "point")
        blank = rubric.ask(material | {"answer": "", "point": point_text}, structured)
        assert "<" not in answer  # without it ">" closes nothing
        assert system == (blank.turns[0].role, blank.turns[0].text)
        assert asked.replace(f"<{tag}>\n{answer}\n</{tag}>", f"<{tag}>\n\n</{tag}>") == blank.turns[1].text
        for name in ("cartoon", "caption", "explanation", "point") if elements else ("task", "answer", "point"):
            assert asked.count(f"</{name}>") == 1


# ---- graders ------------------------------------------------------------------------------------


def test_a_grader_that_is_named_goes_before_the_role() -> None:
    bound = grader("bound", lambda point: True)
    task = own_task(bears())
    task.scorer = [element_coverage(grader="mockllm/named", cache=False)]
    (point,) = points(only(graded_log(task, says("m", "Bears."), bound)))
    assert [word["grader"] for word in point["verdicts"]] == ["mockllm/named"]
    assert bound.asked == []


def test_a_panel_names_each_model_once() -> None:
    log = graded_log(own_task(bears()), says("m", "Bears."), grader("g", thirds), grader("g", thirds), status="error")
    assert log.error
    assert "a panel must name each model once, not mockllm/g, mockllm/g" in log.error.message


def test_metadata_of_the_same_names_means_something_else_elsewhere() -> None:
    judge = grader("g", lambda point: True)
    sample = bears("one", "It has fur.", context="A zoo.")
    sample.metadata = {**(sample.metadata or {}), "points": ["a", 2], "fields": {"context": "no", "answer": "no"}}
    assert metrics(graded_log(own_task(sample), says("m", "Bears."), judge))["coverage"] == 1
    assert "A zoo." in str(judge.asked)
    assert "Bears." in str(judge.asked)


def test_retries_ask_again_with_the_next_seed_until_a_verdict_is_read() -> None:
    replies = iter(["hm", "PASS, I think", verdict(True)])
    judge = ScriptedModel("g", lambda messages: next(replies))
    log = graded_log(own_task(bears(), retries=2), says("m", "Bears."), judge)
    assert (metrics(log)["coverage"], len(judge.asked)) == (1, 3)
    assert [config.seed for config in judge.configs] == [1234, 1235, 1236]
    again = grader("g", lambda point: False)
    assert metrics(graded_log(own_task(bears(), retries=2), says("m", "Bears."), again))["coverage"] == 1  # kept
    assert again.asked == []


def test_a_graders_own_settings_go_first() -> None:
    judge = ScriptedModel("g", lambda messages: verdict(True), settings=GenerateConfig(temperature=0.7, seed=7))
    graded_log(own_task(bears()), says("m", "Bears."), judge)
    assert [(config.temperature, config.seed) for config in judge.configs] == [(0.7, 7)]
    unset = ScriptedModel("g2", lambda messages: verdict(True))
    graded_log(own_task(bears(), temperature="none", seed="null"), says("m", "Bears."), unset)
    assert [(config.temperature, config.seed) for config in unset.configs] == [(None, None)]


@pytest.mark.parametrize("parameters", [{"structured": "maybe"}, {"cache": 1}, {"retries": -1}, {"retries": "x"}])
def test_parameters_of_the_scorer_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(PrerequisiteError, match=next(iter(parameters))):
        element_coverage(**parameters)


@pytest.mark.parametrize(
    ("status_code", "structured", "ends"),
    [(401, False, True), (403, False, True), (404, False, True), (400, True, True), (400, False, False)],
)
def test_what_would_fail_for_every_request_ends_the_run(status_code: int, structured: bool, ends: bool) -> None:
    status, judge = "error" if ends else "success", raises("g", ProviderError(status_code))
    log = graded_log(own_task(bears(), structured=structured), says("m", "B."), judge, status=status)
    if ends:
        assert log.error
        assert ("rejected the schema; use structured=false" if structured else "cannot be used") in log.error.message


# ---- the exam -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_exam_asks_what_element_coverage_asks() -> None:
    judge, examined = ScriptedModel("g", as_object(True)), ScriptedModel("g", as_object(True))
    exam = graded_log(humorbench_autograder("sample", structured=True), examined)
    assert metrics(exam)["recall"] == 1
    ids = {record.id for record in load("humorbench", dataset="sample", subset=str(RUBRIC)).records}
    for name in ("sample-explainer-a", "sample-explainer-b"):
        said = {
            record.id.removesuffix(f"-{name}"): f"<explanation>{record.fields['answer']}</explanation>"
            for record in load("humorbench_autograder", dataset="sample").records
            if record.groups["explainer"] == name
        }
        assert set(said) == ids
        graded_log(humorbench("sample", subset=str(RUBRIC), structured=True), explainer(said), judge)
    assert len(examined.asked) == len(judge.asked) == 40
    assert sorted(examined.asked) == sorted(judge.asked)
    settings = {(c.temperature, c.seed, str(c.response_schema)) for c in judge.configs}
    assert len(settings) == 1
    assert {(c.temperature, c.seed, str(c.response_schema)) for c in examined.configs} == settings
    assert "judgement" in str(judge.configs[0].response_schema)


def test_an_unreadable_verdict_is_asked_for_again_by_the_next_run() -> None:
    asked = []
    for verdicts in ([None, True], [None], [True], [False]):
        judge = scripted_judge("g", verdicts)
        log = graded_log(own_task(bears("one", "It has fur.", "It flies.")), says("m", "Bears."), judge)
        asked.append((len(judge.asked), metrics(log)["grader_failed"]))
    assert asked == [(2, 0.5), (1, 0.5), (1, 0.0), (0, 0.0)]


def test_retries_are_read_from_the_cache_before_anything_is_asked_again() -> None:
    seeds = []
    for verdicts, retries in (([None], 0), ([None], 1), ([None, True], 1), ([False], 1)):
        judge = scripted_judge("g", verdicts)
        graded_log(own_task(bears(), retries=retries), says("m", "Bears."), judge)
        seeds.append([config.seed for config in judge.configs])
    assert seeds == [[1234], [1235], [1234, 1235], []]


def test_graders_of_one_name_with_other_arguments_do_not_share_verdicts() -> None:
    for temperature, asked in ((0, 1), (0, 0), (1, 1)):
        judge = scripted_judge("g", True)
        judge.model.model_args["variant"] = temperature
        graded_log(own_task(bears()), says("m", "Bears."), judge)
        assert len(judge.asked) == asked


def test_verdicts_of_weights_on_this_machine_are_kept_until_these_change(tmp_path: Path) -> None:
    for weights, asked in (("old", 1), ("old", 0), ("trained further", 1)):
        path = tmp_path / "model" / "weights"
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != weights:
            path.write_text(weights)
        judge = scripted_judge("g", True)
        judge.model.model_args["model_path"] = str(path.parent)
        graded_log(own_task(bears()), says("m", "Bears."), judge)
        assert len(judge.asked) == asked
