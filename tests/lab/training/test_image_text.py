"""`humor-tasks train image-text`: a tiny random LLaVA learns MOCK's sub-tasks, and then writes stories."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from inspect_ai import eval
from inspect_ai.log import EvalLog
from safetensors.torch import load_file
from standins.judging import says
from standins.tiny_image_text import FAMILIES, tiny_image_text
from standins.trainings import numbers_of_curve
from transformers import AutoModelForImageTextToText

from humor_tasks import load
from humor_tasks.cli import main
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.image_text.finetune import ImageTextWriter, Rows, read, read_rows, train
from humor_tasks.lab.training.image_text.settings import TASKS, ImageTextTrainConfig
from humor_tasks.models.image_text import tensors_of
from humor_tasks.models.text.pretrained import open_processor
from humor_tasks.rows.trained_on import trainings
from humor_tasks.tasks import mock_detecting, mock_generation

TEXTS = [
    text
    for task in TASKS
    for run in [load(task, dataset="sample", scene="stills", split="train")]
    for record in run.records
    for text in (*(turn.text for turn in run.prompt(record).turns), str(record.target), "Answer: Explanation:")
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("image_text")
    for family in FAMILIES:
        tiny_image_text(home / family, family, TEXTS, template=family != "llava_next_video", scale=0.02)
    return home


def config(home: Path, family: str = "llava", **values: Any) -> ImageTextTrainConfig:
    how: dict[str, Any] = {"lr": (3e-3,), "batch_size": 4, "patience": 0, "device": "cpu"}
    return ImageTextTrainConfig(str(home / family), **{"dataset": "sample", "scene": "post"} | how | values)


def asked(task: Any, model: str | Path, **given: Any) -> EvalLog:
    (log,) = eval(
        task, model=f"image_text/{model}", display="log", max_tokens=24, model_args={"device": "cpu"}, **given
    )
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize("lora", [0, 8])
def test_a_llava_learns_the_sub_tasks_and_writes_stories_before_and_after(
    home: Path, tmp_path: Path, lora: int
) -> None:
    rates = {"lr": (2e-2,)} if lora else {}
    settings = config(home, lora=lora, epochs=4, **rates)
    metrics = train(settings, tmp_path / "run", progress=False)
    model = tmp_path / "run" / "model"
    losses = [row["validation"] for row in numbers_of_curve(tmp_path / "run")]
    assert metrics["rows"] == {"train": 12, "validation": 8}
    assert metrics["best"] == min(losses) < losses[0]
    (record,) = trainings(model) or ()
    assert (record["task"], record["fold"]) == (",".join(TASKS), "")
    if lora:
        states = [load_file(folder / "model.safetensors") for folder in (home / "llava", model)]
        assert states[0].keys() == states[1].keys()
        assert sum(not torch.equal(states[0][name], states[1][name]) for name in states[0]) > 10
        return
    judge = {"grader": says("judge", "<judgement>3</judgement>").model}
    stories = []
    for which in (home / "llava", model):
        log = asked(mock_generation(dataset="sample", scene="post"), which, model_roles=judge)
        stories.append([sample.output.completion for sample in log.samples or []])
        assert all(sample.scores and sample.scores["story_ratings"].value == 3.0 for sample in log.samples or [])
    assert stories[0] != stories[1]


def test_the_form_of_an_answer_is_learnt_and_read_in_inspect(home: Path, tmp_path: Path) -> None:
    settings = config(home, task=("mock_detecting",), epochs=2)
    rows = read_rows(settings)
    train(settings, tmp_path / "run", Rows(rows.train * 12, rows.train), progress=False)
    log = asked(mock_detecting(dataset="sample", scene="post", split="train"), tmp_path / "run" / "model")
    assert log.results is not None
    assert log.results.scores[0].metrics["unparsed"].value == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_is_that_of_transformers_row_by_row(home: Path, family: str) -> None:
    given = config(home, family, scene="comedy" if family != "llava" else "cartoon", frames=2)
    data, processor = read_rows(given), open_processor(given.model)
    network = AutoModelForImageTextToText.from_pretrained(given.model).eval()
    writer = ImageTextWriter(network, processor, given.frames)
    writer.prepare_all(data)
    some = range(0, len(writer.train_pairs), 3)
    with torch.no_grad():
        together = float(writer.loss(network, some))
        alone = []
        for pair in (writer.train_pairs[row] for row in some):
            text, turns = pair.shown
            answer = processor.tokenizer.decode(pair.continuation, skip_special_tokens=True).strip()
            assert answer.startswith(("Answer: ", "Explanation: ")) or text.endswith(("Answer:", "Explanation:"))
            assert pair.continuation[-1] == processor.tokenizer.eos_token_id
            inputs = tensors_of(processor, [text], [read(turns, given.frames)])
            count, end = inputs["input_ids"].shape[1], torch.tensor([pair.continuation])
            for name, tensor in inputs.items():
                if tensor.shape == (1, count):
                    more = {"input_ids": end, "attention_mask": torch.ones_like(end)}.get(name, torch.zeros_like(end))
                    inputs[name] = torch.cat([tensor, more], 1)
            labels = inputs["input_ids"].clone()
            labels[:, :count] = -100
            alone.append(float(network(**inputs, labels=labels).loss) * len(pair.continuation))
    assert together == pytest.approx(sum(alone), rel=1e-4)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scene": "all"}, "a batch has pictures or clips"),
        ({"scene": "circus"}, "circus"),
        ({"input": "pixels"}, "pixels"),
        ({"task": ("mock_generation",)}, "mock_generation"),
        ({"task": ("mock_detecting", "mock_detecting")}, "names one twice"),
        ({"lr": (0.0,)}, "lr must be"),
        ({"frames": 0}, "frames"),
    ],
)
def test_what_the_settings_refuse(values: dict[str, Any], message: str, home: Path) -> None:
    with pytest.raises(BadInput, match=message):
        config(home, **values)


def test_a_model_without_video_and_an_unknown_one_leave_no_folder(home: Path, tmp_path: Path) -> None:
    for family, scene, message in (("llava", "comedy", "takes no video"), ("unknown", "post", "no such folder")):
        with pytest.raises(BadInput, match=message):
            train(config(home, family, scene=scene), tmp_path / family, progress=False)
        assert not (tmp_path / family).exists()


def test_a_llava_learns_to_describe_and_describes_the_others(home: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "mock", tmp_path / "described"
    shutil.copytree(folder("mock"), source)
    for file in source.glob("post_*/test.jsonl"):
        rows = [json.loads(line) | {"description": None} for line in file.read_text().splitlines()]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    how = {"task": ("describing",), "dataset": str(source), "epochs": 2}
    metrics = train(config(home, **how), tmp_path / "run", progress=False)
    assert metrics["rows"] == {"train": 3, "validation": 2}
    with pytest.raises(BadInput, match="no picture of post, split train, has a description"):
        (tmp_path / "bare").mkdir()
        shutil.copytree(source / "post_matching", tmp_path / "bare" / "post_matching")
        shutil.copytree(source / "images", tmp_path / "bare" / "images")
        shutil.copy(source / "post_matching" / "test.jsonl", tmp_path / "bare" / "post_matching" / "train.jsonl")
        read_rows(config(home, **how | {"dataset": str(tmp_path / "bare")}))
    model = ["--model", f"image_text/{tmp_path / 'run' / 'model'}", "-M", "device=cpu", "--max-tokens", "8"]
    given = ["describe", "--dataset", str(source), "--scene", "post", "--unanswered", "Nothing.", "-o", str(out)]
    done = CliRunner().invoke(main, [*given, *model])
    assert done.exit_code == 0, done.output
    assert "of 8 pictures 3 by image_text/" in done.output
    assert all(
        json.loads(line)["description"] for line in (out / "post_matching" / "test.jsonl").read_text().splitlines()
    )
