"""`humor-tasks train humicroedit`: every system on small synthetic rows, with tiny random encoders."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from safetensors.torch import load_file
from standins.humicroedit_rows import WORDS, write_csv, write_folder
from standins.trainings import resumes_to_the_same_end

from humor_tasks.cli.train import train as commands
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.humicroedit import ensemble, run
from humor_tasks.lab.training.humicroedit.data import read_data
from humor_tasks.lab.training.humicroedit.finetune import Trainer
from humor_tasks.lab.training.humicroedit.run import train
from humor_tasks.lab.training.humicroedit.settings import TrainConfig
from humor_tasks.models.humicroedit import load
from humor_tasks.models.humicroedit.resources import WordVectors

SYSTEMS: dict[str, dict[str, Any]] = {
    "baseline": {"system": "baseline"},
    "cbow": {"system": "cbow", "alphas": (1.0,)},
    "cbow-mlp": {"system": "cbow", "head": "mlp", "epochs": 40, "lr": 0.01, "patience": 40},
    "ngrams": {"system": "ngrams", "alphas": (0.1, 1.0)},
    "ridge": {"system": "ridge", "alphas": (1.0, 10.0), "funlines": True},
    "encoder": {"system": "encoder", "context": "masked", "original_word": True, "lr": 3e-3, "epochs": 6},
    "frozen": {"system": "encoder", "freeze": True},
    "upper": {"system": "encoder", "marks": True, "frozen_layers": 1, "lr": 3e-3, "rank_weight": 0.5, "epochs": 15},
    "pair": {"system": "pair", "lr": 3e-3, "dropout_samples": 2, "epochs": 6, "precision": "bf16"},
    "trees": {"system": "features", "head": "trees", "features": "lexical+phonemes+sentiment+history+words"},
    "bayes": {"system": "features", "head": "bayes", "features": "sentence"},
    "cooccurrence": {"system": "features", "features": "cooccurrence+history", "alphas": (1.0,)},
    "vectors": {"system": "vectors", "context": "masked", "original_word": True, "lr": 0.01, "epochs": 8},
    "attention": {"system": "encoder", "pooling": "attention", "features": "position+string", "lr": 3e-3, "epochs": 6},
    "lstm": {"system": "vectors", "pooling": "lstm", "freeze": True, "head_lr": 0.01, "epochs": 8, "text": "lower"},
    "grades": {"system": "grades", "lr": 1e-2, "epochs": 2},
    "gru": {
        "system": "ensemble",
        "grid": ("system=vectors,features", "pooling=gru", "features=length", "text=lower,no-symbols"),
        "head_lr": 0.01,
        "folds": 2,
        "stack": "trees",
    },
    "ensemble": {"system": "ensemble", "grid": ("system=ngrams,ridge", "alphas=1,10"), "folds": 2, "best": 1},
}


def config(name: str, rows: str, encoder: str, **values: Any) -> TrainConfig:
    return TrainConfig(**{"dataset": rows, "encoder": encoder, "batch_size": 8} | SYSTEMS[name] | values)


def read_column(path: Path) -> dict[str, float]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["id"]: float(row["pred"]) for row in csv.DictReader(file)}


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_run_folder_holds_what_load_says(name: str, rows: str, encoder: str, tmp_path: Path) -> None:
    output = tmp_path / "run"
    metrics = train(config(name, rows, encoder), output, progress=False)
    data = read_data(rows)
    assert json.loads((output / "metrics.json").read_text()) == metrics
    assert not list(output.rglob("*.bin")) + list(output.rglob("*.pt")) + list(output.rglob("*.pkl"))
    left = [path.name for path in output.iterdir() if path.name.startswith(("checkpoint-", "best-", "."))]
    assert left == [".lock"]
    rater = load(output)
    assert rater.name == "humicroedit/run"
    assert data.test is not None
    for split, asked in (("dev", data.dev), ("test", data.test)):
        ratings = read_column(output / f"predictions_{split}_task-1.csv")
        assert tuple(ratings) == asked.ids
        assert rater.rate(asked.edits) == pytest.approx(list(ratings.values()), abs=1e-5)
        preferred = read_column(output / f"predictions_{split}_task-2.csv")
        pairs = data.pairs[split]
        assert list(preferred) == [pair.id for pair in pairs]
        assert rater.prefer([p.first for p in pairs], [p.second for p in pairs]) == list(preferred.values())
    fresh = load(output)
    assert fresh.rate([tuple(data.dev.edits[3])]) == pytest.approx([fresh.rate(data.dev.edits)[3]], abs=1e-5)
    if name not in ("baseline", "frozen", "cbow-mlp"):
        assert metrics["dev_rmse"] < 0.85  # the train mean's is about .9
    assert train(config(name, rows, encoder), output, progress=False) == metrics  # finished: not trained again


def test_the_baseline_says_mean_and_majority(tmp_path: Path) -> None:
    rows = write_folder(tmp_path / "rows", {"train": 5, "dev": 4})
    metrics = train(TrainConfig("baseline", dataset=rows), tmp_path / "run")
    rater = load(tmp_path / "run")
    assert rater.rate([("a", "b", "c", "d")]) == pytest.approx([1.2])
    assert metrics["dev_rmse"] == pytest.approx(1.0)
    labels = read_data(rows).labels
    assert rater.prefer(["abcd"[:0] or ("", "b", "c", "")], [("", "b", "d", "")]) == [1 if labels.count(1) >= 3 else 2]


def test_equal_ratings_prefer_the_first(rows: str, tmp_path: Path) -> None:
    train(TrainConfig("ngrams", dataset=rows, alphas=(1.0,)), tmp_path / "run")
    rater = load(tmp_path / "run")
    funny, dull = ("the", "bank", "llama", "today"), ("the", "bank", "report", "today")
    assert rater.prefer([funny, dull, dull], [dull, funny, dull]) == [1, 2, 1]
    with pytest.raises(BadInput, match="two lists of equal length"):
        rater.prefer([funny], [])


@pytest.mark.slow
def test_the_seed_decides(rows: str, encoder: str, tmp_path: Path) -> None:
    found = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(config("pair", rows, encoder, seed=seed, epochs=1), tmp_path / name, progress=False)
        found[name] = read_column(tmp_path / name / "predictions_dev_task-1.csv")
    assert found["a"] == found["b"] != found["c"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pair", "upper"])
def test_a_killed_run_goes_on_to_the_same_end(name: str, rows: str, encoder: str, tmp_path: Path) -> None:
    def unfinished(cut: Path) -> None:
        with pytest.raises(BadInput, match="not finished"):
            load(cut)

    settings = config(name, rows, encoder, epochs=3, patience=3, precision="no")
    resumes_to_the_same_end(train, Trainer, settings, tmp_path, unfinished)


@pytest.mark.slow
def test_frozen_layers_keep_their_weights(rows: str, encoder: str, tmp_path: Path) -> None:
    train(config("upper", rows, encoder, epochs=1, marks=False), tmp_path / "run", progress=False)
    before = load_file(Path(encoder) / "model.safetensors")
    after = load_file(tmp_path / "run" / "network" / "model" / "model.safetensors")
    assert before.keys() == after.keys()
    changed = {name for name in before if not before[name].equal(after[name])}
    assert changed
    assert all(name.startswith("encoder.layer.1.") for name in changed)


@pytest.mark.slow
def test_a_stack_never_sees_a_model_that_saw_the_row(
    rows: str, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[str]] = {}
    asked: dict[str, set[str]] = {}

    def spying(member: Any, output: Path, data: Any, progress: bool) -> Any:
        seen[str(output)] = set(data.train.groups)
        return train(member, output, data, progress)

    def written(path: Path, ids: Any, values: Any) -> None:
        of = dict(zip(whole.ids, whole.groups, strict=True))
        asked[str(path.parent)] = {of[identity] for identity in ids}
        rate(path, ids, values)

    whole, rate = read_data(rows).train, ensemble.write_predictions
    monkeypatch.setattr(run, "train", spying)
    monkeypatch.setattr(ensemble, "write_predictions", written)
    metrics = train(config("ensemble", rows, encoder), tmp_path / "run", progress=False)
    assert len(seen) == 12  # 2 systems x 2 alphas x (2 folds and the whole)
    assert {place for place in seen if not place.endswith("whole")} == asked.keys()
    for place in asked:
        assert not seen[place] & asked[place]
        assert seen[place] | asked[place] == set(whole.groups)
    assert (metrics["members"], metrics["chosen"]) == (4, 2)
    with (tmp_path / "run" / "members.csv").open() as file:
        members = list(csv.DictReader(file))
    assert [bool(member["weight"]) for member in members].count(True) == 2
    assert all(float(member["weight"] or 0) >= 0 for member in members)


@pytest.mark.slow
def test_an_ensemble_in_parts_is_the_same(rows: str, encoder: str, tmp_path: Path) -> None:
    whole = train(config("ensemble", rows, encoder), tmp_path / "whole", progress=False)
    for part in ("1/2", "2/2"):
        found = train(config("ensemble", rows, encoder, part=part), tmp_path / "parts", progress=False)
    again = train(config("ensemble", rows, encoder), tmp_path / "parts", progress=False)
    assert again["dev_rmse"] == whole["dev_rmse"]
    assert not found or found == again


def test_a_file_of_vectors_is_read_in_both_forms(rows: str, tmp_path: Path) -> None:
    lines = [f"{word} {i} {-i / 2}" for i, word in enumerate(WORDS)]
    glove, word2vec = tmp_path / "glove.txt", tmp_path / "word2vec.txt"
    glove.write_text("\n".join(lines) + "\n")
    word2vec.write_text("\n".join([f"{len(lines)} 2", *lines]) + "\n")
    one, two = WordVectors.read(glove), WordVectors.read(word2vec)
    assert one.words == two.words == WORDS
    assert one.embed(["senate COURT", "unknown", ""]).tolist() == [[0.5, -0.25], [0.0, 0.0], [0.0, 0.0]]
    metrics = train(TrainConfig("cbow", dataset=rows, vectors=str(glove), alphas=(1.0,)), tmp_path / "run")
    assert metrics["dev_rmse"] < 0.9
    glove.write_text("a 1 2\nb 1 x\n")
    with pytest.raises(BadInput, match="line 2: is not a word with 2 numbers"):
        WordVectors.read(glove)


def test_bad_folders(rows: str, encoder: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"encoder .*nowhere: there is no such folder"):
        train(config("encoder", rows, str(tmp_path / "nowhere")), tmp_path / "a", progress=False)
    no_dev = write_folder(tmp_path / "no_dev", {"train": 3})
    with pytest.raises(BadInput, match=r"no file .*dev\.csv"):
        train(TrainConfig("baseline", dataset=no_dev), tmp_path / "b")
    write_csv(tmp_path / "no_dev" / "task-1" / "train.csv", ["id", "original", "edit", "grades", "meanGrade"], [])
    with pytest.raises(BadInput, match="there are no rows"):
        train(TrainConfig("baseline", dataset=no_dev), tmp_path / "c")
    unlabelled = write_folder(tmp_path / "unlabelled", {"train": 3, "dev": 2})
    write_csv(Path(unlabelled) / "task-1" / "dev.csv", ["id", "original", "edit"], [[1, "a <b/>", "c"]])
    with pytest.raises(BadInput, match=r"1 of 1 rows have no meanGrade \(id 1"):
        train(TrainConfig("baseline", dataset=unlabelled), tmp_path / "d")
    with pytest.raises(BadInput, match="leaves no headline"):
        train(TrainConfig("baseline", dataset=rows, share=0.001), tmp_path / "e")
    with pytest.raises(BadInput, match="is not a run folder"):
        load(tmp_path)
    train(TrainConfig("baseline", dataset=rows), tmp_path / "run")
    with pytest.raises(BadInput, match=r"other settings \(seed=0 there, 1 here"):
        train(TrainConfig("baseline", dataset=rows, seed=1), tmp_path / "run")
    with pytest.raises(BadInput, match="not empty and holds no run"):
        train(TrainConfig("baseline", dataset=rows), Path(rows))


def test_the_command(rows: str, tmp_path: Path) -> None:
    asked = ["humicroedit", "--dataset", rows, "-o", str(tmp_path / "run"), "--no-progress", "--system"]
    done = CliRunner().invoke(commands, [*asked, "baseline"])
    assert done.exit_code == 0, done.output
    assert "dev_rmse" in done.output
    refused = CliRunner().invoke(commands, [*asked, "baseline", "--lr", "1", "--no-freeze"])
    assert isinstance(refused.exception, BadInput)
    assert "does not use --freeze, --lr" in str(refused.exception)
    refused = CliRunner().invoke(commands, [*asked, "features", "--features", "length", "--corpus", rows])
    assert "--corpus is data of --features cooccurrence" in str(refused.exception)
    refused = CliRunner().invoke(commands, [*asked, "ridge", "--alphas", "1,x"])
    assert "alphas must be a number of at least 1e-12, not 'x'" in str(refused.exception)
