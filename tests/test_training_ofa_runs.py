"""`humor-tasks train ofa`: whole runs of a tiny random OFA on the packaged sample, and what follows from one.

To their end, after a kill, in two processes, and refused; then a model that knows the sample by heart describes it in
the annotators' place, and both harnesses score a baseline that answers from its words.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file
from standins.tiny_ofa import tiny_ofa
from standins.trainings import but_time, kill_in_third_epoch

from humor_tasks import load
from humor_tasks.datasets_cards import folder as card_folder
from humor_tasks.errors import BadInput
from humor_tasks.models.descriptions import QUESTIONS
from humor_tasks.models.ofa import Describer
from humor_tasks.training.cli import train as commands
from humor_tasks.training.ofa.config import OfaTrainConfig
from humor_tasks.training.ofa.data import Splits, read_splits
from humor_tasks.training.ofa.finetune import Trainer
from humor_tasks.training.ofa.run import train

QUICK: dict[str, Any] = {"dataset": "sample", "lr": 1e-3, "batch_size": 20, "epochs": 2, "patience": 0, "device": "cpu"}


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_ofa(tmp_path_factory.mktemp("tiny") / "tiny", ["a fish in a living room", "two men at a bar"])


def config(tiny: str, **values: Any) -> OfaTrainConfig:
    return OfaTrainConfig(tiny, **QUICK | values)


def curve(output: Path) -> list[dict[str, float]]:
    with (output / "curves.csv").open(newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


# ---- whole runs ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", [{}, {"precision": "bf16", "checkpointing": True, "micro_batch": 3}, {"image_size": 32}]
)
def test_a_run_folder_holds_what_its_model_says(more: dict[str, Any], tiny: str, tmp_path: Path) -> None:
    output, settings = tmp_path / "run", config(tiny, **more)
    metrics = train(settings, output, progress=False)
    assert {path.name for path in output.iterdir()} == {
        *("config.json", "curves.csv", "metrics.json", "model", "training.json")
    }
    assert json.loads((output / "config.json").read_text()) == settings.as_dict()
    assert json.loads((output / "metrics.json").read_text()) == metrics
    assert metrics["rows"] == {"train": 60, "validation": 20, "test": 20}
    before, after = (load_file(folder / "model.safetensors") for folder in (Path(tiny), output / "model"))
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    rows = curve(output)
    assert [(row["epoch"], row["step"]) for row in rows] == [(1, 3), (2, 6)]
    assert rows[1]["train_loss"] < rows[0]["train_loss"]
    best = min(rows, key=lambda row: row["validation_loss"])
    assert metrics["best_epoch"] == best["epoch"]
    # The file says what the network said in training.
    assert metrics["validation"]["loss"] == pytest.approx(best["validation_loss"], rel=1e-5)
    assert metrics["validation"]["nll"] == pytest.approx(best["validation_nll"], rel=1e-5)
    assert metrics["test"]["nll_by_question"].keys() == QUESTIONS.keys()
    asked = Describer.load(output / "model", {"device": "cpu"})
    assert asked.pixels.size == more.get("image_size", 48)
    row = read_splits(settings).test[0]
    assert isinstance(asked.answer([row.picture], [QUESTIONS[row.question]])[0], str)
    assert train(settings, output, progress=False) == metrics  # finished: not trained again


@pytest.mark.slow
def test_the_test_loss_is_that_of_the_answers_one_by_one(tiny: str, tmp_path: Path) -> None:
    settings = config(tiny, epochs=1)
    metrics = train(settings, tmp_path / "run", progress=False)
    asked = Describer.load(tmp_path / "run" / "model", {"device": "cpu"})
    nll, tokens = 0.0, 0
    for row in read_splits(settings).test:
        ids = asked.tokenizer.encode(f" {row.answer}", marks=False)
        shown = np.array(asked.pixels.fitted(row.picture.open(), "here"))
        pixels = asked.pixels.normalised(torch.from_numpy(shown)[None])
        with torch.inference_mode():
            questions = torch.tensor([asked.tokens(QUESTIONS[row.question], "here")])
            chances = asked.ofa.network(questions, pixels, torch.tensor([ids[:-1]]))[0].log_softmax(1)
        nll -= sum(float(chances[i, token]) for i, token in enumerate(ids[1:]))
        tokens += len(ids) - 1
    assert metrics["test"]["tokens"] == tokens
    assert metrics["test"]["nll"] == pytest.approx(nll / tokens, rel=1e-4)


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_end(tiny: str, tmp_path: Path) -> None:
    flags = "--dataset sample --lr 1e-3 --batch-size 20 --epochs 3 --patience 0 --device cpu --no-progress".split()
    kill_in_third_epoch("ofa", *flags, "--pretrained", tiny, "-o", str(tmp_path / "cut"))
    assert len(curve(tmp_path / "cut")) == 2
    assert not (tmp_path / "cut" / "model").exists()
    (tmp_path / "cut" / ".checkpoint-3").mkdir()  # what a kill while writing leaves
    settings = config(tiny, epochs=3)
    expected = train(settings, tmp_path / "whole", progress=False)
    assert but_time(train(settings, tmp_path / "cut", progress=False)) == but_time(expected)
    for name in ("curves.csv", "training.json", "model/model.safetensors", "model/config.json", "model/vocab.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert not list(tmp_path.glob("cut/*checkpoint-*")) + list(tmp_path.glob("cut/best-*"))


@pytest.mark.slow
def test_two_processes_train_one_run(tiny: str, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("from humor_tasks.training.cli import train; train()")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    # With an eps that large the size of a gradient counts, which Adam would else divide away.
    flags = "--dataset sample --lr 0.3 --eps 1 --epochs 2 --patience 0 --batch-size 59 --micro-batch 7".split()
    command = [*launch, str(tmp_path / "main.py"), "ofa", *flags, "--device", "cpu", "--pretrained", tiny]
    cpu = os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    command += ["-o", str(tmp_path / "two"), "--no-progress"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=cpu)
    assert done.returncode == 0, done.stderr[-3000:]
    # 60 rows in batches of 59: the second process has no row of the last batch.
    settings = config(tiny, lr=0.3, eps=1.0, batch_size=59)
    expected = train(settings, tmp_path / "one", progress=False)
    found = json.loads((tmp_path / "two" / "metrics.json").read_text())
    assert found["rows"] == expected["rows"]
    assert found["test"]["nll"] == pytest.approx(expected["test"]["nll"], rel=1e-4)
    for one, two in zip(curve(tmp_path / "one"), curve(tmp_path / "two"), strict=True):
        assert one == pytest.approx(two, rel=1e-4)
    start, one, two = (
        load_file(Path(f) / "model.safetensors") for f in (tiny, tmp_path / "one/model", tmp_path / "two/model")
    )
    for name, tensor in one.items():
        assert torch.allclose(tensor, two[name], rtol=1e-3, atol=1e-4), name
    moved = max(float((one[name].float() - start[name].float()).abs().max()) for name in one)
    assert moved > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("patience", "epochs_run", "best"), [(1, 3, 2), (2, 4, 2), (0, 6, 6)])
def test_training_stops_early_and_keeps_the_first_of_the_best(
    patience: int, epochs_run: int, best: int, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, saved = iter([5.0, 3.0, 3.0, 4.0, 3.0, 2.0]), {}

    def scripted(self: Trainer, step: int) -> tuple[float, tuple[float, ...]]:
        saved[step] = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}
        loss = next(reached)
        return loss, (loss, loss, 0.0)

    monkeypatch.setattr(Trainer, "_evaluate", scripted)
    output = tmp_path / "run"
    metrics = train(config(tiny, epochs=6, patience=patience, batch_size=60), output, progress=False)
    assert (metrics["best_epoch"], metrics["epochs_run"]) == (best, epochs_run)
    kept = load_file(output / "model" / "model.safetensors")
    assert all(torch.equal(tensor, saved[best][name]) for name, tensor in kept.items())
    assert any(not torch.equal(tensor, saved[best - 1][name]) for name, tensor in kept.items())


@pytest.mark.slow
def test_all_folds_are_runs_of_their_own(tiny: str, tmp_path: Path) -> None:
    output, settings = tmp_path / "run", config(tiny, fold="all", epochs=1, batch_size=60)
    metrics = train(settings, output, progress=False)
    each = [json.loads((output / f"fold-{k}" / "metrics.json").read_text()) for k in range(5)]
    for split in ("validation", "test"):
        for name in ("loss", "nll"):
            assert metrics[split][name] == pytest.approx(fmean(one[split][name] for one in each))
    assert {fold: one["best_epoch"] for fold, one in metrics["folds"].items()} == dict.fromkeys("01234", 1)
    assert len({one["test"]["nll"] for one in each}) == 5
    alone = train(settings.with_values(fold="3"), output / "fold-3", progress=False)
    assert alone == each[3]
    assert Describer.load(output / "fold-4" / "model", {"device": "cpu"}).name.endswith("fold-4/model")


@pytest.mark.slow
def test_the_command(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = "--dataset sample --fold 2 --lr 1e-3 --epochs 1 --device cpu --no-progress --batch-size 60".split()
    asked = ["ofa", *flags, "--pretrained", tiny, "-o", str(tmp_path / "run")]
    done = CliRunner().invoke(commands, asked)
    assert done.exit_code == 0, done.output
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert f"test        nll         {metrics['test']['nll']:.5f}" in done.output
    assert CliRunner().invoke(commands, asked).output == done.output
    monkeypatch.setenv("HOME", str(tmp_path))
    assert CliRunner().invoke(commands, [*asked[:-2], "--output=~/run"]).output == done.output
    refused_ = CliRunner().invoke(commands, [*asked, "--seed", "1"])
    assert "holds a run with other settings (seed=0 there, 1 here)" in str(refused_.exception)


# ---- bad input ----------------------------------------------------------------------------------


def refused(settings: OfaTrainConfig, output: Path) -> str:
    with pytest.raises(BadInput) as problem:
        train(settings, output, progress=False)
    return str(problem.value)


def test_bad_data(tiny: str, tmp_path: Path) -> None:
    source = Path(card_folder("newyorker_caption_contest"))

    def copied(name: str, *configs: str) -> Path:
        target = tmp_path / name
        shutil.copytree(source / "images", target / "images")
        for config_ in configs:
            (target / config_).mkdir()
            for block, split in enumerate(("test", "validation", "train")):
                shutil.copy(source / config_ / f"block{block}.jsonl", target / config_ / f"{split}.jsonl")
        return target

    output = tmp_path / "out"
    words = copied("words", "matching")
    assert "no config 'matching_from_pixels'" in refused(config(tiny, dataset=str(words)), output)
    pixels = copied("pixels", "matching_from_pixels")
    assert "no config 'matching'" in refused(config(tiny, dataset=str(pixels)), output)
    gone = copied("gone", "matching", "matching_from_pixels")
    (gone / "images" / "9012.png").unlink()
    assert "no picture file 'images/9012.png'" in refused(config(tiny, dataset=str(gone)), output)
    assert "matching_1" in refused(config(tiny, dataset=str(gone), fold="1"), output)
    assert not output.exists()


def test_bad_checkpoints(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(name: str, **values: Any) -> str:
        shutil.copytree(tiny, tmp_path / name)
        about = json.loads((tmp_path / name / "config.json").read_text())
        (tmp_path / name / "config.json").write_text(json.dumps(about | values))
        return str(tmp_path / name)

    output = tmp_path / "out"
    other = changed("other", d_model=64)
    assert "The checkpoint has another size than its config.json" in refused(config(other), output)
    wordless = changed("wordless")
    (Path(wordless) / "vocab.json").unlink()
    assert "there is no vocabulary" in refused(config(wordless), output)
    assert "random/tiny has no vocabulary" in refused(config("random/tiny"), output)
    assert "there is no such folder" in refused(config(str(tmp_path / "nowhere")), output)
    assert "this network has positions for 96" in refused(config(tiny, image_size=480), output)
    assert "must be a multiple of 16" in refused(config(tiny, image_size=50), output)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "ofa: device 'cuda' is not available" in refused(config(tiny, device="cuda"), output)


@pytest.mark.slow
def test_what_was_refused_may_be_asked_again_otherwise(tiny: str, tmp_path: Path) -> None:
    output = tmp_path / "run"
    assert "there is no such folder" in refused(config(str(tmp_path / "nowhere")), output)
    quick = {"epochs": 1, "batch_size": 60}
    assert train(config(tiny, **quick), output, progress=False)["epochs_run"] == 1
    assert "other settings (epochs=1 there, 2 here)" in refused(config(tiny, **quick | {"epochs": 2}), output)
    # How it is computed is no part of what it computes.
    how = {"micro_batch": 3, "checkpointing": True, "workers": 1}
    assert train(config(tiny, **quick, **how), output, progress=False)["epochs_run"] == 1
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    assert "is not empty and holds no run" in refused(config(tiny), tmp_path / "other")


def test_a_rate_that_is_too_high_says_so(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trainer, "_epoch", lambda *_: (float("nan"),))
    assert "lr=0.001: the loss is nan in epoch 1; use a lower learning rate" in refused(config(tiny), tmp_path / "run")


# ---- a model that knows the sample by heart, and what follows from it ----------------------------


# Beam search that finds the likeliest. Fairseq's ends with its fifth hypothesis, the best or not: beside answers as
# sure as these, five poor ones are there before a long one ends. And a sentence may hold the same three tokens twice.
SEARCH = {"style": "hf", "beams": 5, "no_repeat_ngram": 0}


def learned(home: Path) -> Path:
    """A run on every picture of the sample, all splits, until it has them by heart."""
    found = read_splits(OfaTrainConfig("x", dataset="sample"))
    every = (*found.train, *found.validation, *found.test)
    start = tiny_ofa(home / "tiny", [row.answer for row in every], size=3000, d_model=64)
    values = {"lr": 2e-3, "beta2": 0.98, "smoothing": 0.0, "weight_decay": 0.0, "batch_size": 5, "epochs": 55}
    train(config(start, **values), home / "run", {"0": Splits(every, found.test, found.test)}, progress=False)
    return home / "run"


def matching_is_scored(model: Path, home: Path) -> None:
    """Describes the sample's test split as people did, and a baseline answers from that in both harnesses."""

    def run(*command: str) -> None:
        whole = {"cwd": home, "capture_output": True, "text": True, "check": False}
        quiet = os.environ | {"INSPECT_DISPLAY": "none", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run([Path(sys.executable).parent / command[0], *command[1:]], env=quiet, **whole)
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]} {done.stderr[-3000:]}"

    asked = ["--model", f"ofa/{model}", "--dataset", "sample"]
    asked += [part for name, value in ({"device": "cpu"} | SEARCH).items() for part in ("-M", f"{name}={value}")]
    part = ("--task", "matching", "--fold", "0", "--split", "test")
    run("humor-tasks", "describe", *asked, *part, "-o", "described")
    described, people = (load("matching", dataset=d, cot=False) for d in (str(home / "described"), "sample"))
    assert [record.fields for record in described.records] == [record.fields for record in people.records]
    run(
        *("inspect", "eval", "humor_tasks/matching", "-T", "dataset=described"),
        *("--model", "baseline/overlap", "--log-format", "json", "--log-dir", "logs"),
    )
    (log,) = (json.loads(path.read_text()) for path in (home / "logs").glob("*.json"))
    assert log["status"] == "success"
    (scores,) = log["results"]["scores"]
    accuracy = scores["metrics"]["accuracy"]["value"]
    run(
        *("lm_eval", "--model", "humor-baseline", "--model_args", "strategy=overlap", "--tasks", "nyc_matching"),
        *("--metadata", "dataset=described", "--output_path", "results"),
    )
    (results,) = (json.loads(path.read_text()) for path in (home / "results").rglob("results_*.json"))
    assert results["results"]["nyc_matching"]["acc,none"] == pytest.approx(accuracy)
    assert 0 < accuracy <= 1


@pytest.mark.slow
def test_a_tiny_ofa_learns_the_sample_by_heart_and_both_harnesses_score_its_words(tmp_path: Path) -> None:
    output = learned(tmp_path)
    metrics = json.loads((output / "metrics.json").read_text())
    assert metrics["test"]["nll"] < 0.05
    assert curve(output)[-1]["train_loss"] < 0.05 < 1 < curve(output)[0]["train_loss"]
    found = read_splits(OfaTrainConfig("x", dataset="sample"))
    rows = (*found.train, *found.validation, *found.test)
    asked = Describer.load(output / "model", {"device": "cpu"} | SEARCH)
    said = asked.answer([row.picture for row in rows], [QUESTIONS[row.question] for row in rows])
    assert said == [row.answer for row in rows]
    matching_is_scored(output / "model", tmp_path)
