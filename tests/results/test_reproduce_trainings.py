"""Rows whose command trains: `reproduce` reads what that command writes, with tiny weights on the sample's rows."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from standins.commands import humor_tasks
from standins.humicroedit_rows import write_folder
from standins.published_rows import reproduced
from standins.small_sample import small_sample
from standins.tiny_clip_folder import saved
from standins.tiny_ofa import tiny_ofa
from standins.tiny_text import tiny_folder

from humor_tasks import load
from humor_tasks.files.writing import write_text
from humor_tasks.results.reproduce.rows import find_row

pytestmark = pytest.mark.slow
QUICK = ("--epochs", "1")
ON_CPU = ("--device", "cpu", "--no-progress")


def trained(row: str, names: dict[str, str], *more: str) -> None:
    """Run the row's printed command, with what is at hand in place of what it names."""
    _, *words = shlex.split(find_row(row).command)
    assert set(names) <= set(words), words
    humor_tasks(*(names.get(word, word) for word in words), *QUICK, *more)


def read(row: str, dataset: str, file: str) -> str:
    """What `reproduce` says: values, and that these are other rows."""
    code, told = reproduced(row, "--dataset", dataset, "--predictions", file)
    assert code == 6, told
    assert f"{row}: not the published rows: " in told
    assert ", here " in told
    return told


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return small_sample(tmp_path / "sample")


def explanations(dataset: str) -> list[str]:
    return [str(record.target) for record in load("explanation", dataset=dataset, fold="all").records]


@pytest.mark.cpu(20, "five networks of OFA")
def test_ofa_that_learns_to_explain(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("humor_tasks.lab.training.ofa.finetune.LONGEST", 2)
    tiny = tiny_ofa(Path("tiny"), explanations(sample), max_position_embeddings=1024)
    trained("perplexity-ofa-direct", {"OFA-Sys/ofa-huge": tiny}, *ON_CPU, "--dataset", sample, "--lr", "1e-3")
    told = read("perplexity-ofa-direct", sample, "run/metrics.json")
    count = len(explanations(sample))
    assert f"it is of {count} rows, and 651 are published." in told
    assert f", n {count}, " in told


@pytest.mark.cpu(20, "five networks of T5")
def test_t5_that_explains(sample: str) -> None:
    tiny = tiny_folder(Path("tiny"), explanations(sample), "t5", width=16, layers=1)
    more = (*ON_CPU, "--dataset", sample, "--lr", "1e-2")
    trained("perplexity-t5-large", {"google-t5/t5-large": tiny}, *more)
    assert find_row("perplexity-t5-large").command == find_row("explanation-t5-large").command
    assert "and 651 are published." in read("perplexity-t5-large", sample, "run/metrics.json")
    assert "bleu: published 3.54000, here " in read("explanation-t5-large", sample, "run/predictions_test.json")


@pytest.mark.cpu(20, "five networks of CLIP")
def test_clip_that_matches(sample: str) -> None:
    more = ("--dataset", sample, "--lr", "1e-3", "--pretrained", saved(Path.cwd()))
    trained("matching-clip-fine-tuned", {}, *ON_CPU, *more)
    assert "accuracy: published 0.62300, here " in read("matching-clip-fine-tuned", sample, "run/predictions_test.json")


def test_vectors_that_rate_headlines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(Path("rows"), {"train": 12, "train_funlines": 4, "dev": 6, "test": 6})
    words = (Path("rows") / "task-1" / "train.csv").read_text().replace("<", " ").replace("/>", " ").split()
    write_text(Path("vectors.txt"), "".join(f"{word} 0.1 0.2\n" for word in dict.fromkeys(words) if word.isalpha()))
    names = {"FOLDER": "rows", "GLOVE.txt": "vectors.txt"}
    trained("humicroedit-rating-cbow-orig", names)
    assert find_row("humicroedit-rating-cbow-orig").command == find_row("humicroedit-pairwise-cbow-orig").command
    for task, row, told in (
        (1, "humicroedit-rating-cbow-orig", "rmse: published 0.55900, here "),
        (2, "humicroedit-pairwise-cbow-orig", "accuracy: published 0.59900, here "),
    ):
        assert told in read(row, "rows", f"run/predictions_test_task-{task}.csv")
