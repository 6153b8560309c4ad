"""element_coverage in Inspect with scripted graders, the exam it shares its question with, and `humor-tasks grade`."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import Task, eval, score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score
from lm_eval import evaluator
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from standins.attacks import ATTACKS
from standins.chat import chat_server, text_of

from humor_tasks import evaluate, load
from humor_tasks.benchmark import Outcome, Run
from humor_tasks.benchmarks.humorbench import graded
from humor_tasks.cli import main
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.coverage import element_coverage, explanation_form
from humor_tasks.on_inspect.grade import grading_task, read_written, report_of
from humor_tasks.on_inspect.humorbench import humorbench, humorbench_autograder
from humor_tasks.rubric import open_rubric
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.verdict import majority

RUBRIC = Path(folder("humorbench")) / "sample_rubric.csv"
STUBS = str(Path(__file__).parent.parent / "humor_tasks" / "on_lm_eval" / "tasks")
WORDS = {True: "PASS", False: "FAIL", None: "cannot tell"}
FEW = "toxic_or_shocking"  # four rows, for what more would not show better
REFUSAL = "I'm sorry, but I can't help with that."


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))


# ---- scripted models ----------------------------------------------------------------------------


@dataclass
class Scripted:
    """A mock model that answers by a function and keeps every request."""

    name: str
    answer: Callable[[list[ChatMessage]], str | ModelOutput]
    asked: list[list[tuple[str, str]]] = field(default_factory=list)
    configs: list[GenerateConfig] = field(default_factory=list)
    settings: GenerateConfig = field(default_factory=GenerateConfig)
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        self.model = get_model(f"mockllm/{self.name}", custom_outputs=self._reply, config=self.settings, memoize=False)

    def _reply(self, messages: list[ChatMessage], tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        self.asked.append([(message.role, message.text) for message in messages])
        self.configs.append(config)
        reply = self.answer(messages)
        output = reply if isinstance(reply, ModelOutput) else ModelOutput.from_content(self.name, reply)
        output.usage = ModelUsage()
        return output


def says(name: str, reply: str, stop: Any = "stop") -> Scripted:
    return Scripted(name, lambda messages: ModelOutput.from_content(name, reply, stop_reason=stop))


def explainer(replies: Mapping[str, str]) -> Scripted:
    """Answers by the record's id."""
    return Scripted("explainer", lambda messages: replies[(messages[-1].metadata or {})["id"]])


def grader(name: str, rule: Callable[[str], bool | None]) -> Scripted:
    """Judges by the point alone."""
    return Scripted(name, lambda messages: verdict(rule(between(messages[-1].text, "point"))))


def breaks(name: str) -> Scripted:
    def fail(messages: list[ChatMessage]) -> str:
        raise RuntimeError("the grader is down")

    return Scripted(name, fail)


def verdict(passed: bool | None, reasons: str = "So it is.") -> str:
    return f"<reasoning>{reasons}</reasoning>\n<judgement>{WORDS[passed]}</judgement>"


def as_object(passed: bool | None, reasons: str = "So it is.") -> str:
    return json.dumps({"reasoning": reasons, "judgement": WORDS[passed]})


def between(text: str, tag: str) -> str:
    return text.split(f"<{tag}>\n", 1)[1].rsplit(f"\n</{tag}>", 1)[0]


def run(task: Task, model: Scripted | None, *graders: Scripted, status: str = "success", **more: Any) -> EvalLog:
    roles: dict[str, Any] = {"grader": [g.model for g in graders]} if graders else {}
    named = model.model if model else "none/none"
    log = eval(task, model=named, model_roles=roles, display="none", **more)[0]
    assert log.status == status, log.error
    return log


def metrics(log: EvalLog, scorer: int = 0) -> dict[str, float]:
    assert log.results
    return {name: metric.value for name, metric in log.results.scores[scorer].metrics.items()}


def found(log: EvalLog, scorer: str = "element_coverage") -> dict[str, Score]:
    return {str(sample.id): (sample.scores or {})[scorer] for sample in log.samples or []}


def only(log: EvalLog, scorer: str = "element_coverage") -> Score:
    (result,) = found(log, scorer).values()
    return result


def unscored(log: EvalLog) -> int:
    assert log.results
    return log.results.scores[0].unscored_samples or 0


def points(result: Score) -> list[dict[str, Any]]:
    return (result.metadata or {})["points"]


def same(log: EvalLog, expected: Mapping[str, Estimate]) -> None:
    """The log's two scorers report exactly these estimates."""
    shown = metrics(log) | metrics(log, 1)
    names = [name for name in shown if not name.endswith(("_stderr", "_ci_low", "_ci_high"))]
    assert sorted(names) == sorted(expected)
    for name, estimate in expected.items():
        assert shown[name] == pytest.approx(estimate.value), name
        assert shown[f"{name}_stderr"] == pytest.approx(estimate.stderr), name
        assert shown[f"{name}_ci_low"] == pytest.approx(estimate.low), name
        assert shown[f"{name}_ci_high"] == pytest.approx(estimate.high), name


def replies_of(opened: Run) -> dict[str, str]:
    """A reply a record: most explain, some are long, untagged, empty, refused or cut off while thinking."""
    odd = {3: "It is untagged.", 7: "", 11: REFUSAL, 13: "<think>", 17: f"<explanation>{'ha ' * 300}</explanation>"}
    return {
        record.id: odd.get(i, f"<explanation>It is about {record.fields['caption']}</explanation>")
        for i, record in enumerate(opened.records)
    }


def expected_of(
    opened: Run, replies: Mapping[str, str], rule: Callable[[str], bool | None]
) -> tuple[list[Outcome], dict[str, Estimate]]:
    """What the pure functions make of these replies and verdicts."""
    outcomes = []
    for record in opened.records:
        outcome = opened.outcome(record, replies[record.id])
        outcomes.append(graded(opened, outcome, [rule(point.text) for point in record.points]))
    return outcomes, opened.metrics(outcomes)


def thirds(point: str) -> bool:
    return len(point) % 3 != 0


# ---- HumorBench, end to end ---------------------------------------------------------------------


@pytest.mark.parametrize("on_unparsed", ["wrong", "exclude"])
@pytest.mark.parametrize("per", ["row", "caption"])
def test_humorbench_on_the_sample(per: str, on_unparsed: str) -> None:
    parameters = {"dataset": "sample", "one_explanation_per": per, "on_unparsed": on_unparsed}
    opened = load("humorbench", **parameters)
    replies = replies_of(opened)
    model, judge = explainer(replies), grader("g", thirds)
    log = run(humorbench(**parameters), model, judge)
    outcomes, expected = expected_of(opened, replies, thirds)
    same(log, expected)
    assert len(model.asked) == len(opened.records)
    explained = [(o, r) for o, r in zip(outcomes, opened.records, strict=True) if o.answer]
    assert len(explained) == len(outcomes) - 3
    assert len(judge.asked) == sum(len(record.points) for _, record in explained)
    assert unscored(log) == (3 if on_unparsed == "exclude" else 0)
    results = found(log)
    for record, outcome in zip(opened.records, outcomes, strict=True):
        result = results[record.id]
        assert result.answer == outcome.answer
        assert [(p["id"], p["point"]) for p in points(result)] == [(p.id, p.text) for p in record.points]
    assert log.eval.metadata
    assert log.eval.metadata["signature"] == opened.signature("generate")
    assert log.eval.task_version == opened.version == {"row": "1-A", "caption": "1-A-caption"}[per]


def test_what_a_grader_is_shown() -> None:
    opened = load("humorbench", dataset="sample")
    judge = grader("g", thirds)
    answer = '1 < 2 &lt; {"3"}'
    run(humorbench("sample"), says("m", f"<explanation>{answer}</explanation>"), judge)
    rubric = open_rubric("humorbench")
    expected = []
    for record in opened.records:
        asked = rubric.ask({**record.fields, "answer": answer, "point": record.points[0].text})
        expected.append([(turn.role, turn.text) for turn in asked.turns])
    assert sorted(judge.asked) == sorted(expected)
    assert between(judge.asked[0][1][1], "explanation") == '1 &lt; 2 &amp;lt; &#123;"3"&#125;'


def test_metadata_keeps_verdicts_reasons_and_signature() -> None:
    opened = load("humorbench", dataset="sample")
    replies = replies_of(opened)
    judge = Scripted("g", lambda messages: verdict(True, "It names the bears."))
    log = run(humorbench("sample"), explainer(replies), judge)
    (point,) = points(found(log)[opened.records[0].id])
    assert point == {
        "id": opened.records[0].id,
        "point": opened.records[0].points[0].text,
        "passed": True,
        "verdicts": [{"grader": "mockllm/g", "passed": True, "status": "answered", "reasons": "It names the bears."}],
    }
    rubric = open_rubric("humorbench").hash
    signature = f"graders:mockllm/g|verdict:tags|temperature:0.0|seed:1234|prompts:{rubric}"
    assert {(result.metadata or {})["signature"] for result in found(log).values()} == {signature}
    assert "It names the bears." in (found(log)[opened.records[0].id].explanation or "")


def test_epochs_are_all_counted_and_graded_once() -> None:
    opened = load("humorbench", dataset="sample")
    judge = grader("g", thirds)
    log = run(humorbench("sample"), explainer(replies_of(opened)), judge, epochs=2, max_samples=1)
    outcomes, _ = expected_of(opened, replies_of(opened), thirds)
    same(log, opened.metrics([o for outcome in outcomes for o in (outcome, outcome)]))
    assert len(judge.asked) == 35  # the second epoch's verdicts are those of the first


# ---- somebody else's task -----------------------------------------------------------------------


def own_task(*samples: Sample, form: bool = False, **how: Any) -> Task:
    scorers = [element_coverage(**how), *([explanation_form()] if form else [])]
    return Task(dataset=list(samples), scorer=scorers)


def bears(identity: str = "s", *target: str, **metadata: Any) -> Sample:
    return Sample(id=identity, input="Why bears?", target=list(target) or "A bear.", metadata=metadata or None)


def test_somebody_elses_task_with_several_points() -> None:
    samples = [
        bears("one", "It has fur.", "no: It flies."),
        bears("two", "It eats honey.", "It sleeps.", "no: It swims.", context="A <zoo>."),
        bears("three", "no: It reads."),
    ]
    judge = grader("g", lambda point: not point.startswith("no"))
    log = run(own_task(*samples), says("m", "<think>Hm.</think>They are <b>bears</b>."), judge)
    shown = metrics(log)
    names = ("coverage", "all_covered", "grader_failed", "undecided")  # there is no other scorer to report these
    assert list(shown) == [n + s for n in names for s in ("", "_stderr", "_ci_low", "_ci_high")]
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
    log = run(own_task(bears()), says("m", "<think>Hm.</think> \n"), judge)
    assert metrics(log)["coverage"] == 0
    assert judge.asked == []
    assert only(log).reason == "no_response"


def test_a_target_without_points_is_an_error() -> None:
    log = run(own_task(Sample(id="s", input="?", target=" ")), says("m", "x"), grader("g", thirds), status="error")
    assert "the target holds no anticipated point" in str(log.error)


# ---- panels, failures ---------------------------------------------------------------------------


def test_a_panel_decides_by_majority() -> None:
    opened = load("humorbench", dataset="sample")
    rules = [thirds, lambda point: len(point) % 2 == 0, lambda point: None if len(point) % 5 == 0 else True]
    panel = [grader(name, rule) for name, rule in zip("abc", rules, strict=True)]
    log = run(humorbench("sample"), explainer(replies_of(opened)), *panel)
    _, expected = expected_of(opened, replies_of(opened), lambda point: majority([rule(point) for rule in rules]))
    same(log, expected)
    assert {len(judge.asked) for judge in panel} == {35}
    for result in found(log).values():
        for point in points(result):
            said = {v["grader"]: v["passed"] for v in point["verdicts"]}
            if result.answer:
                assert said == {f"mockllm/{n}": r(point["point"]) for n, r in zip("abc", rules, strict=True)}
                assert point["passed"] == majority(list(said.values()))
    assert expected["grader_failed"].value > 0
    assert unscored(log) == sum(result.reason == "grader_failed" for result in found(log).values()) > 0


@pytest.mark.parametrize(
    ("make", "passed", "words"),
    [
        (
            lambda: [grader("a", lambda p: True), grader("b", lambda p: True), breaks("c")],
            True,
            ["PASS", "PASS", "error"],
        ),
        (
            lambda: [grader("a", lambda p: False), breaks("b"), grader("c", lambda p: False)],
            False,
            ["FAIL", "error", "FAIL"],
        ),
        (lambda: [grader("a", lambda p: True), grader("b", lambda p: False)], None, ["PASS", "FAIL"]),
        (lambda: [grader("a", lambda p: True), breaks("b")], None, ["PASS", "error"]),
        (
            lambda: [grader("a", lambda p: True), grader("b", lambda p: False), breaks("c")],
            None,
            ["PASS", "FAIL", "error"],
        ),
        (lambda: [breaks("a")], None, ["error"]),
        (lambda: [says("a", "It passes: PASS.")], None, ["unparsed"]),
        (lambda: [says("a", "")], None, ["empty"]),
        (lambda: [says("a", "<think>PASS")], None, ["unparsed"]),
        (lambda: [says("a", REFUSAL)], None, ["refused"]),
        (lambda: [says("a", "", "content_filter")], None, ["refused"]),
        (lambda: [says("a", "Well", "content_filter")], None, ["refused"]),
        (lambda: [says("a", verdict(True), "max_tokens")], None, ["unparsed"]),
        (lambda: [says("a", verdict(True), "model_length")], None, ["unparsed"]),
        (lambda: [says("a", f"It says {verdict(True)}", "max_tokens")], None, ["unparsed"]),
        (lambda: [says("a", as_object(True))], None, ["unparsed"]),  # not the form that was asked for
    ],
)
def test_what_graders_amount_to(make: Callable[[], list[Scripted]], passed: bool | None, words: list[str]) -> None:
    panel = make()
    log = run(own_task(bears(), form=True), says("m", "<explanation>They are.</explanation>"), *panel)
    result = only(log)
    (point,) = points(result)
    assert point["passed"] is passed
    said = [WORDS[v["passed"]] if v["passed"] is not None else v["status"] for v in point["verdicts"]]
    assert said == words
    assert [len(judge.asked) for judge in panel] == [1] * len(panel)
    form = only(log, "explanation_form")
    why = "undecided" if words == ["PASS", "FAIL"] else "grader_failed"
    for name in ("grader_failed", "undecided"):
        assert (form.metadata or {})["values"][name] == (passed is None and name == why)
        assert metrics(log, 1)[name] == (passed is None and name == why)
    if passed is None:
        assert (result.reason, unscored(log)) == (why, 1)
        assert math.isnan(float(result.value))  # type: ignore[arg-type]
        assert "coverage" not in metrics(log)
    else:
        assert (result.reason, unscored(log), metrics(log)["coverage"]) == (None, 0, float(passed))


def test_words_that_could_not_be_read_are_kept() -> None:
    log = run(own_task(bears()), says("m", "Bears."), says("a", "It passes: PASS."), breaks("b"))
    unread, broken = points(only(log))[0]["verdicts"]
    assert unread == {
        "grader": "mockllm/a",
        "passed": None,
        "status": "unparsed",
        "reasons": "",
        "reply": "It passes: PASS.",
    }
    assert broken["reasons"] == "RuntimeError: the grader is down"


def test_a_point_without_a_verdict_leaves_the_denominator() -> None:
    judge = grader("g", lambda point: {"y": True, "n": False, "?": None}[point[0]])
    samples = [bears("a", "y", "?"), bears("b", "n", "y", "?"), bears("c", "?", "? too"), bears("d", "y")]
    log = run(own_task(*samples, form=True), says("m", "<explanation>Bears.</explanation>"), judge)
    assert metrics(log)["coverage"] == pytest.approx(3 / 4)  # y, n, y, y
    assert metrics(log)["all_covered"] == pytest.approx(1 / 2)  # of b and d
    assert metrics(log, 1)["grader_failed"] == pytest.approx(4 / 8)
    assert unscored(log) == 1
    reasons = {name: result.reason for name, result in found(log).items()}
    assert reasons == {"a": None, "b": None, "c": "grader_failed", "d": None}


def test_no_grader_fails_before_anything_is_asked() -> None:
    model = says("m", "<explanation>Bears.</explanation>")
    log = run(humorbench("sample"), model, status="error")
    assert log.error
    assert "--model-role grader=MODEL" in log.error.message
    assert model.asked == []


def test_a_reply_without_an_explanation_is_not_graded() -> None:
    opened = load("humorbench", dataset="sample")
    judge = grader("g", thirds)
    replies = ["", REFUSAL, "<think>Hm", "<explanation></explanation>", f"<explanation>{REFUSAL}</explanation>"]
    given = {record.id: replies[i % 5] for i, record in enumerate(opened.records)}
    log = run(humorbench("sample"), explainer(given), judge)
    assert judge.asked == []
    assert metrics(log)["coverage"] == metrics(log)["all_covered"] == 0
    assert metrics(log, 1)["refused"] == pytest.approx(sum(REFUSAL in reply for reply in given.values()) / 38)
    assert "grader_failed" not in metrics(log, 1)
    refused = says("m", "", "content_filter")
    log = run(humorbench("sample", FEW, on_unparsed="exclude"), refused, judge)
    assert (judge.asked, unscored(log), metrics(log, 1)["refused"]) == ([], 4, 1)
    assert {result.reason for result in found(log).values()} == {"refusal"}


# ---- the request --------------------------------------------------------------------------------


def test_a_verdict_is_paid_for_once() -> None:
    samples = [bears("one", "It has fur.", "It flies."), bears("two", "It swims.")]
    for name in ("cached", "anew"):
        judge, model = grader(name, thirds), says("m", "Bears.")
        logs = [run(own_task(*samples, cache=name == "cached"), model, judge) for _ in range(2)]
        assert metrics(logs[0]) == metrics(logs[1])
        first, second = ({name: points(result) for name, result in found(log).items()} for log in logs)
        assert first == second
        assert len(judge.asked) == (3 if name == "cached" else 6)
    other = grader("cached", thirds)
    run(own_task(*samples, seed=1), model, other)  # another request
    assert len(other.asked) == 3


def test_a_failed_request_is_not_kept() -> None:
    model = says("m", "Bears.")
    run(own_task(bears()), model, breaks("g"))
    run(own_task(bears()), model, says("g", "", "content_filter"))
    judge = grader("g", lambda point: True)
    assert metrics(run(own_task(bears()), model, judge))["coverage"] == 1
    assert len(judge.asked) == 1


@pytest.mark.parametrize("structured", [False, True])
def test_settings_reach_the_grader(structured: bool) -> None:
    def answer(messages: list[dict[str, Any]]) -> str:
        return (as_object if structured else verdict)(True, "It says so.")

    with chat_server(answer) as server:
        judge = get_model("openai-api/grader/g", base_url=server.url, api_key="x", memoize=False)
        task = own_task(bears("s", "It has fur.", "It flies."), structured=structured)
        log = eval(task, model=says("m", "Bears.").model, model_roles={"grader": judge}, display="none")[0]
        assert log.status == "success"
        unpinned = own_task(bears(), structured=structured, temperature=None, seed=None)
        eval(unpinned, model=says("m", "Bears.").model, model_roles={"grader": judge}, display="none")
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
    with chat_server(lambda messages: verdict(text_of(messages[-1]).startswith("A zoo"))) as server:
        monkeypatch.setenv("OWNGRADER_API_KEY", "x")
        monkeypatch.setenv("OWNGRADER_BASE_URL", server.url)
        task = own_task(bears(context="A zoo"), grader="openai-api/owngrader/g", prompts=str(tmp_path))
        log = run(task, says("m", "Bears."))
    assert [text_of(message) for message in server.requests[0]["messages"]] == ["A zoo: Bears. = A bear.? Judge."]
    assert metrics(log)["coverage"] == 1
    rubric = open_rubric("coverage", str(tmp_path)).hash
    assert (only(log).metadata or {})["signature"].endswith(f"prompts:{rubric}")


def test_a_wrong_prompts_folder_is_told(tmp_path: Path) -> None:
    judge = grader("g", thirds)
    model = says("m", "Bears.")
    log = run(own_task(bears(), prompts=str(tmp_path / "nowhere")), model, judge, status="error")
    assert "nowhere: there is no such folder" in str(log.error)
    assert judge.asked == []
    model.asked.clear()
    with pytest.raises(PrerequisiteError, match="there is no such folder"):
        humorbench("sample", prompts=str(tmp_path / "nowhere"))
    (tmp_path / "grade.txt").write_text("== user ==\n$answer $point $format $captoin")
    with pytest.raises(PrerequisiteError, match=r"humor_tasks/humorbench: template grade.txt: there is no .*captoin"):
        humorbench("sample", prompts=str(tmp_path))


# ---- attacks ------------------------------------------------------------------------------------


def attacked(tmp_path: Path, elements: bool) -> tuple[Task, Scripted, list[str], str]:
    """Every attack as the explanation of a sample, in HumorBench or in somebody else's task."""
    if not elements:
        samples = [bears(str(i), f"Point {i}.", context="A zoo.") for i in range(len(ATTACKS))]
        model = Scripted("attacker", lambda messages: ATTACKS[int((messages[-1].metadata or {})["i"])])
        for i, sample in enumerate(samples):
            sample.input = [ChatMessageUser(content="Why?", metadata={"i": i})]
        return own_task(*samples, form=True), model, [str(sample.id) for sample in samples], "answer"
    path = tmp_path / "elements.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["idx", "description", "caption", "element"])
        writer.writerows([i, "A bear at a desk.", "Honey?", f"Point {i}."] for i in range(len(ATTACKS)))
    ids = [record.id for record in load("humorbench", dataset=str(path)).records]
    model = explainer({i: f"<explanation>{attack}</explanation>" for i, attack in zip(ids, ATTACKS, strict=True)})
    return humorbench(str(path)), model, ids, "explanation"


@pytest.mark.slow
@pytest.mark.parametrize("elements", [True, False])
@pytest.mark.parametrize("structured", [False, True])
def test_no_attack_passes(tmp_path: Path, elements: bool, structured: bool) -> None:
    task, model, ids, tag = attacked(tmp_path, elements)
    form = as_object if structured else verdict
    quotes = Scripted("quotes", lambda messages: form(False, f"It says: {between(messages[-1].text, tag)}"))
    echoes = Scripted("echoes", lambda messages: between(messages[-1].text, tag))
    task.scorer[0] = element_coverage(structured=structured)
    log = run(task, model, quotes, echoes)
    sent = 0
    for result in found(log).values():
        (point,) = points(result)
        assert not result.value or math.isnan(float(result.value))  # type: ignore[arg-type]
        assert point["passed"] is (False if result.answer is None else None)  # FAIL and nothing: no majority
        if result.answer is not None:
            sent += 1
            quoted, echoed = point["verdicts"]
            assert (quoted["passed"], echoed["passed"]) == (False, None), ascii(result.answer[:80])
    assert len(quotes.asked) == len(echoes.asked) == sent
    assert sent > 0.85 * len(ids)
    rubric = open_rubric("humorbench" if elements else "coverage")
    material = {"description": "A bear at a desk.", "caption": "Honey?", "context": "A zoo."}
    for system, (_, asked) in quotes.asked + echoes.asked:
        answer, point_text = between(asked, tag), between(asked, "point")
        blank = rubric.ask(material | {"answer": "", "point": point_text}, structured)
        assert not set(answer) & set("<>")
        assert system == (blank.turns[0].role, blank.turns[0].text)
        assert asked.replace(f"<{tag}>\n{answer}\n</{tag}>", f"<{tag}>\n\n</{tag}>") == blank.turns[1].text
        for name in ("cartoon", "caption", "explanation", "point") if elements else ("task", "answer", "point"):
            assert asked.count(f"</{name}>") == 1


# ---- rescoring ----------------------------------------------------------------------------------


def test_a_log_can_be_graded_again() -> None:
    opened = load("humorbench", dataset="sample")
    replies = replies_of(opened)
    log = run(humorbench("sample"), explainer(replies), breaks("first"))
    assert unscored(log) == 35
    kept = read_eval_log(log.location)
    judge = grader("second", thirds)
    again = score(
        kept,
        [element_coverage(), explanation_form()],
        model_roles={"grader": judge.model},
        action="overwrite",
        display="none",
    )
    _, expected = expected_of(opened, replies, thirds)
    same(again, expected)
    assert len(judge.asked) == 35
    for result in found(again).values():
        assert "graders:mockllm/second|" in (result.metadata or {})["signature"]
        if result.answer:
            assert points(result)[0]["verdicts"][0]["reasons"] == "So it is."
    panel = [grader("x", thirds), grader("y", thirds)]
    both = score(
        log,
        element_coverage(structured=False),
        model_roles={"grader": [judge.model for judge in panel]},
        action="append",
        display="none",
    )
    assert both.results
    assert [scores.name for scores in both.results.scores] == [
        *("element_coverage", "explanation_form", "element_coverage1"),
    ]
    assert metrics(both, 2)["coverage"] == pytest.approx(expected["coverage"].value)


def test_grading_again_with_a_wrong_prompts_folder_is_told() -> None:
    log = run(own_task(bears()), says("m", "Bears."), grader("g", thirds))
    judge = grader("again", thirds)
    with pytest.raises(PrerequisiteError, match="prompts=/nowhere: there is no such folder"):
        score(
            log,
            element_coverage(prompts="/nowhere"),
            model_roles={"grader": judge.model},
            action="overwrite",
            display="none",
        )
    assert judge.asked == []


# ---- the exam -----------------------------------------------------------------------------------


def rubric_rows() -> list[dict[str, str]]:
    with RUBRIC.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_exam_in_inspect_is_the_exam_without_a_harness() -> None:
    opened = load("humorbench_autograder", dataset="sample")
    said = [verdict(True), verdict(False), verdict(True), "It passes.", verdict(False), verdict(True), REFUSAL]
    replies = {record.id: said[i % 7] for i, record in enumerate(opened.records)}
    log = run(humorbench_autograder("sample"), explainer(replies))
    shown = metrics(log)
    expected = evaluate(opened, replies).metrics
    assert set(shown) == {n + s for n in expected for s in ("", "_stderr", "_ci_low", "_ci_high")}
    for name, estimate in expected.items():
        assert shown[name] == pytest.approx(estimate.value), name
        assert shown[f"{name}_stderr"] == pytest.approx(estimate.stderr, nan_ok=True), name
        assert shown[f"{name}_ci_high"] == pytest.approx(estimate.high, nan_ok=True), name
    assert shown["unparsed"] > 0 < shown["refused"]
    results = found(log, "judge_agreement")
    for record in opened.records:
        agrees = "C" if replies[record.id] == verdict(record.target == "PASS") else "I"
        unread = replies[record.id] in ("It passes.", REFUSAL)
        assert results[record.id].value == ("N" if unread else agrees)


@pytest.mark.slow
@pytest.mark.parametrize("structured", [False, True])
def test_the_exam_asks_what_element_coverage_asks(structured: bool) -> None:
    form = as_object if structured else verdict
    judge, examined = Scripted("g", lambda m: form(True)), Scripted("g", lambda m: form(True))
    exam = run(humorbench_autograder("sample", structured=structured), examined)
    assert metrics(exam)["recall"] == 1
    ids = {record.id for record in load("humorbench", dataset="sample", subset=str(RUBRIC)).records}
    for name in ("sample-explainer-a", "sample-explainer-b"):
        said = {
            record.id.removesuffix(f"-{name}"): f"<explanation>{record.fields['answer']}</explanation>"
            for record in load("humorbench_autograder", dataset="sample").records
            if record.groups["explainer"] == name
        }
        assert set(said) == ids
        run(humorbench("sample", subset=str(RUBRIC), structured=structured), explainer(said), judge)
    assert len(examined.asked) == len(judge.asked) == 40
    assert sorted(examined.asked) == sorted(judge.asked)
    settings = {(c.temperature, c.seed, str(c.response_schema)) for c in judge.configs}
    assert len(settings) == 1
    assert {(c.temperature, c.seed, str(c.response_schema)) for c in examined.configs} == settings
    assert ("judgement" in str(judge.configs[0].response_schema)) == structured


# ---- grade --------------------------------------------------------------------------------------


class Explains(LM):
    """Replies by the document's id."""

    def __init__(self, replies: Mapping[str, str]) -> None:
        super().__init__()
        self.replies = replies

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        return [self.replies.get(request.doc["id"], verdict(True)) for request in requests]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError


def lm_eval_logs(output: Path, replies: Mapping[str, str], *tasks: str, **metadata: Any) -> dict[str, Path]:
    """The files that `lm_eval --output_path ... --log_samples` leaves, by task."""
    manager = TaskManager(include_path=STUBS, include_defaults=False, metadata={"dataset": "sample"} | metadata)
    tracker = EvaluationTracker(output_path=str(output))
    results = evaluator.simple_evaluate(
        Explains(replies), tasks=list(tasks), task_manager=manager, evaluation_tracker=tracker
    )
    assert results is not None
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in tasks:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return {task: next(output.rglob(f"samples_{task}_2*.jsonl")) for task in tasks}


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    replies = replies_of(load("humorbench", dataset="sample"))
    return lm_eval_logs(tmp_path_factory.mktemp("logged"), replies, "humorbench_autograder", "humorbench")


def regrade(path: Path, *graders: Scripted) -> EvalLog:
    return run(grading_task(read_written(path, "humorbench"), "humorbench", path.name), None, *graders)


@pytest.mark.slow
@pytest.mark.parametrize("per", ["row", "caption"])
def test_grading_a_log_of_either_harness_is_grading_inside_the_run(tmp_path: Path, per: str) -> None:
    opened = load("humorbench", dataset="sample", one_explanation_per=per)
    replies = replies_of(opened)
    rule: Callable[[str], bool | None] = lambda point: None if len(point) % 5 == 0 else thirds(point)  # noqa: E731
    inside = run(humorbench("sample", one_explanation_per=per), explainer(replies), grader("g", rule))
    (theirs,) = lm_eval_logs(tmp_path, replies, "humorbench", one_explanation_per=per).values()
    ungraded = run(humorbench("sample", one_explanation_per=per), explainer(replies), breaks("ungraded"))
    _, expected = expected_of(opened, replies, rule)
    for path in (theirs, Path(ungraded.location)):
        written = read_written(path, "humorbench")
        assert {str(s.id): (s.metadata or {})["logged_reply"] for s in written.samples} == replies
        asked = {record.id: opened.prompt(record).turns[0].text for record in opened.records}
        assert {str(s.id): str(s.input).strip() for s in written.samples} == asked
        log = regrade(path, grader("again", rule))
        same(log, expected)
        report = report_of(log)
        assert list(report.metrics) == list(expected)
        assert metrics(log) == pytest.approx(metrics(inside))
        assert metrics(log, 1) == pytest.approx(metrics(inside, 1))
        for name, estimate in expected.items():
            assert dataclasses.astuple(report.metrics[name]) == pytest.approx(dataclasses.astuple(estimate)), name
        assert log.eval.task_version == inside.eval.task_version == opened.version
        signature = opened.signature("generate")
        assert written.signature == (log.eval.metadata or {})["signature"] == signature
        assert written.fingerprint == opened.data.provenance["fingerprint"]
        begins = f"{signature}||graded:{len(opened.records)}|v:{opened.version}|graders:mockllm/again|"
        assert report.signature.startswith(begins)


def test_the_run_is_told_from_its_neighbours(logged: dict[str, Path], tmp_path: Path) -> None:
    written = read_written(logged["humorbench"], "humorbench")
    assert written.signature == load("humorbench", dataset="sample").signature("generate")
    moved = tmp_path / "mine.jsonl"
    moved.write_bytes(logged["humorbench"].read_bytes())
    alone = read_written(moved, "humorbench")
    assert (alone.signature, alone.fingerprint, alone.samples) == ("-", None, written.samples)


def test_a_refusal_flagged_by_the_provider_stays_one() -> None:
    log = run(humorbench("sample", FEW), says("m", "Well", "content_filter"), grader("g", thirds))
    judge = grader("again", thirds)
    again = regrade(Path(log.location), judge)
    assert metrics(again, 1)["refused"] == 1
    assert judge.asked == []


@pytest.fixture
def lines(logged: dict[str, Path]) -> list[str]:
    return logged["humorbench"].read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (lambda lines: "\n".join([*lines[:3], lines[3][:-40], *lines[4:]]), ["line 4: is no sample of the lm-eval"]),
        (lambda lines: "\n".join([*lines, "[]"]), ["line 39: is no sample of the lm-eval task humorbench"]),
        (lambda lines: "\n".join([lines[0], "", lines[1], "{}"]), ["line 4: is no sample", "KeyError('doc')"]),
        (lambda lines: "\n".join([lines[0], lines[1], lines[0]]), ["holds two replies for 9001-", "one run a file"]),
        (
            lambda lines: lines[0].replace('"filtered_resps": ["', '"filtered_resps": [[0.5, "'),
            ["line 1: is no sample"],
        ),
        (lambda lines: lines[0].replace('"filtered_resps"', '"resps_filtered"'), ["line 1", "filtered_resps"]),
        (lambda lines: json.dumps(json.loads(lines[0]) | {"filtered_resps": [None]}), ["line 1", "the reply is None"]),
        (lambda lines: json.dumps(json.loads(lines[0]) | {"filtered_resps": []}), ["line 1: is no sample"]),
        (lambda lines: "\n".join([lines[0], "[" * 100_000]), ["line 2: is no sample"]),
        (lambda lines: "", ["holds no replies of humorbench"]),
        (lambda lines: " \n\n", ["holds no replies of humorbench"]),
        (lambda lines: lines[0].encode() + b"\n\xff", ["cannot be read as UTF-8 text"]),
    ],
)
def test_bad_samples(lines: list[str], tmp_path: Path, change: Any, messages: list[str]) -> None:
    path = tmp_path / "samples.jsonl"
    changed = change(lines)
    path.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    with pytest.raises(BadInput) as caught:
        read_written(path, "humorbench")
    for message in [str(path), *messages]:
        assert message in str(caught.value)


def test_bad_logs(logged: dict[str, Path], tmp_path: Path) -> None:
    def told(path: Path, message: str, task: str = "humorbench") -> None:
        with pytest.raises(BadInput, match=message):
            read_written(path, task)

    told(tmp_path / "no.eval", r"no.eval: there is no such log")
    told(tmp_path, r"there is no such log")
    told(logged["humorbench"], r"task: there is no 'matching'; choose from humorbench", "matching")
    told(logged["humorbench_autograder"], r"line 1: is no sample of the lm-eval task humorbench \(KeyError")
    for name in ("broken.eval", "broken.json"):
        (tmp_path / name).write_text("{")
        told(tmp_path / name, rf"{name}: cannot be read as an Inspect log")
    exam = run(humorbench_autograder("sample"), says("m", verdict(True)))
    told(Path(exam.location), r"is not of humor_tasks/humorbench\.")
    other = run(own_task(bears()), says("m", "Bears."), grader("g", thirds))
    told(Path(other.location), r"sample s is not of humor_tasks/humorbench\.")
    model = says("m", "<explanation>Bears.</explanation>")
    twice = run(humorbench("sample", FEW), model, grader("g", thirds), epochs=2)
    told(Path(twice.location), r"holds several epochs; grade it in place with inspect score")
    failed = run(humorbench("sample", FEW), breaks("m"), grader("g", thirds), status="error")
    told(Path(failed.location), r"ended with status error; finish it with inspect eval-retry, or --partial")
    with pytest.raises(BadInput, match="holds no replies"):
        read_written(Path(failed.location), "humorbench", partial=True)


def test_a_report_of_an_unfinished_run_is_refused() -> None:
    log = run(humorbench("sample", FEW), breaks("m"), grader("g", thirds), status="error")
    with pytest.raises(BadInput, match=r"grading ended with status error: .*the grader is down.*Run the command again"):
        report_of(log)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grader", "nonsense/model"], "grader nonsense/model: "),
        (["--grader", "openai-api/nowhere/model"], "NOWHERE_API_KEY"),
        ([], "Missing option '--grader'"),
        (["--grader", "mockllm/g", "--task", "matching"], "there is no 'matching'"),
        (["--grader", "mockllm/g", "--prompts", "/no/where"], "prompts=/no/where: there is no such folder"),
    ],
)
def test_bad_arguments_of_grade(logged: dict[str, Path], arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["grade", str(logged["humorbench"]), *arguments])
    assert done.exit_code == 2, done.output
    assert message in done.output
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_the_command_line_grades(logged: dict[str, Path], tmp_path: Path) -> None:
    opened = load("humorbench", dataset="sample")
    panel: Sequence[Callable[[str], bool]] = (thirds, lambda point: True, lambda point: len(point) % 2 == 0)
    models: dict[str, Callable[[str], bool]] = dict(zip("abc", panel, strict=True))

    def answer(messages: list[dict[str, Any]]) -> str:
        return as_object(models[server.requests[-1]["model"]](between(text_of(messages[-1]), "point")))

    with chat_server(answer) as server:
        own = {"INSPECT_CACHE_DIR": str(tmp_path / "c"), "GRADER_API_KEY": "x", "GRADER_BASE_URL": server.url}
        command = [sys.executable, "-m", "humor_tasks.cli", "grade", str(logged["humorbench"]), "--structured"]
        command += ["--grader", "openai-api/grader/a", "--seed", "7", "--log-dir", str(tmp_path / "verdicts")]
        command += ["-o", str(tmp_path / "scores.json")]
        done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(server.requests) == 35
    _, expected = expected_of(opened, replies_of(opened), thirds)
    written = json.loads((tmp_path / "scores.json").read_text())
    assert list(written["metrics"]) == list(expected)
    for name, estimate in expected.items():
        assert written["metrics"][name]["value"] == pytest.approx(estimate.value), name
        assert written["metrics"][name]["stderr"] == pytest.approx(estimate.stderr), name
        assert f"{estimate.value:.5f}" in next(line for line in done.stdout.splitlines() if line.startswith(f"{name} "))
    assert written["signature"].startswith(
        f"{opened.signature('generate')}||graded:38|v:1-A|graders:openai-api/grader/a|"
    )
    assert "|verdict:json|temperature:0.0|seed:7|" in written["signature"]
    assert written["signature"] in done.stdout
    assert "95% interval" in done.stdout
    (log,) = (tmp_path / "verdicts").glob("*.eval")
    assert str(log) in done.stdout.replace("\n", "")
    assert {(r["seed"], r["temperature"], r["response_format"]["type"]) for r in server.requests} == {
        (7, 0, "json_schema"),
    }
    assert (read_eval_log(str(log)).eval.metadata or {})["graded_log"] == logged["humorbench"].name


# ---- graders ------------------------------------------------------------------------------------


def test_a_grader_that_is_named_goes_before_the_role() -> None:
    bound = grader("bound", lambda point: True)
    task = own_task(bears())
    task.scorer = [element_coverage(grader="mockllm/named", cache=False)]
    (point,) = points(only(run(task, says("m", "Bears."), bound)))
    assert [word["grader"] for word in point["verdicts"]] == ["mockllm/named"]
    assert bound.asked == []


def test_a_panel_names_each_model_once() -> None:
    log = run(own_task(bears()), says("m", "Bears."), grader("g", thirds), grader("g", thirds), status="error")
    assert log.error
    assert "a panel names each model once, not mockllm/g, mockllm/g" in log.error.message


def test_metadata_of_the_same_names_means_something_else_elsewhere() -> None:
    judge = grader("g", lambda point: True)
    sample = bears("one", "It has fur.", context="A zoo.")
    sample.metadata = {**(sample.metadata or {}), "points": ["a", 2], "fields": {"context": "no", "answer": "no"}}
    assert metrics(run(own_task(sample), says("m", "Bears."), judge))["coverage"] == 1
    assert "A zoo." in str(judge.asked)
    assert "Bears." in str(judge.asked)


def test_retries_ask_again_with_the_next_seed_until_a_verdict_is_read() -> None:
    replies = iter(["hm", "PASS, I think", verdict(True)])
    judge = Scripted("g", lambda messages: next(replies))
    log = run(own_task(bears(), retries=2), says("m", "Bears."), judge)
    assert (metrics(log)["coverage"], len(judge.asked)) == (1, 3)
    assert [config.seed for config in judge.configs] == [1234, 1235, 1236]
    again = grader("g", lambda point: False)
    assert metrics(run(own_task(bears(), retries=2), says("m", "Bears."), again))["coverage"] == 1  # kept
    assert again.asked == []


def test_a_graders_own_settings_go_first() -> None:
    judge = Scripted("g", lambda messages: verdict(True), settings=GenerateConfig(temperature=0.7, seed=7))
    run(own_task(bears()), says("m", "Bears."), judge)
    assert [(config.temperature, config.seed) for config in judge.configs] == [(0.7, 7)]
    unset = Scripted("g2", lambda messages: verdict(True))
    run(own_task(bears(), temperature="none", seed="null"), says("m", "Bears."), unset)
    assert [(config.temperature, config.seed) for config in unset.configs] == [(None, None)]


@pytest.mark.parametrize("parameters", [{"structured": "maybe"}, {"cache": 1}, {"retries": -1}, {"retries": "x"}])
def test_parameters_of_the_scorer_are_checked(parameters: dict[str, Any]) -> None:
    with pytest.raises(PrerequisiteError, match=next(iter(parameters))):
        element_coverage(**parameters)


class Refused(Exception):
    """What a provider raises."""

    def __init__(self, status_code: int) -> None:
        super().__init__("no")
        self.status_code = status_code


@pytest.mark.parametrize(
    ("status_code", "structured", "ends"),
    [(401, False, True), (403, False, True), (404, False, True), (400, True, True), (400, False, False)],
)
def test_what_would_fail_for_every_request_ends_the_run(status_code: int, structured: bool, ends: bool) -> None:
    def fails(messages: Any) -> str:
        raise Refused(status_code)

    status = "error" if ends else "success"
    log = run(own_task(bears(), structured=structured), says("m", "B."), Scripted("g", fails), status=status)
    if ends:
        assert log.error
        assert ("takes no schema: use structured=false" if structured else "cannot be asked") in log.error.message


def test_a_missing_grader_is_told_before_there_is_a_log() -> None:
    with pytest.raises(PrerequisiteError, match="--model-role"):
        eval("humor_tasks/humorbench", task_args={"dataset": "sample"}, model=says("m", "x").model, display="none")
