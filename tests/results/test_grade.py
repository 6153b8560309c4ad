"""`humor-tasks grade` of every judged benchmark, from the logs of either harness, which are all that it reads."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval, score
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ContentImage
from standins.judging import fickle, judging, longer, says
from standins.logs import metrics
from standins.ranked import ranked, shown_groups

from humor_tasks import load, tasks
from humor_tasks.datasets_cards import folder as sample_folder
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import against_people, reference_preference
from humor_tasks.results import read_results
from humor_tasks.results.grade import grading_task, read_written, report_of
from humor_tasks.results.reproduce.rescore import rescore
from humor_tasks.rows.contests.source import Contests
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval, scripted_judge

CONTESTS = (536, 537)
WRITTEN = "\n".join(f"{i}. Word {i} of a model with{'out' * i} end." for i in range(1, 11))
LATE: dict[str, Any] = {"display": "none", "score": False}


def graded_afterwards(path: Path, task: str, judge: ScriptedModel) -> EvalLog:
    (log,) = eval(
        grading_task(read_written(path, task), task, path.name, cache=False),
        model="none/none",
        model_roles={"grader": judge.model},
        display="log",
    )
    assert log.status == "success", log.error
    return log


def logged_by_inspect(task: str, reply: str, folder: Path, **given: Any) -> Path:
    judge = {"grader": says("unused", "").model}
    made = getattr(tasks, task)(**given)
    (log,) = eval(made, model=says("m", reply).model, model_roles=judge, log_dir=str(folder), **LATE)
    assert log.status == "success", log.error
    return Path(log.location)


def logged_by_lm_eval(stub: str, reply: str, folder: Path, **given: Any) -> Path:
    run_lm_eval(ScriptedLM(reply), stub, metadata=given, output=folder)
    return next(folder.rglob(f"samples_{stub}_2*.jsonl"))


def longer_group() -> ScriptedModel:
    def answer(messages: Any) -> str:
        groups = shown_groups(messages[-1].text)
        return f"Answer: {max(groups, key=lambda letter: sum(map(len, groups[letter])))}"

    return ScriptedModel("judge", answer)


@pytest.fixture
def opens(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The contests that are read from a dataset."""
    found: list[int] = []
    whole = Contests.contest

    def contest(self: Contests, number: int) -> Any:
        found.append(number)
        return whole(self, number)

    monkeypatch.setattr(Contests, "contest", contest)
    return found


@pytest.mark.parametrize("log_of", [logged_by_inspect, logged_by_lm_eval])
def test_captions_are_judged_from_the_log_alone(log_of: Callable[..., Path], tmp_path: Path, opens: list[int]) -> None:
    folder = ranked(tmp_path / "data", CONTESTS)
    inside = tasks.caption_writing(dataset=folder)
    roles = {"grader": longer_group().model}
    (expected,) = eval(inside, model=says("m", WRITTEN).model, model_roles=roles, display="log")
    path = log_of("caption_writing", WRITTEN, tmp_path / "logs", dataset=folder)
    opens.clear()
    judge = longer_group()
    log = graded_afterwards(path, "caption_writing", judge)
    assert not opens
    assert len(judge.asked) == 20
    own = metrics(expected)
    recited = {name for name in own if name.startswith("recited")}
    assert recited
    if log_of is logged_by_inspect:  # nothing scored the replies, and only a run with its data knows what they repeat
        own = {name: value for name, value in own.items() if name not in recited}
    assert metrics(log) == pytest.approx(own, nan_ok=True)
    report = report_of(log)
    assert report.metrics["win_rate_top10"].value == own["win_rate_top10"]


def test_inspect_score_judges_captions_without_the_dataset(tmp_path: Path, opens: list[int]) -> None:
    folder = ranked(tmp_path / "data", CONTESTS)
    roles = {"grader": longer_group().model}
    task = tasks.caption_writing(dataset=folder)
    (log,) = eval(task, model=says("m", WRITTEN).model, model_roles=roles, display="log")
    opens.clear()
    again = score(
        read_eval_log(log.location), against_people(cache=False), action="overwrite", display="log", model_roles=roles
    )
    assert not opens
    assert metrics(again) == pytest.approx(metrics(log), nan_ok=True)
    (found,), left_out = rescore([Path(log.location)])
    assert not left_out
    assert not opens
    assert not any(item.changed for item in found.items)
    assert "recited_exact" in found.estimates


@pytest.mark.parametrize(
    ("log_of", "task", "name", "given"),
    [
        (logged_by_lm_eval, "explanation", "nyc_explanation_gen", {}),
        (logged_by_inspect, "mock_explaining", "mock_explaining", {"input": "description", "scene": "stills"}),
    ],
)
def test_explanations_meet_their_reference(
    log_of: Callable[..., Path], task: str, name: str, given: dict[str, Any], tmp_path: Path
) -> None:
    given = {"dataset": "sample"} | given
    reply = "Because the bear is a pun, and a pun is a bear that nobody expected in an office."
    made = getattr(tasks, task)(**given)
    made.scorer = [reference_preference(cache=False)]
    judges = [judging(judge, fickle) for judge in ("inside", "after")]
    (expected,) = eval(
        made, model=says("m", reply).model, model_roles={"grader": judges[0].model}, display="log", epochs=1
    )
    log = graded_afterwards(log_of(name, reply, tmp_path, **given), task, judges[1])
    records = load(task, **given).records
    assert len(judges[1].asked) == 2 * len(records)
    assert set(report_of(log).metrics) == {each for each in metrics(log) if f"{each}_stderr" in metrics(log)}
    assert metrics(log)["preferred"] == metrics(expected)["preferred"]
    (result,) = [each for each in read_results([Path(log.location)]).results if each.scorer == "reference_preference"]
    assert result.benchmark.name == "explanation_preference"


def test_judges_see_the_question_without_the_worked_examples_of_lm_eval(tmp_path: Path) -> None:
    args = {"dataset": "sample"}
    run_lm_eval(ScriptedLM("A bear."), "nyc_explanation_gen", metadata=args, output=tmp_path, num_fewshot=2)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    asked = [sample.input[-1].text for sample in tasks.explanation(**args, shots=2).dataset]
    assert [sample.input for sample in read_written(path, "explanation").samples] == asked
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    del lines[1]["doc"]["question"]  # as older releases wrote them
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(BadInput, match="line 2: has worked examples in its prompt and no field 'question'"):
        read_written(path, "explanation")


def test_stories_are_rated_with_the_pictures_in_the_log(tmp_path: Path) -> None:
    story = "A bear walks into an office and asks for its bonus in honey."
    path = logged_by_inspect("mock_generation", story, tmp_path, dataset="sample")
    judge = scripted_judge("j", lambda shown: 4)
    log = graded_afterwards(path, "mock_generation", judge)
    assert (metrics(log)["sms"], metrics(log)["hss"]) == (4, 4)
    assert judge.messages
    for messages in judge.messages:
        content = messages[-1].content
        assert [part if isinstance(part, str) else part.type for part in content] == ["image", "text"]


def test_stories_of_lm_eval_are_rated_as_in_inspect(tmp_path: Path) -> None:
    story, given = "A bear walks into an office.", {"dataset": "sample", "input": "description"}
    inside, after = (scripted_judge(name, lambda shown: 1 + len(shown["material"]) % 5) for name in ("in", "after"))
    made = tasks.mock_generation(**given, cache=False)
    (expected,) = eval(made, model=says("m", story).model, model_roles={"grader": inside.model}, display="log")
    path = logged_by_lm_eval("mock_generation", story, tmp_path, dataset="sample")
    log = graded_afterwards(path, "mock_generation", after)
    assert sorted(map(str, after.asked)) == sorted(map(str, inside.asked))
    assert len(after.asked) == 12
    assert metrics(log) == metrics(expected)


def shown(path: Path, task: str) -> dict[str, list[bytes]]:
    """The pictures that judges see, by sample."""
    found = {}
    for sample in read_written(path, task).samples:
        assert not isinstance(sample.input, str)
        images = [part.image for part in sample.input[-1].content if isinstance(part, ContentImage)]
        found[str(sample.id)] = [base64.b64decode(image.partition(",")[2]) for image in images]
    return found


@pytest.mark.parametrize(
    ("stub", "task", "given"),
    [
        ("nyc_explanation_pixels", "explanation", {"setting": "pixels"}),
        ("mock_generation_pixels", "mock_generation", {"input": "media"}),
        ("mock_generation_frames", "mock_generation", {"input": "frames", "scene": "comedy"}),
    ],
)
def test_pictures_that_lm_eval_does_not_log_are_those_of_the_rows(
    stub: str, task: str, given: dict[str, Any], tmp_path: Path
) -> None:
    path = logged_by_lm_eval(stub, "A bear.", tmp_path, dataset="sample")
    records = load(task, dataset="sample", **given).records
    expected = {r.id: [p.read() for p in (r.clip.pictures() if r.clip else [r.picture]) if p] for r in records}
    assert {len(pictures) for pictures in expected.values()} == ({8} if "frames" in stub else {1})
    assert shown(path, task) == expected


def of_a_copy(folder: Path) -> Path:
    """Stories of lm-eval, of a copy of the sample in `folder`."""
    shutil.copytree(sample_folder("mock"), folder / "mock")
    return logged_by_lm_eval("mock_generation_pixels", "A bear.", folder, dataset=str(folder / "mock"))


def test_pictures_of_rows_that_have_changed_or_are_gone_are_not_shown(tmp_path: Path) -> None:
    path = of_a_copy(tmp_path)
    assert len(shown(path, "mock_generation")) == 6
    rows = tmp_path / "mock" / "cartoon_matching" / "test.jsonl"
    kept = rows.read_text()
    rows.write_text(kept.replace("Nothing fitted", "Nothing"))
    with pytest.raises(BadInput, match=r"which the judges must see.*they have another fingerprint. Grade a run"):
        read_written(path, "mock_generation")
    rows.write_text(kept.replace("cartoon_06.png", "cartoon_01.png"))
    with pytest.raises(BadInput, match=r"cartoon_06.png, row 0 .* which the judges must see. Grade a run"):
        read_written(path, "mock_generation")
    shutil.rmtree(tmp_path / "mock")
    with pytest.raises(BadInput, match=r"the log does not hold what its question shows.*is no folder on this machine"):
        read_written(path, "mock_generation")


def test_a_log_that_names_no_dataset_is_refused(tmp_path: Path) -> None:
    path = logged_by_lm_eval("mock_generation_pixels", "A bear.", tmp_path, dataset="sample")
    (results,) = path.parent.glob("results_*.json")
    results.unlink()
    with pytest.raises(BadInput, match=r"the judges must see.*its dataset .which it does not name. is no folder"):
        read_written(path, "mock_generation")


def test_pairs_are_judged_by_their_task_alone(tmp_path: Path) -> None:
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps({record.id: "A bear." for record in load("explanation", dataset="sample").records}))
    judge = judging("j", longer)
    task = tasks.explanation_preference(str(texts), dataset="sample")
    (log,) = eval(task, model_roles={"grader": judge.model}, display="log", log_dir=str(tmp_path))
    with pytest.raises(BadInput, match="there is no 'explanation_preference'; choose from explanation, "):
        read_written(Path(log.location), "explanation_preference")
