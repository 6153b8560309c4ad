"""`humor-tasks grade`: logs of either harness are graded afterwards as they would have been inside the run."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from standins import commands
from standins.grading import (
    FEW,
    as_object,
    bears,
    breaks,
    expected_of,
    explainer,
    graded_log,
    grader,
    own_task,
    replies_of,
    same,
    thirds,
    verdict,
)
from standins.judging import between, says
from standins.logs import metrics
from standins.once import made_once

from humor_tasks import load
from humor_tasks.cli import main
from humor_tasks.errors import BadInput
from humor_tasks.results import read_results
from humor_tasks.results.grade import grading_task, read_written, report_of
from humor_tasks.tasks import humorbench, humorbench_autograder
from humor_tasks.testing import ChatServer, ScriptedLM, ScriptedModel, run_lm_eval, text_of


def lm_eval_logs(output: Path, replies: Mapping[str, str], *tasks: str, **metadata: Any) -> dict[str, Path]:
    """The files that `lm_eval --output_path ... --log_samples` leaves, by task."""
    model = ScriptedLM(lambda prompt, doc: replies.get(doc["id"], verdict(True)))
    run_lm_eval(model, *tasks, metadata={"dataset": "sample"} | metadata, output=output)
    return {task: next(output.rglob(f"samples_{task}_2*.jsonl")) for task in tasks}


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    names = ("humorbench_autograder", "humorbench")
    replies = replies_of(load("humorbench", dataset="sample"))
    made = made_once(tmp_path_factory, "lm_eval_coverage", lambda folder: lm_eval_logs(folder, replies, *names))
    return {name: next(made.rglob(f"samples_{name}_2*.jsonl")) for name in names}


def regrade(path: Path, *graders: ScriptedModel) -> EvalLog:
    return graded_log(grading_task(read_written(path, "humorbench"), "humorbench", path.name), None, *graders)


@pytest.mark.slow
@pytest.mark.parametrize(("harness", "per"), [("lm_eval", "row"), ("inspect", "caption")])
def test_grading_a_log_of_either_harness_is_grading_inside_the_run(
    harness: str, per: Literal["row", "caption"], logged: dict[str, Path]
) -> None:
    opened = load("humorbench", dataset="sample", one_explanation_per=per)
    replies = replies_of(opened)
    rule: Callable[[str], bool | None] = lambda point: None if len(point) % 5 == 0 else thirds(point)  # noqa: E731
    inside = graded_log(humorbench("sample", one_explanation_per=per), explainer(replies), grader("g", rule))
    path = logged["humorbench"]
    if harness == "inspect":
        path = Path(graded_log(humorbench("sample", one_explanation_per=per), explainer(replies), breaks("g")).location)
    written = read_written(path, "humorbench")
    assert {str(s.id): (s.metadata or {})["logged_reply"] for s in written.samples} == replies
    asked = {record.id: opened.prompt(record).turns[0].text for record in opened.records}
    assert {str(s.id): str(s.input).strip() for s in written.samples} == asked
    log = regrade(path, grader("again", rule))
    _, expected = expected_of(opened, replies, rule)
    same(log, expected)
    report = report_of(log)
    assert list(report.metrics) == list(expected)
    assert metrics(log) == pytest.approx(metrics(inside))
    for name, estimate in expected.items():
        assert dataclasses.astuple(report.metrics[name]) == pytest.approx(dataclasses.astuple(estimate)), name
    assert log.eval.task_version == inside.eval.task_version == opened.version
    signature = str(opened.signature("generate"))
    assert str(written.signature) == (log.eval.metadata or {})["signature"] == signature
    assert written.fingerprint == opened.data.provenance["fingerprint"]
    begins = f"{signature}||graded:{len(opened.records)}|v:{opened.version}|graders:mockllm/again|"
    assert report.signed.startswith(begins)


@pytest.mark.slow
def test_the_run_is_told_from_its_neighbours(logged: dict[str, Path], tmp_path: Path) -> None:
    written = read_written(logged["humorbench"], "humorbench")
    assert written.signature == load("humorbench", dataset="sample").signature("generate")
    moved = tmp_path / "mine.jsonl"
    moved.write_bytes(logged["humorbench"].read_bytes())
    alone = read_written(moved, "humorbench")
    assert (alone.signature, alone.fingerprint) == (written.signature, None)  # each sample tells the signature
    assert alone.samples == written.samples


def test_a_refusal_flagged_by_the_provider_stays_one() -> None:
    log = graded_log(humorbench("sample", FEW), says("m", "Well", "content_filter"), grader("g", thirds))
    judge = grader("again", thirds)
    again = regrade(Path(log.location), judge)
    assert metrics(again)["refused"] == 1
    assert judge.asked == []


@pytest.fixture
def lines(logged: dict[str, Path]) -> list[str]:
    return logged["humorbench"].read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_bad_logs(logged: dict[str, Path], tmp_path: Path) -> None:
    def told(path: Path, message: str, task: str = "humorbench") -> None:
        with pytest.raises(BadInput, match=message):
            read_written(path, task)

    told(
        logged["humorbench"],
        r"task: there is no 'matching'; choose from explanation, caption_writing, humorbench",
        "matching",
    )
    told(logged["humorbench_autograder"], r"line 1 is not of humor_tasks/humorbench\.")
    exam = graded_log(humorbench_autograder("sample"), says("m", verdict(True)), limit=2)
    told(Path(exam.location), r"is not of humor_tasks/humorbench\.")
    other = graded_log(own_task(bears()), says("m", "Bears."), grader("g", thirds))
    told(Path(other.location), r"sample s is not of humor_tasks/humorbench\.")
    model = says("m", "<explanation>Bears.</explanation>")
    twice = graded_log(humorbench("sample", FEW), model, grader("g", thirds), epochs=2)
    told(Path(twice.location), r"holds several epochs; grade it in place with inspect score")
    failed = graded_log(humorbench("sample", FEW), breaks("m"), grader("g", thirds), status="error")
    told(Path(failed.location), r"ended with status error; finish it with inspect eval-retry, or --partial")
    with pytest.raises(BadInput, match="holds no replies"):
        read_written(Path(failed.location), "humorbench", partial=True)


def test_a_report_of_an_unfinished_run_is_refused() -> None:
    log = graded_log(humorbench("sample", FEW), breaks("m"), grader("g", thirds), status="error")
    with pytest.raises(BadInput, match=r"grading ended with status error: .*the grader is down.*Run the command again"):
        report_of(log)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grader", "nonsense/model"], "grader nonsense/model: "),
        (["--grader", "openai-api/nowhere/model"], "NOWHERE_API_KEY"),
        ([], "Missing option '--grader'"),
        (["--grader", "mockllm/g", "--task", "matching"], "there is no 'matching'"),
        (
            ["--grader", "mockllm/g", "--grader-prompts", "Z"],
            "grader_prompts=Z: there are prompt sets A, B, C, D, E",
        ),
        (["--grader", "mockllm/g", "--prompts", "p", "--grader-prompts", "B"], "name the same templates; give one"),
        (["--grader", "mockllm/g", "--judge-first", "no"], "judge_first: there is no 'no'"),
        (["--grader", "mockllm/g", "--prompts", "/no/where"], "prompts=/no/where: there is no such folder"),
    ],
)
def test_bad_arguments_of_grade(logged: dict[str, Path], arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["grade", str(logged["humorbench"]), *arguments])
    assert done.exit_code == 2, done.output
    assert message in done.output
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_the_command_line_grades(logged: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = load("humorbench", dataset="sample")
    with ChatServer(lambda messages: as_object(thirds(between(text_of(messages[-1]), "point")))) as server:
        monkeypatch.setenv("GRADER_API_KEY", "x")
        monkeypatch.setenv("GRADER_BASE_URL", server.url)
        command = ["grade", str(logged["humorbench"]), "--structured"]
        command += ["--grader", "openai-api/grader/a", "--seed", "7", "--log-dir", str(tmp_path / "verdicts")]
        command += ["-o", str(tmp_path / "scores.json")]
        printed = commands.humor_tasks(*command)
        assert len(server.requests) == 35
    _, expected = expected_of(opened, replies_of(opened), thirds)
    written = json.loads((tmp_path / "scores.json").read_text())
    assert list(written["metrics"]) == list(expected)
    for name, estimate in expected.items():
        assert written["metrics"][name]["value"] == pytest.approx(estimate.value), name
        assert written["metrics"][name]["stderr"] == pytest.approx(estimate.stderr), name
        # Inspect's own table may come before ours: what it shows depends on the runs before this one in the process.
        lines = [line for line in printed.splitlines() if line.startswith(f"{name} ")]
        assert any(f"{estimate.value:.5f}" in line for line in lines), name
    assert written["signature"].startswith(
        f"{opened.signature('generate')}||graded:38|v:1-A|graders:openai-api/grader/a|"
    )
    assert "|verdict:json|temperature:0.0|seed:7|" in written["signature"]
    assert written["signature"] in printed
    assert "95% interval" in printed
    (log,) = (tmp_path / "verdicts").glob("*.eval")
    assert str(log) in printed.replace("\n", "")
    assert {(r["seed"], r["temperature"], r["response_format"]["type"]) for r in server.requests} == {
        (7, 0, "json_schema")
    }
    assert (read_eval_log(str(log)).eval.metadata or {})["graded_log"] == logged["humorbench"].name


def test_a_graded_log_of_lm_eval_is_of_the_system_that_wrote_the_replies(
    logged: dict[str, Path], tmp_path: Path
) -> None:
    """Also of one that an earlier release graded, which does not know the model's arguments."""
    place = shutil.copytree(logged["humorbench"].parent, tmp_path / "logs")
    for path in place.glob("results_*.json"):
        results = json.loads(path.read_text())
        results |= {"model_source": "openai-chat-completions", "model_name": "gpt"}
        results["config"]["model_args"] = {"model": "gpt", "num_concurrent": 4, "api_key": "s3cret"}
        path.write_text(json.dumps(results))
    samples = place / logged["humorbench"].name
    graded = regrade(samples, grader("g", thirds))
    for known in (True, False):
        if not known:
            (graded.eval.metadata or {}).pop("explainer_arguments")
            write_eval_log(graded, graded.location)
        found = read_results([samples, Path(graded.location)]).results
        assert {(result.scorer, result.system) for result in found} == {("lm_eval", "gpt"), ("element_coverage", "gpt")}
        assert "s3cret" not in read_eval_log(graded.location, header_only=True).model_dump_json()


@pytest.mark.slow
def test_captions_that_lm_eval_logged_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their judges answer the questions of another benchmark, which no rubric asks."""
    written = "\n".join(f"{i}. Word {i} of a caption." for i in range(1, 11))
    contest = "9013"
    replies = {record.id: written for record in load("caption_writing", dataset="sample", contests=contest).records}
    (samples,) = lm_eval_logs(tmp_path, replies, "caption_writing", contests=contest).values()
    command = ("grade", samples, "--task", "caption_writing", "--grader", "openai-api/grader/g")
    for flag in ("--structured", "--prompts=/no/where"):
        name = flag.split("=")[0]
        assert f"{name}: the judges of caption_writing answer the questions" in commands.refused(*command, flag)
    with ChatServer("Answer: A") as server:
        monkeypatch.setenv("GRADER_API_KEY", "x")
        monkeypatch.setenv("GRADER_BASE_URL", server.url)
        said = commands.humor_tasks(*command, "--log-dir", tmp_path, "-o", tmp_path / "scores.json")
    assert "|graders:openai-api/grader/g|temperature:0.0|seed:1234|prompts:" in said
    found = json.loads((tmp_path / "scores.json").read_text())["metrics"]
    # The first captions win in either order.
    assert {found[f"win_rate_{group}"]["value"] for group in ("top10", "rank200", "rank1000", "median")} == {0.5}
    assert found["recited_exact"]["value"] == 0
