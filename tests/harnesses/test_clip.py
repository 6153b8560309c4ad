"""CLIP in both harnesses and without one: the letters of `Clip.score`, whatever the road to it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, get_model
from PIL import Image
from safetensors.torch import save_file
from standins import commands, tiny_clip
from standins.tiny_clip import TINY, drawing, encoded, uri

from humor_tasks import clip_predict, evaluate, load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import LETTERS, Question, best, log_softmax
from humor_tasks.models.choosers.clip import ClipChooser, config_of
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.clip.config import ZERO_SHOT_PREFIX
from humor_tasks.on_inspect import multiple_choice
from humor_tasks.on_inspect.messages import question
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval import harness
from humor_tasks.on_lm_eval.harness import Instance
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.clip import ClipLM
from humor_tasks.on_lm_eval.providers.local import DEFAULT_DEVICE
from humor_tasks.testing import run_lm_eval

BOTH = ("matching", "ranking")
ALIKE = {"accuracy": "acc", "ny_accuracy": "ny_acc", "crowd_accuracy": "crowd_acc"}
Scores = dict[str, list[float]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of ours with a tiny CLIP."""
    place = tmp_path_factory.mktemp("clip")
    tiny_clip.register(place)
    save_file(tiny_clip.state(), place / "tiny.safetensors")
    Clip.load(ClipConfig(str(place / "tiny.safetensors"), architecture=TINY, device="cpu")).save(place / "folder")
    return str(place / "folder")


@pytest.fixture
def clip(folder: str) -> Clip:
    return Clip.load(ClipConfig(folder, device="cpu"))


def opened(task: str, dataset: str = "sample", **more: Any) -> Run:
    return load(task, dataset=dataset, setting="pixels", **more)


def directly(clip: Clip, run: Run) -> Scores:
    scores = clip.score([record.picture for record in run.records], [record.choices for record in run.records])
    return {record.id: own for record, own in zip(run.records, scores, strict=True)}


def letters(scores: Scores) -> dict[str, str]:
    return {identity: LETTERS[best(own)] for identity, own in scores.items()}


def close(left: Scores, right: Scores) -> bool:
    """Whether the logits are alike; passes of other sizes give other last digits."""
    return left.keys() == right.keys() and all(left[i] == pytest.approx(right[i], abs=1e-4) for i in left)


# ---- Inspect ------------------------------------------------------------------------------------


def scores_in(log: EvalLog) -> Scores:
    return {str(s.id): list((s.output.metadata or {})["scores"].values()) for s in log.samples or []}


def assert_inspect_agrees(log: EvalLog, run: Run, expected: Scores) -> None:
    assert close(scores_in(log), expected)
    for sample in log.samples or []:
        own = expected[str(sample.id)]
        token = sample.output.choices[0].logprobs.content[0]  # type: ignore[union-attr]
        assert sample.output.completion == f"Answer: {LETTERS[best(own)]}"
        assert [top.logprob for top in token.top_logprobs] == pytest.approx(log_softmax(own), abs=1e-4)
        assert (token.token, sample.output.usage.total_tokens) == (LETTERS[best(own)], 0)
    report = evaluate(run, letters(expected))
    assert log.results
    for name, estimate in report.metrics.items():
        assert log.results.scores[0].metrics[name].value == pytest.approx(estimate.value)


def asking(*images: str, choices: Sequence[str] = ("a fish", "a bear"), **known: Any) -> ChatMessageUser:
    text = "".join(f"\n{letter}) {choice}" for letter, choice in zip("ABC", choices, strict=False))
    content = [*(ContentImage(image=image) for image in images), ContentText(text=f"Which one?{text}")]
    return ChatMessageUser(content=content, metadata=known or None)


def test_the_last_picture_of_the_last_question_is_compared(tmp_path: Path) -> None:
    (tmp_path / "b.png").write_bytes(encoded(drawing(1)))
    first, last = uri(encoded(drawing(0))), str(tmp_path / "b.png")
    for messages in ([asking(first, last)], [asking(first), asking(last)], [asking(last, id="x", choices=("a", "b"))]):
        found = question(messages)
        assert found.picture.read() == encoded(drawing(1))
        assert len(found.choices) == 2
    assert question([asking(first)]).picture.read() == encoded(drawing(0))
    assert question([asking(last), asking()]).picture is None


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ("https://example.com/a.png", "Picture of q1: https://example.com/a.png is a URL; download the picture"),
        ("data:image/png;base64,@@@@", "Picture of q1: its data: URI is not base64"),
        ("data:image/png;base64,", "Picture of q1: there are no bytes"),
        ("data:image/png,abcd", "Picture of q1: there are no bytes"),
        ("nowhere.png", "Picture nowhere.png: cannot be read"),
        (uri(encoded(drawing(0))[:300]), "Picture of q1: the PNG data is truncated"),
    ],
)
def test_pictures_that_cannot_be_used_are_named(clip: Clip, image: str, message: str) -> None:
    asked = question([asking(image, id="q1", choices=("a", "b"))])  # other models never look
    with pytest.raises(BadInput, match=message):
        ClipChooser(clip).score([asked])


@pytest.mark.inspect_ai_versions
def test_a_bad_picture_is_its_own_samples_problem_only(folder: str) -> None:
    narrow = encoded(Image.new("L", (1, 20_000)))
    samples = [
        Sample(id=i, input=[asking(uri(data))], choices=["a fish", "a bear"], target="A")
        for i, data in enumerate([encoded(drawing(0)), narrow, b"GIF89a, truly", encoded(drawing(1))])
    ]
    model = get_model(f"clip/{folder}", device="cpu")
    log = eval(Task(dataset=samples, scorer=multiple_choice()), model=model, display="log", fail_on_error=False)[0]
    errors = {s.id: str(s.error.message) for s in log.samples or [] if s.error}
    assert errors.keys() == {1, 2}
    assert "too narrow for fit=pad" in errors[1]
    assert "broken" in errors[2] or "not a picture" in errors[2]


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "setting", "message"),
    [
        ("matching", "description", "there is no picture to compare captions with.*setting=pixels"),
        ("ranking", "caption_only", "there is no picture to compare captions with.*setting=pixels"),
        ("explanation", "pixels", "there is no choice of captions.*matching and ranking with setting=pixels"),
    ],
)
def test_no_picture_and_no_choices_are_told(folder: str, task: str, setting: str, message: str) -> None:
    made = build(task, {"dataset": "sample", "setting": setting})
    log = eval(made, model=get_model(f"clip/{folder}", device="cpu"), display="log")[0]
    assert log.status == "error"
    assert log.error
    assert "CannotRun" in log.error.traceback
    assert re.search(message, " ".join(log.error.message.split()))
    name = f"nyc_{task}" + {"description": ""}.get(setting, f"_{setting}")
    with pytest.raises(BadInput, match=message):
        in_lm_eval(ClipLM(folder, "cpu"), name)


def test_arguments_of_the_command_line(folder: str) -> None:
    said = {"fit": "crop", "prefix": None, "precision": "bf16", "compile": False, "batch_size": 4, "device": None}
    assert config_of(folder, said) == ClipConfig(folder, fit="crop", prefix="", precision="bf16", batch_size=4)
    assert config_of(folder, {"prefix": ["so", " to say: "]}).prefix == "so, to say: "
    for wrong, message in (
        ({"prefix": {"a cartoon": None}}, "prefix is .*give a text, in quotes"),
        ({"device": 0}, "device is 0; give a text"),
        ({"compile": "yes"}, "compile is 'yes'; give true or false"),
        ({"batch_size": "many"}, "batch_size is 'many'; give a whole number"),
        ({"workers": True}, "workers is True; give a whole number"),
        ({"fits": "pad"}, "there is no 'fits'.*Did you mean 'fit'"),
    ):
        with pytest.raises(BadInput, match=message):
            config_of(folder, wrong)
    with pytest.raises(PrerequisiteError, match=r"there is no 'prefx'.*Did you mean 'prefix'"):
        get_model(f"clip/{folder}", prefx="")
    with pytest.raises(PrerequisiteError, match="no such file or folder"):
        get_model("clip//no/where")


def test_a_machine_without_cuda_says_so_when_asked(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    with pytest.raises(PrerequisiteError, match=r"device 'cuda' is not available.*Use device=auto"):
        get_model(f"clip/{folder}", device="cuda")
    with pytest.raises(BadInput, match="device 'cuda' is not available"):
        ClipLM(folder, "cuda")
    assert ClipLM(folder, DEFAULT_DEVICE).device.type != "cuda"  # lm-eval without --device


def test_a_caption_of_ten_thousand_characters_is_cut_and_told(clip: Clip, caplog: pytest.LogCaptureFixture) -> None:
    chooser = ClipChooser(clip)
    asked = Question("x", "", ("short", "long " * 2000), drawing(0))
    for _ in range(2):
        assert all(map(math.isfinite, chooser.score([asked])[0]))
    assert caplog.text.count("1 captions so far were truncated") == 1


# ---- lm-eval ------------------------------------------------------------------------------------


def in_lm_eval(model: ChooserLM, *tasks: str, dataset: str = "sample", **more: Any) -> dict[str, Any]:
    return run_lm_eval(model, *tasks, metadata={"dataset": dataset} | more)


def likelihoods_in(samples: Sequence[dict[str, Any]]) -> Scores:
    return {sample["doc"]["id"]: [float(pair[0]) for pair, *_ in sample["resps"]] for sample in samples}


def assert_lm_eval_agrees(found: dict[str, Any], task: str, run: Run, expected: Scores) -> None:
    name = f"nyc_{task}_pixels"
    assert close(likelihoods_in(found["samples"][name]), {i: log_softmax(own) for i, own in expected.items()})
    for metric, estimate in evaluate(run, letters(expected)).metrics.items():
        shown = ALIKE.get(metric, metric)
        assert found["results"][name][f"{shown},none"] == pytest.approx(estimate.value)
        assert found["results"][name][f"{shown}_stderr,none"] == pytest.approx(estimate.stderr)


def request(context: str, continuation: str, doc_id: int, *images: Any) -> Instance:
    shown = {"visual": list(images)} if images else None
    return harness.request("loglikelihood", {}, (context, continuation), 0, harness.Where("other", doc_id), shown)


@pytest.mark.lm_eval_versions
def test_other_peoples_documents_and_the_requests_that_even_out_processes(folder: str, clip: Clip) -> None:
    model = ClipLM(folder, "cpu")
    texts = [["a fish", "the bear", "a hat"], ["two", "three"]]
    asked = [request("Which?", f" {t}", i, drawing(i)) for i, own in enumerate(texts) for t in own]
    direct = [log_softmax(own) for own in clip.score([drawing(0), drawing(1)], texts)]
    answers = model.loglikelihood([*asked, asked[-1], asked[-1]], disable_tqdm=True)
    assert [a for a, _ in answers[:5]] == pytest.approx([*direct[0], *direct[1]], abs=1e-4)
    assert answers[5:] == [answers[4]] * 2
    assert [greedy for _, greedy in answers[:3]] == [i == best(direct[0]) for i in range(3)]
    with pytest.raises(BadInput, match="Which one: there is no picture"):
        model.loglikelihood([request("Which one", " a", 0), request("Which one", " b", 0)])
    with pytest.raises(BadInput, match="there is no choice of captions"):
        model.loglikelihood([request("Once", " upon a time", 0, drawing(0))])


@pytest.mark.lm_eval_versions
def test_arguments_of_lm_eval_reach_the_model(folder: str) -> None:
    arguments = f"pretrained={folder},fit=crop,prefix=,precision=bf16,workers=1"
    model = ClipLM.create_from_arg_string(arguments, {"batch_size": "7", "device": "cpu", "max_batch_size": None})
    assert (model.clip.fit, model.clip.prefix, model.clip.precision) == ("crop", "", "bf16")
    assert (model.clip.config.batch_size, model.clip.config.workers) == (7, 1)
    for size in (1, "auto", "auto:4"):
        assert ClipLM(folder, "cpu", size).clip.config.batch_size == 0
    with pytest.raises(BadInput, match=r"there is no 'precison'.*Did you mean 'precision'"):
        ClipLM(folder, "cpu", precison="bf16")


# ---- without a harness ----------------------------------------------------------------------------


@pytest.mark.parametrize("task", BOTH)
def test_predictions_are_the_letters_of_the_scores(folder: str, clip: Clip, task: str) -> None:
    expected = letters(directly(clip, opened(task, fold=3)))
    assert clip_predict("sample", task, clip, fold=3) == expected
    assert clip_predict("sample", task, ClipConfig(folder, device="cpu"), fold=3) == expected
    assert len(expected) == 10


def test_the_leaderboards_folder_becomes_its_file(folder: str, clip: Clip, tmp_path: Path) -> None:
    place, instances = tmp_path / "board", []
    place.mkdir()
    for i in range(4):
        (place / f"{i}.png").write_bytes(encoded(drawing(i)))
        captions = {letter: f"caption {letter} {i}" for letter in "ABCDE"}
        instances.append({"instance_id": f"i{i}", "image": f"{i}.png", "choices": captions})
    (place / "instances.json").write_text(json.dumps(instances))
    with pytest.warns(UserWarning, match="no labels"):
        found = clip_predict(place, "matching", folder, tmp_path / "sub" / "letters.json")
    texts = [list(instance["choices"].values()) for instance in instances]
    scores = clip.score([drawing(i) for i in range(4)], texts)
    assert found == {f"i{i}": LETTERS[best(own)] for i, own in enumerate(scores)}
    assert json.loads((tmp_path / "sub" / "letters.json").read_text()) == found


def test_what_cannot_be_predicted(folder: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no 'explanation'; choose from matching, ranking"):
        clip_predict("sample", "explanation", folder)
    with pytest.raises(BadInput, match="is a folder; give the path of a file"):
        clip_predict("sample", "matching", folder, tmp_path)
    with pytest.raises(BadInput, match="there is no 'folds'"):
        clip_predict("sample", "matching", folder, folds=3)


# ---- the commands, and the real rows --------------------------------------------------------------


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_inspects_command(folder: str, tmp_path: Path) -> None:
    arguments = ["eval", "humor_tasks/ranking", "--model", f"clip/{folder}", "--log-dir", "logs"]
    arguments += ["-T", "dataset=sample", "-T", "setting=pixels", "-M", "fit=crop", "-M", "prefix=", "-M", "device=cpu"]
    commands.inspect(*arguments, cwd=tmp_path)
    (path,) = (tmp_path / "logs").glob("*.eval")
    clip = Clip.load(ClipConfig(folder, fit="crop", prefix="", device="cpu"))
    assert_inspect_agrees(read_eval_log(str(path)), opened("ranking"), directly(clip, opened("ranking")))


@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_lm_evals_command(folder: str, tmp_path: Path) -> None:
    arguments = ["--tasks", "nyc_matching_pixels,nyc_ranking_pixels", "--model", "humor-clip", "--device", "cpu"]
    arguments += ["--model_args", f"pretrained={folder},fit=crop", "--metadata", "dataset=sample"]
    commands.lm_eval(*arguments, "--output_path", "out", "--log_samples", cwd=tmp_path)
    (path,) = tmp_path.rglob("results_*.json")
    found, clip = json.loads(path.read_text()), Clip.load(ClipConfig(folder, fit="crop", device="cpu"))
    pictures = set()
    for task in BOTH:
        (file,) = tmp_path.rglob(f"samples_nyc_{task}_pixels_*.jsonl")
        samples = {f"nyc_{task}_pixels": [json.loads(line) for line in file.read_text().splitlines()]}
        assert_lm_eval_agrees(found | {"samples": samples}, task, opened(task), directly(clip, opened(task)))
        pictures |= {record.picture.sha256() for record in opened(task).records if record.picture}
    about = found["config"]["clip"]
    assert about["pictures_embedded"] == len(pictures)
    assert (about["fit"], about["prefix"], about["device"]) == ("crop", ZERO_SHOT_PREFIX, "cpu")
