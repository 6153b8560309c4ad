"""MOCK in both harnesses: the same figures, what models receive, what is refused, judges and raters of explanations."""

from __future__ import annotations

import base64
import io
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import Content, ContentImage, ContentVideo, ModelOutput, get_model
from inspect_ai.model._providers import providers
from lm_eval.api.model import LM
from PIL import Image
from standins.judging import always, judged_log, judging, longer, write_texts
from standins.mock_clips import CLIPS, middles, read_number
from standins.mock_rows import mock_folder
from standins.mock_rows import row as mock_row

from humor_tasks import _registry, load
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import checks as taking
from humor_tasks.on_inspect import reference_preference
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.rendering import PLACEHOLDER
from humor_tasks.on_lm_eval.task import BenchmarkTask
from humor_tasks.tasks import explanation_preference, mock_detecting, mock_explaining, mock_matching
from humor_tasks.testing import ChatServer, ScriptedModel, run_lm_eval


def metrics(log: EvalLog) -> dict[str, float]:
    assert log.status == "success", log.error
    assert log.results
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}


def in_lm_eval(task: str, model: LM, **metadata: Any) -> dict[str, Any]:
    results: dict[str, Any] = run_lm_eval(model, task, metadata={"dataset": "sample"} | metadata)["results"][task]
    return results


def parts(seen: ScriptedModel) -> dict[str, list[Content]]:
    """Sample id -> what the last message that a model received shows beside text."""
    shown = {}
    for messages in seen.messages:
        content = messages[-1].content
        identity = str((messages[-1].metadata or {})["id"])
        shown[identity] = [] if isinstance(content, str) else [p for p in content if p.type != "text"]
    return shown


def image(part: Content) -> Image.Image:
    assert isinstance(part, ContentImage)
    return Image.open(io.BytesIO(base64.b64decode(part.image.split(",", 1)[1])))


# ---- what a model receives ----------------------------------------------------------------------


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_a_model_receives_a_whole_clip_or_a_picture() -> None:
    seen = ScriptedModel("m", lambda messages: "Answer: yes")
    log = eval(mock_detecting(dataset="sample"), model=seen.model, display="log")[0]
    assert log.samples
    for sample in log.samples:
        (part,) = parts(seen)[str(sample.id)]
        scene = sample.metadata["humor_tasks"]["groups"]["scene"]
        assert isinstance(part, ContentVideo if scene == "comedy" else ContentImage)
        (about,) = sample.metadata["pictures"]
        assert len(about["sha256"]) == 64
        assert about["where"].startswith("clips/" if scene == "comedy" else "images/")


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
@pytest.mark.parametrize(("frames", "sampling"), [(3, "even"), (3, "scene")])
def test_a_model_receives_as_many_frames_as_asked_and_the_right_ones(frames: int, sampling: str) -> None:
    seen = ScriptedModel("m", lambda messages: "Answer: A")
    task = mock_matching(dataset="sample", scene="comedy", input="frames", frames=frames, sampling=sampling)
    log = eval(task, model=seen.model, display="log")[0]
    assert log.samples
    for sample in log.samples:
        clip = str(sample.metadata["pictures"][0]["where"]).split("/")[1].split(",")[0]
        numbers = [read_number(image(part)) for part in parts(seen)[str(sample.id)]]
        assert len(numbers) == frames
        assert numbers == (middles(clip, frames) if sampling == "even" else sorted(numbers))
        assert f"The {frames} pictures in this message are frames of the scene" in sample.messages[-2].text
        hidden = next(turn for turn in CLIPS[clip]["turns"] if turn["text"] is None)
        assert f"{hidden['speaker']}: (hidden)" in sample.messages[-2].text


# ---- what is refused ----------------------------------------------------------------------------


REFUSED = [
    ("NO_MEDIA", "media", "accepts only text. Use input=description"),
    ("NO_MEDIA", "frames", "accepts only text"),
    ("NO_VIDEO", "media", "does not accept video. Use input=frames, which shows pictures, or input=description"),
]


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(("which", "how", "said"), REFUSED)
def test_a_provider_that_takes_no_such_media_is_told_before_it_is_asked(
    monkeypatch: pytest.MonkeyPatch, which: str, how: str, said: str
) -> None:
    monkeypatch.setattr(taking, which, {"mockllm"})
    seen = ScriptedModel("m", lambda messages: "Answer: yes")
    with pytest.raises(PrerequisiteError, match=said):
        eval("humor_tasks/mock_detecting", task_args={"dataset": "sample", "input": how}, model=seen.model)
    log = eval(
        mock_detecting(dataset="sample", input=how),
        model=seen.model,
        display="log",
        sample_id="comedy_06_detecting_funny",
    )[0]
    assert log.error
    assert said in log.error.message
    assert not seen.messages


@pytest.mark.inspect_ai_versions
def test_the_providers_named_are_those_of_inspect() -> None:
    for name in taking.NO_VIDEO:
        known = hasattr(providers, name.replace("-", "_")) or hasattr(_registry, name)
        assert known, f"neither Inspect nor this package has a provider {name}"


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(
    ("model", "how", "takes"),
    [
        ("openai/gpt-4o", {}, False),
        ("openai/gpt-4o", {"responses_api": True}, True),
        ("openai/gpt-5", {}, True),
        ("openai-api/own/m", {}, False),
        ("openai-api/own/m", {"responses_api": True}, True),
        ("ollama/llava", {}, False),
        ("openrouter/any/m", {}, False),
        ("vllm/m", {}, False),  # whose server has not been started
    ],
)
def test_video_is_not_for_chat_completions(
    monkeypatch: pytest.MonkeyPatch, model: str, how: dict[str, Any], takes: bool
) -> None:
    for service in ("OPENAI", "OWN", "OLLAMA", "OPENROUTER", "VLLM"):
        monkeypatch.setenv(f"{service}_API_KEY", "x")
        monkeypatch.setenv(f"{service}_BASE_URL", "http://127.0.0.1:9/v1")
    clip = load("mock_detecting", dataset="sample", scene="comedy").records[0].clip
    with nullcontext() if takes else pytest.raises(PrerequisiteError, match="does not accept video"):
        taking.check_takes(get_model(model, **how), [clip])


@pytest.mark.parametrize(("scene", "shown"), [("comedy", "media"), ("all", "frames")])
def test_nothing_is_asked_where_clips_cannot_be_read(monkeypatch: pytest.MonkeyPatch, scene: str, shown: str) -> None:
    monkeypatch.setitem(sys.modules, "av", None)  # as without the extra
    with pytest.raises(PrerequisiteError, match=r"pip install 'humor-tasks\[video\]'.*input=description"):
        mock_detecting(dataset="sample", scene=scene, input=shown)
    assert mock_detecting(dataset="sample", scene=scene, input="description").dataset
    assert mock_detecting(dataset="sample", scene="stills", input=shown).dataset


@pytest.mark.parametrize(("name", "scene"), [("mock_matching_pixels", "comedy"), ("mock_explaining_pixels_gen", "all")])
def test_clips_are_for_inspect_alone(name: str, scene: str) -> None:
    with pytest.raises(BadInput) as problem:
        in_lm_eval(name, BaselineLM("first"), scene=scene)
    for said in (f"{name}: comedy has clips", "no model with video input", "inspect eval humor_tasks/mock_", "post or"):
        assert said in str(problem.value)


def chained(**given: Any) -> BenchmarkTask:
    config = {"task": "t", "benchmark": "mock_detecting", "output_type": "generate_until"}
    return BenchmarkTask(config | {"metadata": {"scene": "post", "chain_of_task": True, "dataset": "sample"} | given})


@pytest.mark.lm_eval_versions
def test_a_server_that_would_be_sent_another_items_picture_alone_is_not_asked() -> None:
    """lm-eval's API models send the first `max_images` pictures of a prompt, one unless told otherwise."""
    to = {"base_url": "http://127.0.0.1:9/v1"}
    task, told = chained(), chained(input="description")
    one, two = "have 3 pictures, but lm-eval sends only the first 1", "only the first 2,"
    for model, said in ((to, one), (to | {"max_images": 2}, two)):
        task.config.metadata |= model  # lm-eval merges the model's arguments into it
        with pytest.raises(BadInput, match=f"{said}.*max_images=3"):
            task.construct_requests(task.test_docs()[0], "")
    told.config.metadata |= to
    for enough, model in ((task, {"max_images": 3}), (told, {}), (chained(), {})):
        enough.config.metadata |= model
        (request,) = enough.construct_requests(enough.test_docs()[0], "")
        assert len(request.arguments) == (2 if enough is told else 3)


def test_a_text_adds_no_place_for_a_picture(tmp_path: Path) -> None:
    for task in ("detecting", "matching", "explaining"):
        said = {"explanation": "An <image> of fire."} if task == "explaining" else {}
        for medium in ("train", "test"):
            line = f"{medium} <image>"
            said |= {"options": ["One.", "Two.", line, "Four <image>."]} if task == "matching" else {}
            about = {"id": f"{task}_{medium}", "media_id": medium, "media": f"{medium}.png", "caption": line}
            Image.new("RGB", (4, 4)).save(tmp_path / f"{medium}.png")
            mock_folder(tmp_path, "post", task, [mock_row("post", task, **about, **said)], medium)
    task = chained(dataset=str(tmp_path))
    (doc,) = task.test_docs()
    context = task.fewshot_context(doc, 0, apply_chat_template=True, chat_template=lambda turns, **_: str(turns))
    assert context.count("<image>") == len(task.doc_to_image(doc)) == 3
    assert context.count("< image >") == 5


def test_lm_eval_does_not_repeat() -> None:
    with pytest.raises(BadInput, match="--metadata replicates: lm-eval does not repeat items"):
        in_lm_eval("mock_matching", BaselineLM("first"), replicates=5)


# ---- judges and raters of explanations ----------------------------------------------------------


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(("how", "kind"), [("media", ContentVideo), ("frames", ContentImage), ("description", None)])
def test_judges_compare_a_reply_with_the_reference(how: str, kind: type[Content] | None) -> None:
    """EXPAcc is `preferred` of `reference_preference`; judges see what the model saw."""
    task = mock_explaining(dataset="sample", scene="comedy", input=how, frames=2)
    task.scorer = [reference_preference()]
    judge = judging("judge", longer)
    writer = ScriptedModel("w", lambda messages: ModelOutput.from_content("w", f"Explanation: {'long ' * 200}"))
    log = judged_log(task, judge, model=writer.model)
    assert metrics(log)["preferred"] == 1.0
    assert metrics(log)["win_rate"] == 1.0
    assert len(judge.messages) == 2 * 3
    for messages in judge.messages:
        content = messages[-1].content
        shown = [] if isinstance(content, str) else [part for part in content if part.type != "text"]
        assert [type(part) for part in shown] == ([] if kind is None else [kind] * (2 if how == "frames" else 1))


def test_sides_of_mock_are_judged_in_lm_eval_but_for_clips(tmp_path: Path) -> None:
    records = load("mock_explaining", dataset="sample", scene="post", input="description").records
    system = write_texts(tmp_path / "system.json", {record.id: "Because." for record in records})
    given = {"system": system, "of": "mock_explaining"}
    of_clips = load("mock_explaining", dataset="sample", scene="comedy", input="description").records
    clips = given | {"system": write_texts(tmp_path / "clips.json", {record.id: "Because." for record in of_clips})}

    class Judge(BaselineLM):
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return ["<judgement>A</judgement>"] * len(requests)

    assert in_lm_eval("explanation_preference", Judge("first"), scene="post", **given)["win_rate,none"] == 0.5
    with pytest.raises(BadInput, match="comedy has clips"):
        in_lm_eval("explanation_preference", Judge("first"), scene="comedy", setting="pixels", **clips)
    with pytest.raises(BadInput, match="scene=post applies only to of=mock_explaining"):
        load("explanation_preference", dataset="sample", system=system, scene="post")
    with pytest.raises(BadInput, match="MOCK's corpus is not public"):
        load("explanation_preference", **given)
    with pytest.raises(BadInput, match="setting: there is no 'caption_only'"):
        load("explanation_preference", dataset="sample", setting="caption_only", **given)


@pytest.mark.slow
def test_a_judge_that_takes_no_video_is_told_and_the_model_under_test_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = load("mock_explaining", dataset="sample", scene="comedy").records
    system = write_texts(tmp_path / "system.json", {record.id: "Because." for record in records})
    judge = judging("judge", always("A"))

    def compare(setting: str, status: str) -> EvalLog:
        given = {"dataset": "sample", "of": "mock_explaining", "scene": "comedy", "setting": setting}
        return judged_log(explanation_preference(system, **given), judge, status=status, model="none/none")

    monkeypatch.setattr(taking, "NO_MEDIA", {"none"})
    assert metrics(compare("frames", "success"))["unread"] == 0
    monkeypatch.setattr(taking, "NO_VIDEO", {"mockllm"})
    log = compare("pixels", "error")
    assert log.error
    assert "mockllm/judge: the provider 'mockllm' does not accept video" in log.error.message


@pytest.mark.lm_eval_versions
def test_frames_are_pictures_in_lm_eval() -> None:
    """Placeholders and pictures as many as frames, for every worked sample too; the texts are those of Inspect."""
    config = {"task": "t", "benchmark": "mock_matching", "input": "frames", "output_type": "generate_until"}
    given: dict[str, Any] = {"dataset": "sample", "scene": "comedy", "frames": 3, "chain_of_task": True}
    built = BenchmarkTask(config | {"metadata": given})
    how: dict[str, Any] = {"apply_chat_template": True, "fewshot_as_multiturn": True}
    for sample, doc in zip(mock_matching(**given, input="frames").dataset, built.test_docs(), strict=True):
        context = built.fewshot_context(doc, 0, chat_template=lambda turns, **_: turns, **how)
        assert sum(turn["content"].count(PLACEHOLDER) for turn in context) == len(built.doc_to_image(doc)) == 9
        assert [m.text for m in sample.input] == [turn["content"].replace(f"{PLACEHOLDER}\n", "") for turn in context]
    with pytest.raises(BadInput, match="lm-eval has no model with video input"):
        BenchmarkTask(config | {"input": "media", "metadata": {"dataset": "sample", "scene": "comedy"}})


@pytest.mark.slow
@pytest.mark.inspect_ai_versions
def test_frames_are_what_a_server_of_chat_completions_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/image_text.md sends video models that need code of their own."""
    with ChatServer("Answer: A") as server:
        monkeypatch.setenv("SERVED_BASE_URL", server.url)
        monkeypatch.setenv("SERVED_API_KEY", "none")
        task = mock_matching(dataset="sample", scene="comedy", input="frames", frames=5)
        (log,) = eval(task, model="openai-api/served/VideoChat2", limit=1, display="log")
    assert log.status == "success"
    (request,) = server.requests
    assert request["model"] == "VideoChat2"
    assert [part["type"] for part in request["messages"][-1]["content"]] == ["image_url"] * 5 + ["text"]
