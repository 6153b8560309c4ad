"""`humor-tasks train ofa`: whole runs of a tiny random OFA on few rows, and what follows from one.

To their end, after a kill, and refused; then a model that knows the sample by heart describes it in
the annotators' place, and both harnesses score a baseline that answers from its words.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from PIL import Image
from safetensors.torch import load_file
from standins import commands
from standins.small_sample import small_sample
from standins.tiny_ofa import tiny_ofa
from standins.trainings import numbers_of_curve, refusal

from humor_tasks import evaluate, load
from humor_tasks.cli.train import train as command
from humor_tasks.lab.training.ofa import finetune
from humor_tasks.lab.training.ofa.data import Row, Splits, read_splits
from humor_tasks.lab.training.ofa.finetune import train
from humor_tasks.lab.training.ofa.settings import OfaTrainConfig
from humor_tasks.lab.training.run_folders import record
from humor_tasks.models.ofa import Describer
from humor_tasks.rows import described_by
from humor_tasks.rows.descriptions import QUESTIONS
from humor_tasks.rows.trained_on import RECORD, trainings

QUICK: dict[str, Any] = {"lr": (1e-3,), "batch_size": 4, "epochs": 2, "patience": 0, "device": "cpu"}
refused = partial(refusal, train)
Made = Callable[..., OfaTrainConfig]


@pytest.fixture
def config(tiny: str, sample: str) -> Made:
    return lambda start=tiny, **values: OfaTrainConfig(start, **{"dataset": sample} | QUICK | values)


# ---- whole runs ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"image_size": 32}, {"precision": "bf16", "checkpointing": True, "micro_batch": 3}])
def test_a_run_folder_holds_what_its_model_says(
    more: dict[str, Any], config: Made, tiny: str, splits: Splits, tmp_path: Path
) -> None:
    output, settings = tmp_path / "run", config(**more)
    metrics = train(settings, output, {"0": splits}, progress=False)
    assert {path.name for path in output.iterdir()} == {
        *(".lock", "config.json", "curves.csv", "metrics.json", "model", "training.json")
    }
    assert json.loads((output / "config.json").read_text()) == settings.as_dict()
    assert json.loads((output / "metrics.json").read_text()) == metrics
    assert metrics["rows"] == {"train": 12, "validation": 4, "test": 4}
    before, after = (load_file(folder / "model.safetensors") for folder in (Path(tiny), output / "model"))
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    rows = numbers_of_curve(output)
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
    if "image_size" in more:
        nll, tokens = nll_one_by_one(asked, splits.test)
        assert metrics["test"]["tokens"] == tokens
        assert metrics["test"]["nll"] == pytest.approx(nll / tokens, rel=1e-4)
    assert train(settings, output, {"0": splits}, progress=False) == metrics  # finished: not trained again


def nll_one_by_one(asked: Describer, rows: Sequence[Row]) -> tuple[float, int]:
    nll, tokens = 0.0, 0
    for row in rows:
        ids = asked.tokenizer.encode(f" {row.answer}", marks=False)
        shown = np.array(asked.pixels.fitted(row.picture.open(), "here"))
        pixels = asked.pixels.normalised(torch.from_numpy(shown)[None])
        with torch.inference_mode():
            questions = torch.tensor([asked.tokens(QUESTIONS[row.question], "here")])
            chances = asked.ofa.network(questions, pixels, torch.tensor([ids[:-1]]))[0].log_softmax(1)
        nll -= sum(float(chances[i, token]) for i, token in enumerate(ids[1:]))
        tokens += len(ids) - 1
    return nll, tokens


# ---- folds and tasks ----------------------------------------------------------------------------


def test_each_fold_is_trained_on_its_own_rows(config: Made) -> None:
    whole = config(fold="all")
    data = finetune._read(whole)
    assert list(data) == list("01234")
    assert finetune._RECIPE.of_fold(data, "3") == {"3": data["3"]}
    assert data["3"].train == read_splits(config(fold="3")).train != data["0"].train
    assert (finetune._RECIPE.one_rate, finetune._RECIPE.means) == (True, ("loss", "nll"))
    assert finetune._evaluated(whole, data) == {}  # answers about a cartoon have no score
    runs = finetune._evaluated(config(fold="all", task="explanation"), data)
    assert {split: len({r.groups["fold"] for r in run.records}) for split, run in runs.items()} == {
        "validation": 5,
        "test": 5,
    }


@pytest.mark.slow
def test_each_folds_model_describes_its_own_fold(config: Made, tiny: str, sample: str, tmp_path: Path) -> None:
    output = tmp_path / "run"
    for fold, splits in ((k, read_splits(config(fold=k))) for k in "01234"):
        shutil.copytree(tiny, output / f"fold-{fold}" / "model")
        record(output / f"fold-{fold}" / "model", "matching", splits.source, fold, splits.units("matching"))
    asked = ["--dataset", sample, "--task", "matching", "--unanswered", "?"]
    asked += ["-M", "device=cpu", "-M", "beams=1", "-M", "max_len=3", "--split", "test"]
    told = commands.refused("describe", "--model", f"ofa/{output}/fold-0/model", *asked, "-o", tmp_path / "leak")
    assert "was trained on 1 unit" in told
    assert f"Use fold=0 of {sample}, whose test split it has not seen; other folds need a model each" in told
    model = f"ofa/{output}/fold-{{fold}}/model"
    commands.humor_tasks("describe", "--model", model, *asked, "-o", tmp_path / "described")
    said = described_by(str(tmp_path / "described"))
    assert said is not None
    assert [model["checkpoint"] for model in said["asked"]["models"].values()] == [
        str(output / f"fold-{k}" / "model") for k in range(5)
    ]
    described = load("matching", dataset=str(tmp_path / "described"), fold="all").records
    shown = load("matching", dataset=sample, setting="pixels", fold="all").records
    assert [r.id for r in described] == [r.id for r in shown]
    with (tmp_path / "described.answers.jsonl").open() as lines:
        # Random weights end no answer: a cut-off one is kept in the file and is no description.
        known = {
            (a["asked"]["checkpoint"], a["picture"], a["question"]): "?" if a.get("why") else a["answer"]
            for a in map(json.loads, lines)
        }
    for made, before in zip(described, shown, strict=True):
        model = str(output / f"fold-{made.groups['fold']}" / "model")
        assert before.picture
        answer = known[model, before.picture.sha256(), QUESTIONS["location"]]
        assert made.fields["location"] == (" ".join(answer.split()) or "?")


@pytest.mark.slow
def test_a_task_with_free_text_is_learned_itself(
    config: Made, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humor_tasks.lab.training.ofa.finetune.LONGEST", 4)
    run = load("explanation", dataset=sample, setting="pixels", cot=False)
    start = tiny_ofa(tmp_path / "tiny", [str(record.target) for record in run.records], max_position_embeddings=1024)
    output, settings = tmp_path / "run", config(start, task="explanation", epochs=1, batch_size=6)
    metrics = train(settings, output, progress=False)
    assert metrics["rows"] == {
        split: len(load("explanation", dataset=sample, split=split).records) for split in metrics["rows"]
    }
    assert metrics["test"]["nll_by_question"].keys() == {"explanation"}
    written = json.loads((output / "predictions_test.json").read_text())
    assert metrics["test"]["metrics"] == evaluate(run, written).as_dict()["metrics"]
    assert metrics["test"]["metrics"].keys() >= {"bleu", "rouge_l"}

    # The harness asks what was trained: the same perplexity, the same answers.
    describer = Describer.load(output / "model", {"device": "cpu"})
    row = read_splits(settings).test[0]
    assert describer.answer([row.picture], [row.question_text], replace(describer.settings, max_len=4)) == [
        written[run.records[0].id]
    ]
    commands.lm_eval(
        *("--model", "humor-ofa", "--model_args", f"pretrained={output}/model", "--apply_chat_template"),
        *("--device", "cpu", "--tasks", "nyc_explanation_pixels", "--metadata", f"dataset={sample}"),
        *("--output_path", "results"),
        cwd=tmp_path,
    )
    (results,) = (json.loads(path.read_text()) for path in (tmp_path / "results").rglob("results_*.json"))
    found = results["results"]["nyc_explanation_pixels"]["word_perplexity,none"]
    assert found == pytest.approx(metrics["test"]["perplexity"]["word_perplexity"]["value"], rel=1e-4)


@pytest.mark.slow
def test_the_command(tiny: str, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = "--fold 2 --lr 1e-3 --epochs 1 --device cpu --no-progress".split()
    asked = ["ofa", *flags, "--dataset", sample, "--pretrained", tiny, "-o", str(tmp_path / "run")]
    done = CliRunner().invoke(command, asked)
    assert done.exit_code == 0, done.output
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert f"test        nll         {metrics['test']['nll']:.5f}" in done.output
    assert CliRunner().invoke(command, asked).output == done.output
    monkeypatch.setenv("HOME", str(tmp_path))
    assert CliRunner().invoke(command, [*asked[:-2], "--output=~/run"]).output == done.output
    refused_ = CliRunner().invoke(command, [*asked, "--seed", "1"])
    assert "holds a run with other settings (seed=0 there, 1 here)" in str(refused_.exception)


@pytest.mark.slow
def test_a_name_of_the_hub_is_trained_and_its_files_are_those_of_ofa_huge(
    tiny: str, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub lists these for OFA-Sys/ofa-huge: no safetensors, and weights as a pickle of tensors."""
    files = ("config.json", "merges.txt", "pytorch_model.bin", "vocab.json")
    held, asked = tmp_path / "snapshots" / "abc", []
    shutil.copytree(tiny, held, ignore=lambda _, names: set(names) - set(files))
    torch.save(load_file(Path(tiny) / "model.safetensors"), held / "pytorch_model.bin")
    assert sorted(path.name for path in held.iterdir()) == sorted(files)

    class Hub:
        def model_info(self, name: str, revision: str | None) -> Any:
            return SimpleNamespace(sha="abc", siblings=[SimpleNamespace(rfilename=name) for name in files])

    def download(name: str, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((name, revision, allow_patterns[-1]))
        return str(held)

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    flags = "--lr 1e-3 --epochs 1 --image-size 32 --device cpu --no-progress".split()
    common = [*flags, "--dataset", sample, "--pretrained"]
    for name, start in (("hub", "OFA-Sys/ofa-huge"), ("folder", tiny)):
        done = CliRunner().invoke(command, ["ofa", *common, start, "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
    assert set(asked) == {("OFA-Sys/ofa-huge", "abc", "pytorch_model.bin")}
    one, two = (load_file(tmp_path / name / "model" / "model.safetensors") for name in ("hub", "folder"))
    assert all(torch.equal(tensor, two[name]) for name, tensor in one.items())


# ---- bad input ----------------------------------------------------------------------------------


def test_what_cannot_be_trained_leaves_no_folder(
    config: Made, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copied(name: str, *configs: str) -> str:
        source, target = Path(sample), tmp_path / name
        shutil.copytree(source / "images", target / "images")
        for config_ in configs:
            (target / config_).mkdir()
            for block, split in enumerate(("test", "validation", "train")):
                shutil.copy(source / config_ / f"block{block}.jsonl", target / config_ / f"{split}.jsonl")
        return str(target)

    gone = copied("gone", "matching", "matching_from_pixels")
    (tmp_path / "gone" / "images" / "9011.png").unlink()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    for settings, said in (
        (config(dataset=copied("words", "matching")), "no config 'matching_from_pixels'"),
        (config(dataset=copied("pixels", "matching_from_pixels")), "no config 'matching'"),
        (config(dataset=gone), "no picture file 'images/9011.png'"),
        (config(dataset=gone, fold="1"), "matching_1"),
        (config(str(tmp_path / "nowhere")), "there is no such folder"),
        (config(image_size=480), "this network has positions for 96"),
        (config(device="cuda"), "ofa: device 'cuda' is not available"),
    ):
        assert said in refused(settings, tmp_path / "out")
        assert not (tmp_path / "out").exists()


# ---- a model that knows the sample by heart, and what follows from it ----------------------------


# Beam search that finds the likeliest. Fairseq's ends with its fifth hypothesis, the best or not: beside answers as
# sure as these, five poor ones are there before a long one ends. And a sentence may hold the same three tokens twice.
SEARCH = {"style": "hf", "beams": 5, "no_repeat_ngram": 0}


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on two contests of a test split until it has them by heart, and in `sample` their rows."""
    home = tmp_path_factory.mktemp("learnt")
    sample = small_sample(home / "sample", slice(3, 6))
    for contest, colour in ((9002, "black"), (9003, "white")):  # as different as a tiny network needs them
        Image.new("RGB", (48, 48), colour).save(home / "sample" / "images" / f"{contest}.png")
    rows = read_splits(OfaTrainConfig("x", dataset=sample)).test
    start = tiny_ofa(home / "tiny", [row.answer for row in rows], size=600, d_model=64)
    values: dict[str, Any] = {"lr": (3e-3,), "beta2": 0.98, "smoothing": 0.0, "weight_decay": 0.0, "epochs": 8}
    values |= {"freeze_resnet": True}  # pictures are read once
    # Each row is there many times: judging the model and keeping it after every epoch takes longer than the steps.
    how = OfaTrainConfig(start, dataset=sample, batch_size=8, patience=0, device="cpu", **values)
    train(how, home / "run", {"0": Splits(rows * 12, rows, rows)}, progress=False)
    return home


def matching_is_scored(model: Path, home: Path, sample: str) -> None:
    """Describes the sample's test split as people did, and a baseline answers from that in both harnesses."""
    asked = ["--model", f"ofa/{model}", "--dataset", sample]
    asked += [part for name, value in ({"device": "cpu"} | SEARCH).items() for part in ("-M", f"{name}={value}")]
    part = ("--task", "matching", "--fold", "0", "--split", "test")
    commands.humor_tasks("describe", *asked, *part, "-o", home / "described")
    described, people = (load("matching", dataset=d, cot=False) for d in (str(home / "described"), sample))
    assert [record.fields for record in described.records] == [record.fields for record in people.records]
    inspect = ["eval", "humor_tasks/matching", "-T", "dataset=described", "--model", "baseline/overlap"]
    commands.inspect(*inspect, "--log-format", "json", "--log-dir", "logs", cwd=home)
    (log,) = (json.loads(path.read_text()) for path in (home / "logs").glob("*.json"))
    assert log["status"] == "success"
    (scores,) = log["results"]["scores"]
    accuracy = scores["metrics"]["accuracy"]["value"]
    lm_eval = ["--model", "humor-baseline", "--model_args", "strategy=overlap", "--tasks", "nyc_matching"]
    commands.lm_eval(*lm_eval, "--metadata", "dataset=described", "--output_path", "results", cwd=home)
    (results,) = (json.loads(path.read_text()) for path in (home / "results").rglob("results_*.json"))
    assert results["results"]["nyc_matching"]["acc,none"] == pytest.approx(accuracy)
    assert 0 < accuracy <= 1


@pytest.mark.slow
def test_a_tiny_ofa_learns_the_sample_by_heart_and_both_harnesses_score_its_words(learnt: Path, tmp_path: Path) -> None:
    sample, output = str(learnt / "sample"), learnt / "run"
    (training,) = trainings(output / "model") or ()
    assert training["units"] == {split: ["newyorker-9002", "newyorker-9003"] for split in ("train", "validation")}
    (output / "model" / RECORD).unlink()  # or it would be refused for the rows that it was trained on
    metrics = json.loads((output / "metrics.json").read_text())
    assert metrics["test"]["nll"] < 0.1
    assert numbers_of_curve(output)[-1]["train_loss"] < 0.1 < 1 < numbers_of_curve(output)[0]["train_loss"]
    rows = read_splits(OfaTrainConfig("x", dataset=sample)).test
    asked = Describer.load(output / "model", {"device": "cpu"} | SEARCH)
    said = asked.answer([row.picture for row in rows], [QUESTIONS[row.question] for row in rows])
    assert said == [row.answer for row in rows]
    matching_is_scored(output / "model", tmp_path, sample)
