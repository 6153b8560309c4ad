"""`humor-tasks train clip`: whole runs of a tiny random CLIP on few rows, their folders and their ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from inspect_ai import eval
from inspect_ai.model import get_model
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager
from safetensors.torch import load_file
from standins.trainings import numbers_of_curve, predicted, refusal, resumes_to_the_same_end

import humor_tasks.on_lm_eval
from humor_tasks import clip_predict, evaluate, load
from humor_tasks.cli.train import train as commands
from humor_tasks.lab.training.clip.data import Splits, read_splits
from humor_tasks.lab.training.clip.finetune import Trainer, answers, train
from humor_tasks.lab.training.clip.settings import ClipTrainConfig
from humor_tasks.models.choosers.chooser import best
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.clip import ClipLM

STILL = {"flip": 0.0, "grayscale": 0.0, "brightness": 0.0, "hue": 0.0}
QUICK: dict[str, Any] = {"lr": (1e-3,), "warmup": 1, "batch_size": 4, "epochs": 2, "device": "cpu"}
refused = partial(refusal, train)
Made = Callable[..., ClipTrainConfig]


@pytest.fixture
def config(tiny: str, sample: str) -> Made:
    given = {"pretrained": tiny, "dataset": sample} | QUICK
    return lambda task="ranking", **values: ClipTrainConfig(task, **given | values)


def on_train(settings: ClipTrainConfig) -> Splits:
    """Validation is what is trained on: the best epoch is the one that has learnt most."""
    splits = read_splits(settings)
    assert splits.train is not None
    return Splits(splits.train, splits.train, splits.test)


def reached(metrics: dict[str, Any], split: str, name: str = "accuracy") -> float:
    return float(metrics[split]["metrics"][name]["value"])


@pytest.mark.slow
def test_a_tiny_clip_learns_the_sample_by_heart(config: Made, sample: str, tmp_path: Path) -> None:
    settings = config("matching", fit="crop", weight_decay=0.0, epochs=15, **STILL)
    splits = on_train(settings)
    assert splits.train is not None
    metrics = train(settings, tmp_path / "run", splits, progress=False)
    assert reached(metrics, "validation") > 0.95
    losses = [row["train_loss"] for row in numbers_of_curve(tmp_path / "run")]
    assert losses[-1] < 0.5 < losses[0]
    model = str(tmp_path / "run" / "model")
    clip = Clip.load(ClipConfig(model, device="cpu"))
    assert (clip.fit, clip.prefix, clip.precision) == ("crop", "", "fp32")
    assert answers(clip, splits.train) == predicted(tmp_path / "run", "validation")
    assert answers(clip, splits.test) == predicted(tmp_path / "run", "test")
    asked = build("matching", {"dataset": sample, "setting": "pixels"})
    log = eval(asked, model=get_model(f"clip/{model}", device="cpu", memoize=False), display="log")[0]
    said = {str(sample.id): sample.output.completion for sample in log.samples or []}
    assert said == {name: f"Answer: {letter}" for name, letter in predicted(tmp_path / "run", "test").items()}
    tasks = Path(humor_tasks.on_lm_eval.__file__).parent / "tasks"
    manager = TaskManager(include_path=str(tasks), include_defaults=False, metadata={"dataset": sample})
    found = simple_evaluate(ClipLM(model, "cpu"), tasks=["nyc_matching_pixels"], task_manager=manager)
    likeliest = {
        sample["doc"]["id"]: "ABCDE"[best([float(pair[0]) for pair, *_ in sample["resps"]])]
        for sample in found["samples"]["nyc_matching_pixels"]
    }
    assert likeliest == predicted(tmp_path / "run", "test")


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"lora": 2, "lr": (0.02,)}, {"precision": "bf16", "checkpointing": True}])
def test_a_run_folder_holds_what_its_model_says(
    more: dict[str, Any], config: Made, tiny: str, sample: str, tmp_path: Path
) -> None:
    output, settings = tmp_path / "run", config(**more)
    metrics = train(settings, output, progress=False)
    assert {path.name for path in output.iterdir()} == {
        *(".lock", "config.json", "curves.csv", "metrics.json", "model", "training.json"),
        *("predictions_validation.json", "predictions_test.json"),
    }
    assert json.loads((output / "config.json").read_text()) == settings.as_dict()
    assert json.loads((output / "metrics.json").read_text()) == metrics
    assert metrics["rows"] == {"train": 6, "validation": 2, "test": 2}
    clip = Clip.load(ClipConfig(str(output / "model"), device="cpu"))
    before = load_file(Path(tiny) / "model.safetensors")
    assert clip.model.state_dict().keys() == before.keys()
    assert any(not torch.equal(clip.model.state_dict()[name], before[name]) for name in before)
    for split in ("validation", "test"):
        run = load("ranking", dataset=sample, setting="pixels", split=split)
        assert predicted(output, split) == answers(clip, run)
        assert predicted(output, split) == clip_predict(sample, "ranking", clip, split=split)
        assert evaluate(run, predicted(output, split)).as_dict() == metrics[split]
        assert {"accuracy", "ny_accuracy", "crowd_accuracy"} < metrics[split]["metrics"].keys()
    rows = numbers_of_curve(output)
    assert [(row["epoch"], row["step"]) for row in rows] == [(1, 2), (2, 4)]
    assert rows[0]["lr"] == rows[1]["lr"] == settings.lr[0]
    best = max(rows, key=lambda row: row["validation_accuracy"])
    assert metrics["best_epoch"] == best["epoch"]
    assert reached(metrics, "validation") == pytest.approx(best["validation_accuracy"])
    assert train(settings, output, progress=False) == metrics  # finished: not trained again


def test_rates_and_pictures_change_as_said(config: Made, tmp_path: Path) -> None:
    settings = config(warmup=4, batch_size=2, weight_decay=0.3, beta1=0.7, beta2=0.8, eps=1e-5)
    trainer = Trainer(settings, read_splits(settings), tmp_path, False)
    asked = trainer.optimizer.defaults
    assert (asked["weight_decay"], asked["betas"], asked["eps"]) == (0.3, (0.7, 0.8), 1e-5)
    rates: list[float] = []
    trainer.optimizer.register_step_pre_hook(lambda optimizer, *_: rates.append(optimizer.param_groups[0]["lr"]))
    first, second = ([trainer._augmented(row, epoch).tobytes() for row in range(6)] for epoch in (0, 1))
    trainer.train()
    assert rates == pytest.approx([1e-3 * share for share in (0, 1 / 4, 2 / 4, 3 / 4, 1, 1)])
    assert first == [trainer._augmented(row, 0).tobytes() for row in range(6)]
    assert len(set(first) | set(second)) == 12


@pytest.mark.slow
def test_parts_of_a_batch_end_as_the_whole_batch(config: Made, tmp_path: Path) -> None:
    found = []
    for most in (0, 1, 3):
        settings = config(micro_batch=most, lr=(1e-2,), eps=1.0)
        Trainer(settings, read_splits(settings), tmp_path / str(most), False).train()
        found.append(load_file(tmp_path / str(most) / "best-1" / "model.safetensors"))
    whole, *parts = found
    for part in parts:
        assert all(torch.allclose(part[name], tensor, rtol=1e-4, atol=1e-6) for name, tensor in whole.items())


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_end(config: Made, tmp_path: Path) -> None:
    resumes_to_the_same_end(train, Trainer, config(epochs=3, lora=2), tmp_path)


@pytest.mark.slow
def test_the_scale_stays_at_its_limit_in_training(config: Made, tiny: str, tmp_path: Path) -> None:
    clip = Clip.load(ClipConfig(tiny, device="cpu"))
    clip.model.logit_scale.data.fill_(4.7)  # 109.9
    clip.save(tmp_path / "sharp")
    train(config(pretrained=str(tmp_path / "sharp"), epochs=1), tmp_path / "run", progress=False)
    assert 90 < numbers_of_curve(tmp_path / "run")[0]["logit_scale"] <= 100.001


@pytest.mark.slow
def test_the_command(tiny: str, sample: str, tmp_path: Path) -> None:
    flags = "--task ranking --fold 2 --lr 1e-3 --epochs 1 --device cpu --no-progress".split()
    asked = ["clip", *flags, "--dataset", sample, "--pretrained", tiny, "-o", str(tmp_path / "run")]
    done = CliRunner().invoke(commands, asked)
    assert done.exit_code == 0, done.output
    test = evaluate(load("ranking", dataset=sample, setting="pixels", fold=2), predicted(tmp_path / "run", "test"))
    assert f"test        ny_accuracy             {test.metrics['ny_accuracy'].value:.5f}" in done.output
    assert CliRunner().invoke(commands, asked).output == done.output
    refused = CliRunner().invoke(commands, [*asked, "--seed", "1"])
    assert "holds a run with other settings (seed=0 there, 1 here)" in str(refused.exception)


# ---- bad input ----------------------------------------------------------------------------------


@pytest.fixture
def copied(sample: str, tmp_path: Path) -> Callable[..., str]:
    """Rows of a config, with their pictures, as a dataset folder with a file a split."""

    def copy(name: str, config: str = "ranking_from_pixels", splits: str = "test validation train") -> str:
        source, target = Path(sample), tmp_path / name
        shutil.copytree(source / "images", target / "images")
        (target / config).mkdir()
        for block, split in enumerate(splits.split()):
            shutil.copy(source / config / f"block{block}.jsonl", target / config / f"{split}.jsonl")
        return str(target)

    return copy


def test_bad_data(config: Made, copied: Callable[..., str], tmp_path: Path) -> None:
    untrained = copied("untrained", splits="test validation")
    assert "has no split 'train'; there are: validation, test" in refused(config(dataset=untrained), tmp_path / "a")
    assert "ranking_from_pixels_1" in refused(config(dataset=untrained, fold="all"), tmp_path / "a")
    words = copied("words", "ranking")
    assert "no config 'ranking_from_pixels'" in refused(config(dataset=words), tmp_path / "a")
    gone = copied("gone")
    (tmp_path / "gone" / "images" / "9001.png").unlink()
    assert "no picture file 'images/9001.png'" in refused(config(dataset=gone), tmp_path / "a")
    blank = copied("blank")
    rows = tmp_path / "blank" / "ranking_from_pixels" / "test.jsonl"
    rows.write_text(rows.read_text().replace('"images/9001.png"', "null"))
    assert "image is null. Restore the picture" in refused(config(dataset=blank), tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_damaged_picture_is_named_before_training(config: Made, copied: Callable[..., str], tmp_path: Path) -> None:
    dataset = copied("rows")
    run = load("ranking", dataset=dataset, setting="pixels", split="train")
    assert run.records[1].picture is not None
    path = Path(str(run.records[1].picture.path))
    path.write_bytes(path.read_bytes()[:2000])
    assert f"images/{path.name}" in refused(config(dataset=dataset), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_device_that_is_not_there(config: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "device 'cuda' is not available" in refused(config(device="cuda"), tmp_path / "run")
    assert not (tmp_path / "run").exists()
