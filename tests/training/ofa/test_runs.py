"""`humor-tasks train ofa`: whole runs of a tiny random OFA on few rows, and what follows from one.

To their end, after a kill, and refused; then a model that knows the sample by heart describes it in
the annotators' place, and both harnesses score a baseline that answers from its words.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from PIL import Image
from safetensors.torch import load_file
from standins import commands
from standins.small_sample import small_sample
from standins.tiny_ofa import tiny_ofa
from standins.trainings import but_time, killed_in_third_epoch, numbers_of_curve, refusal

from humor_tasks import evaluate, load
from humor_tasks.cli.train import train as command
from humor_tasks.data.descriptions import QUESTIONS
from humor_tasks.data.rows import described_by
from humor_tasks.data.trained_on import RECORD, trainings
from humor_tasks.datasets_cards import folder as card_folder
from humor_tasks.models.ofa import Describer
from humor_tasks.scorers.perplexity import UNITS
from humor_tasks.training.ofa.data import Splits, read_splits
from humor_tasks.training.ofa.finetune import Trainer, train
from humor_tasks.training.ofa.settings import OfaTrainConfig
from humor_tasks.training.text.data import read_splits as read_text_splits
from humor_tasks.training.text.settings import TextTrainConfig

QUICK: dict[str, Any] = {"lr": (1e-3,), "batch_size": 4, "epochs": 2, "patience": 0, "device": "cpu"}
refused = partial(refusal, train)
Made = Callable[..., OfaTrainConfig]


@pytest.fixture
def config(tiny: str, sample: str) -> Made:
    return lambda start=tiny, **values: OfaTrainConfig(start, **{"dataset": sample} | QUICK | values)


# ---- whole runs ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", [{}, {"precision": "bf16", "checkpointing": True, "micro_batch": 3}, {"image_size": 32}]
)
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
    row = splits.test[0]
    assert isinstance(asked.answer([row.picture], [QUESTIONS[row.question]])[0], str)
    assert train(settings, output, {"0": splits}, progress=False) == metrics  # finished: not trained again


@pytest.mark.slow
def test_the_test_loss_is_that_of_the_answers_one_by_one(config: Made, splits: Splits, tmp_path: Path) -> None:
    metrics = train(config(epochs=1), tmp_path / "run", {"0": splits}, progress=False)
    asked = Describer.load(tmp_path / "run" / "model", {"device": "cpu"})
    nll, tokens = 0.0, 0
    for row in splits.test:
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
def test_a_killed_run_goes_on_to_the_same_end(config: Made, splits: Splits, tmp_path: Path) -> None:
    settings, data = config(epochs=3), {"0": splits}
    with killed_in_third_epoch(Trainer):
        train(settings, tmp_path / "cut", data, progress=False)
    assert len(numbers_of_curve(tmp_path / "cut")) == 2
    assert not (tmp_path / "cut" / "model").exists()
    expected = train(settings, tmp_path / "whole", data, progress=False)
    assert but_time(train(settings, tmp_path / "cut", data, progress=False)) == but_time(expected)
    for name in ("curves.csv", "training.json", "model/model.safetensors", "model/config.json", "model/vocab.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.slow
@pytest.mark.cpu(10, "trains five folds, each of whose models then describes its own")
def test_the_first_fold_chooses_the_rate_and_each_folds_model_describes_its_own_fold(
    config: Made, tiny: str, sample: str, tmp_path: Path
) -> None:
    output, settings = tmp_path / "run", config(fold="all", lr=(1e-5, 1e-2), epochs=1, batch_size=60)
    metrics = train(settings, output, progress=False)
    each = [json.loads((output / f"fold-{k}" / "metrics.json").read_text()) for k in range(5)]
    for split in ("validation", "test"):
        for name in ("loss", "nll"):
            assert metrics[split][name] == pytest.approx(fmean(one[split][name] for one in each))
    assert {fold: one["best_epoch"] for fold, one in metrics["folds"].items()} == dict.fromkeys("01234", 1)
    assert len({one["test"]["nll"] for one in each}) == 5

    first = each[0]
    values = {rate: -loss for rate, loss in first["validation_by_lr"].items()}
    tried = {
        str(rate): json.loads((output / "fold-0" / f"lr-{rate}" / "metrics.json").read_text()) for rate in settings.lr
    }
    assert values == {rate: one["validation"]["loss"] for rate, one in tried.items()}
    best = min(settings.lr, key=lambda rate: values[str(rate)])
    assert {one["lr"] for one in metrics["folds"].values()} == {best}
    assert train(settings, output, progress=False) == metrics
    alone = train(settings.with_values(fold="3", lr=(best,)), output / "fold-3", progress=False)
    assert alone == each[3]

    asked = ["--dataset", sample, "--task", "matching", "--unanswered", "?"]
    asked += ["-M", "device=cpu", "-M", "beams=1", "-M", "max_len=3"]
    asked += ["--split", "validation", "--split", "test"]
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
    folds = read_text_splits(TextTrainConfig("matching", tiny, dataset=str(tmp_path / "described"), fold="all"))
    shown = load("matching", dataset=sample, setting="pixels", fold="all").records
    assert [r.id for r in folds.evaluated["test"].records] == [r.id for r in shown]
    with (tmp_path / "described.answers.jsonl").open() as lines:
        known = {(a["asked"]["checkpoint"], a["picture"], a["question"]): a["answer"] for a in map(json.loads, lines)}
    for made, before in zip(folds.evaluated["test"].records, shown, strict=True):
        model = str(output / f"fold-{made.groups['fold']}" / "model")
        assert before.picture
        answer = known[model, before.picture.sha256(), QUESTIONS["location"]]
        assert made.fields["location"] == (" ".join(answer.split()) or "?")


@pytest.mark.slow
@pytest.mark.cpu(10, "trains five folds")
def test_a_task_with_free_text_is_learned_itself(
    config: Made, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humor_tasks.training.ofa.finetune.LONGEST", 4)
    run = load("explanation", dataset=sample, setting="pixels", cot=False)
    start = tiny_ofa(tmp_path / "tiny", [str(record.target) for record in run.records], max_position_embeddings=1024)
    output, settings = tmp_path / "run", config(start, task="explanation", fold="all", epochs=1, batch_size=6)
    metrics = train(settings, output, progress=False)
    one = json.loads((output / "fold-0" / "metrics.json").read_text())
    assert one["rows"] == {
        split: len(load("explanation", dataset=sample, split=split).records) for split in one["rows"]
    }
    assert one["test"]["nll_by_question"].keys() == {"explanation"}
    written = json.loads((output / "fold-0" / "predictions_test.json").read_text())
    assert one["test"]["metrics"] == evaluate(run, written).as_dict()["metrics"]
    each = [json.loads((output / f"fold-{k}" / "metrics.json").read_text()) for k in range(5)]
    for name in UNITS:
        mean = fmean(fold["test"]["perplexity"][name]["value"] for fold in each)
        assert metrics["test"]["perplexity"][name]["value"] == pytest.approx(mean)
    assert metrics["test"]["metrics"].keys() >= {"bleu", "rouge_l"}

    # The harness asks what was trained: the same perplexity, the same answers.
    describer = Describer.load(output / "fold-0" / "model", {"device": "cpu"})
    row = read_splits(settings.with_values(fold="0")).test[0]
    assert describer.answer([row.picture], [row.question_text], replace(describer.settings, max_len=4)) == [
        written[run.records[0].id]
    ]
    commands.lm_eval(
        *("--model", "humor-ofa", "--model_args", f"pretrained={output}/fold-0/model", "--apply_chat_template"),
        *("--device", "cpu", "--tasks", "nyc_explanation_pixels", "--metadata", f"dataset={sample}"),
        *("--output_path", "results"),
        cwd=tmp_path,
    )
    (results,) = (json.loads(path.read_text()) for path in (tmp_path / "results").rglob("results_*.json"))
    found = results["results"]["nyc_explanation_pixels"]["word_perplexity,none"]
    assert found == pytest.approx(one["test"]["perplexity"]["word_perplexity"]["value"], rel=1e-4)


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


# ---- bad input ----------------------------------------------------------------------------------


def test_bad_data(config: Made, tmp_path: Path) -> None:
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
    assert "no config 'matching_from_pixels'" in refused(config(dataset=str(words)), output)
    pixels = copied("pixels", "matching_from_pixels")
    assert "no config 'matching'" in refused(config(dataset=str(pixels)), output)
    gone = copied("gone", "matching", "matching_from_pixels")
    (gone / "images" / "9012.png").unlink()
    assert "no picture file 'images/9012.png'" in refused(config(dataset=str(gone)), output)
    assert "matching_1" in refused(config(dataset=str(gone), fold="1"), output)
    assert not output.exists()


@pytest.mark.slow
def test_bad_checkpoints(config: Made, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert "this network has positions for 96" in refused(config(image_size=480), output)
    assert "must be a multiple of 16" in refused(config(image_size=50), output)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "ofa: device 'cuda' is not available" in refused(config(device="cuda"), output)


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
    assert metrics["test"]["nll"] < 0.05
    assert numbers_of_curve(output)[-1]["train_loss"] < 0.05 < 1 < numbers_of_curve(output)[0]["train_loss"]
    rows = read_splits(OfaTrainConfig("x", dataset=sample)).test
    asked = Describer.load(output / "model", {"device": "cpu"} | SEARCH)
    said = asked.answer([row.picture for row in rows], [QUESTIONS[row.question] for row in rows])
    assert said == [row.answer for row in rows]
    matching_is_scored(output / "model", tmp_path, sample)
