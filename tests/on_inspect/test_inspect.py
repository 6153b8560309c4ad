"""The Inspect side: every task and setting end to end with a scripted model, rescoring, logs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Epochs, Task, eval, score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, edit_score, headline_metric, recompute_metrics
from inspect_ai.model import ContentImage, ModelOutput, get_model
from inspect_ai.scorer import Score, ScoreEdit
from rich.text import Text
from standins import commands
from standins.bad_rows import dataset_folder, row
from standins.logs import metrics

from humor_tasks import load
from humor_tasks.benchmarks import BENCHMARKS, by_points, find_benchmark
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import build, multiple_choice, reference_overlap
from humor_tasks.on_inspect.errors import CannotRun, one_line
from humor_tasks.results.submission import read_answers
from humor_tasks.tasks import explanation, humicroedit_rating, matching, ranking
from humor_tasks.testing import ScriptedModel


def scripted(*replies: str | ModelOutput) -> Any:
    """A model that gives these replies over and over."""
    over = itertools.cycle(replies)
    return ScriptedModel("model", lambda messages: next(over)).model


def evaluated(task: Task, model: Any, **more: Any) -> EvalLog:
    log = eval(task, model=model, display="log", **more)[0]
    assert log.status == "success", log.error
    return log


@pytest.mark.inspect_ai_versions
def test_pictures_reach_the_model_and_their_hashes_the_log() -> None:
    task = matching(dataset="sample", setting="pixels", shots=2)
    assert all(isinstance(message.content, str) for sample in task.dataset for message in sample.input)
    model = ScriptedModel("model", "Answer: A")
    log = evaluated(task, model.model, log_images=False)
    for messages in model.messages:
        contents = [message.content for message in messages if not isinstance(message.content, str)]
        images = [part.image for content in contents for part in content if isinstance(part, ContentImage)]
        assert [image.startswith("data:image/png;base64,") for image in images] == [True] * 3
    pictures = {r.id: r.picture for r in load("matching", dataset="sample", setting="pixels").records}
    for sample in log.samples or []:
        shown = sample.metadata["pictures"]
        assert shown[-1] == {"where": pictures[sample.id].where, "sha256": pictures[sample.id].sha256()}
        assert len(shown) == 3


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_a_picture_that_breaks_during_a_run_fails_its_sample(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "d"
    rows = [row(image="good.png"), row(image="bad.png", instance_id="m2")]
    dataset_folder(folder, rows, "matching_from_pixels")
    for name in ("good.png", "bad.png"):
        Image.effect_noise((80, 80), 90).save(folder / name)
    task = matching(dataset=str(folder), setting="pixels")
    (folder / "bad.png").write_bytes((folder / "good.png").read_bytes()[:2000])
    log = eval(task, model=scripted("Answer: B"), display="log")[0]
    assert log.status == "error"
    assert "bad.png" in str(log.error)
    log = eval(task, model=scripted("Answer: B"), display="log", fail_on_error=False)[0]
    assert metrics(log)["accuracy"] == 1
    with pytest.raises(PrerequisiteError, match=r"1 of 2 rows .* bad\.png"):
        matching(dataset=str(folder), setting="pixels")


@pytest.mark.inspect_ai_versions
def test_a_baseline_reads_lettered_lines_of_other_peoples_tasks() -> None:
    task = Task(
        dataset=[
            Sample(input="A bear.\n\nA) fish\nB) a bear\nC) honey", target="B", choices=["fish", "a bear", "honey"])
        ],
        scorer=multiple_choice(),
    )
    log = evaluated(task, "baseline/overlap")
    assert metrics(log)["accuracy"] == 1


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_unparsed_refused_and_empty_replies() -> None:
    refusal = ModelOutput.from_content("mockllm/model", "", stop_reason="content_filter")
    log = evaluated(
        matching(dataset="sample"), scripted("no idea", refusal, "", "I cannot help with that."), max_connections=1
    )
    found = metrics(log)
    assert found["accuracy"] == 0
    assert (found["unparsed"], found["refused"]) == (0.5, 0.5)
    reasons = {s.scores["multiple_choice"].reason for s in log.samples or [] if s.scores}
    assert reasons == {"invalid_response_format", "refusal", "no_response"}
    left_out = metrics(evaluated(matching(dataset="sample", on_unparsed="exclude"), scripted("no idea")))
    assert "accuracy" not in left_out
    assert left_out["unparsed"] == 1


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(
    ("task", "reply"), [(matching, "Answer: A"), (humicroedit_rating, "1.4"), (explanation, "Explanation: It rhymes.")]
)
def test_a_log_names_its_question_and_its_main_metric(
    task: Callable[..., Task], reply: str, caplog: pytest.LogCaptureFixture
) -> None:
    log = evaluated(task(dataset="sample"), scripted(reply), limit=2)
    benchmark = find_benchmark(task.__name__)
    assert log.eval.task_description == benchmark.card.question != ""
    found = headline_metric(log)
    assert found is not None
    assert found.name == benchmark.metrics[0].name
    assert "Headline" not in caplog.text


@pytest.mark.inspect_ai_versions
def test_an_answer_without_a_target_has_a_reason() -> None:
    task = Task(dataset=[Sample(input="A or B?", choices=["a", "b"])], scorer=multiple_choice())
    (sample,) = evaluated(task, scripted("Answer: A")).samples or []
    score = (sample.scores or {})["multiple_choice"]
    assert (score.value, score.answer, score.reason) == ("N", "A", "no_target")


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize("reducer", [None, "mean", "pass_at_2"])
def test_epochs_count_every_reply_and_another_reducer_than_the_mean_is_told(
    reducer: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    epochs = Epochs(2, reducer)
    log = evaluated(matching(dataset="sample"), scripted("Answer: A", "hm"), epochs=epochs, max_connections=1)
    assert metrics(log)["unparsed"] == pytest.approx(0.5)
    told = [record.getMessage() for record in caplog.records if record.name.startswith("humor_tasks")]
    warned = "matching: the epochs reducer pass_at_2 does not change these metrics: they count every reply"
    assert [warned in each for each in told] == [True] * (reducer == "pass_at_2")


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_a_log_can_be_rescored_by_another_rule() -> None:
    log = evaluated(matching(dataset="sample"), scripted("Answer: Actually, none."))
    assert metrics(log)["unparsed"] == 1
    again = score(log, multiple_choice(extraction="released_chat"), action="overwrite", display="log")
    assert metrics(again)["unparsed"] == 0
    texts = evaluated(explanation(dataset="sample"), scripted("Explanation: because"))
    assert metrics(score(texts, reference_overlap(), action="overwrite", display="log")) == metrics(texts)


@pytest.fixture
def leaderboard(tmp_path: Path) -> Path:
    from PIL import Image

    folder = tmp_path / "board"
    folder.mkdir()
    instances = []
    for i in range(3):
        Image.new("L", (30, 30), i * 90).save(folder / f"{i}.png")
        choices = {letter: f"caption {letter}{i}" for letter in "ABCDE"}
        instances.append({"instance_id": f"i{i}", "image": f"{i}.png", "choices": choices})
    (folder / "instances.json").write_text(json.dumps(instances))
    return folder


@pytest.mark.inspect_ai_versions
def test_leaderboard_to_submission(leaderboard: Path, tmp_path: Path) -> None:
    log = evaluated(
        matching(dataset=str(leaderboard), setting="pixels"), scripted("Answer: D", "hm"), max_connections=1
    )
    found = metrics(log)
    assert "accuracy" not in found
    assert found["unparsed"] == pytest.approx(1 / 3)
    read = read_answers(Path(log.location))
    answers = read.answers
    assert (sorted(answers), read.letters) == (["i0", "i1", "i2"], "ABCDE")
    command = ["export", "submission", log.location, "-o", tmp_path / "p.json"]
    assert "without an answer" in commands.refused(*command)
    assert not (tmp_path / "p.json").exists()
    commands.humor_tasks(*command, "--fill", "E")
    written = json.loads((tmp_path / "p.json").read_text())
    assert written == {identity: letter or "E" for identity, letter in answers.items()}


def test_a_limited_run_makes_no_submission(leaderboard: Path) -> None:
    log = evaluated(matching(dataset=str(leaderboard), setting="pixels"), scripted("Answer: D"), limit=2)
    with pytest.raises(BadInput, match="holds 2 of 3 instances"):
        read_answers(Path(log.location))
    log = evaluated(matching(dataset=str(leaderboard), setting="pixels"), scripted("Answer: D"), epochs=2)
    with pytest.raises(BadInput, match="holds several epochs"):
        read_answers(Path(log.location))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"setting": "description"}, "use setting=pixels"),
        ({"setting": "pixels", "shots": 2}, "no train split"),
        ({"setting": "pixels", "fold": 3}, "leave out fold, split and revision"),
    ],
)
def test_leaderboard_misuse(leaderboard: Path, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(PrerequisiteError, match=message):
        matching(dataset=str(leaderboard), **parameters)


def test_two_letters_in_a_five_letter_task(leaderboard: Path) -> None:
    with pytest.raises(PrerequisiteError, match="caption_choices has 5 captions; this benchmark needs 2"):
        ranking(dataset=str(leaderboard), setting="pixels")


def test_a_scorer_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    judging = replace(by_points(), scorer="coverage")
    monkeypatch.setitem(BENCHMARKS, "quips", replace(BENCHMARKS["humorbench"], name="quips", judging=judging))
    with pytest.raises(CannotRun, match=r"^quips: its scorer 'coverage' is none of humor_tasks\.on_inspect"):
        build("quips", {"dataset": "sample"})


@pytest.mark.inspect_ai_versions
def test_bad_input_is_told_without_a_traceback() -> None:
    with pytest.raises(PrerequisiteError, match="Did you mean 'pixels'"):
        matching(dataset="sample", setting="pixel")
    with pytest.raises(PrerequisiteError, match="Did you mean 'overlap'"):
        get_model("baseline/overlaps")
    with pytest.raises(PrerequisiteError, match=r"there is no 'sed'.*Did you mean 'seed'"):
        get_model("baseline/random", sed=3)


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(
    "said", ["pip install 'humor-tasks[video]'", "/no/[/where]", "[bold]", r"a \[b] c\\", "[/]", "x"]
)
def test_brackets_in_a_message_are_no_markup(said: str) -> None:
    problem = CannotRun(f"say {said}")
    assert Text.from_markup(str(problem.message)).plain == str(problem) == one_line(problem) == f"say {said}"
    assert one_line(PrerequisiteError("[bold]say[/bold] it,\nthen  again")) == "say it, then again"
    assert one_line(PrerequisiteError("no [/colour]")) == "no [/colour]"
    assert one_line(ValueError("not [bold]")) == "not [bold]"


@pytest.mark.inspect_ai_versions
def test_an_edited_score_counts_as_edited() -> None:
    log = evaluated(matching(dataset="sample"), scripted("Answer: A"))
    for sample in log.samples or []:
        edit_score(log, sample.id, "multiple_choice", ScoreEdit(value="C"), recompute_metrics=False)
    recompute_metrics(log)
    assert metrics(log)["accuracy"] == 1


def test_scores_show_letter_and_status() -> None:
    log = evaluated(matching(dataset="sample"), scripted("**Answer:** C"))
    for sample in log.samples or []:
        found: Score = (sample.scores or {})["multiple_choice"]
        assert found.answer == "C"
        assert found.value == ("C" if sample.target == "C" else "I")
