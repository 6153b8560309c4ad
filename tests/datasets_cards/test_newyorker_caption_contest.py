"""The packaged sample of the caption contest corpus: its schema, its folds, its shortcuts, and its origin."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from datasets import List, Value, load_dataset
from standins.cards import data_files, plain
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.benchmarks.caption_contest.released import from_description
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.models.choosers.shortcuts import credit

CARD = REPOSITORY / "datasets_cards" / "newyorker_caption_contest"
TASKS = ("matching", "ranking", "explanation")
BLOCKS = range(5)

Row = dict[str, Any]


def config_name(task: str, fold: int, pixels: bool = False) -> str:
    return task + ("_from_pixels" if pixels else "") + (f"_{fold}" if fold else "")


@cache
def block(folder: str, number: int) -> tuple[Row, ...]:
    """The rows of one JSONL file, read without any library that could mend them."""
    text = (CARD / folder / f"block{number}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def sample_rows(task: str) -> list[Row]:
    return [row for number in BLOCKS for row in block(task, number)]


# ---- configurations and splits --------------------------------------------------------------------


def kind(feature: Any) -> str:
    """A column's type in one word; JSON has one kind of integer, the corpus's files narrow it to 32 bits."""
    if isinstance(feature, List):
        return f"list of {kind(feature.feature)}"
    assert isinstance(feature, Value)
    return "int" if feature.dtype in ("int32", "int64") else feature.dtype


def schema(task: str, pixels: bool) -> dict[str, str]:
    """The corpus's columns in its order, and the canary."""
    scene = {
        "image_location": "string",
        "image_description": "string",
        "image_uncanny_description": "string",
        "entities": "list of string",
        "questions": "list of string",
    }
    columns = {"image": "string", "contest_number": "int"} | ({} if pixels else scene)
    columns["caption_choices"] = "string" if task == "explanation" else "list of string"
    if task == "ranking":
        columns["winner_source"] = "string"
    columns |= {"label": "string", "n_tokens_label": "int", "instance_id": "string"}
    return columns | ({} if pixels else {"from_description": "string"}) | {"canary": "string"}


def blocks_of(fold: int) -> dict[str, list[int]]:
    """The blocks of each split of a fold: the validation of one is the test of the next."""
    following = (fold + 1) % 5
    return {"test": [fold], "validation": [following], "train": sorted(set(BLOCKS) - {fold, following})}


def test_the_card_declares_thirty_configurations_of_these_blocks() -> None:
    header = yaml.safe_load((CARD / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert header["license"] == "mit"
    assert data_files(CARD) == {
        config_name(task, fold, pixels): {
            split: [CARD / config_name(task, 0, pixels) / f"block{number}.jsonl" for number in numbers]
            for split, numbers in blocks_of(fold).items()
        }
        for task in TASKS
        for fold in BLOCKS
        for pixels in (False, True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_schema_is_the_corpuss(task: str, real_corpus: str, tmp_path: Path) -> None:
    ours = load_dataset(str(CARD), config_name(task, 4), split="test", cache_dir=str(tmp_path))
    assert ours.to_list() == list(block(task, 4))
    real = load_dataset(real_corpus, task, split="validation", cache_dir=str(tmp_path))
    found, expected = ({name: kind(each) for name, each in data.features.items()} for data in (real, ours))
    assert expected == schema(task, pixels=False)
    del expected["canary"], expected["image"]  # the local copy has pictures in its pixel configuration only
    assert found == expected


@pytest.mark.parametrize("task", TASKS)
def test_pixel_rows_are_the_same_instances(task: str) -> None:
    for number in BLOCKS:
        kept = schema(task, pixels=True)
        assert [{name: row[name] for name in kept} for row in block(task, number)] == list(
            block(f"{task}_from_pixels", number)
        )


# ---- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_from_description_repeats_the_row(task: str) -> None:
    for row in sample_rows(task):
        assert row["from_description"] == from_description(row, row["caption_choices"])


# ---- shortcuts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "rule", "low", "high"),
    [
        ("matching", "longest", 0.1, 0.35),
        ("matching", "overlap", 0.2, 0.6),
        ("ranking", "longest", 0.35, 0.65),
        ("ranking", "overlap", 0.3, 0.7),
    ],
)
def test_shortcuts_do_not_solve_it(task: str, rule: str, low: float, high: float) -> None:
    records = load(task, dataset="sample", fold="all").records
    scores = Baseline(rule).score([Question(r.id, r.context, r.choices) for r in records])
    right = [credit(each, "ABCDE".index(r.target or "")) for each, r in zip(scores, records, strict=True)]
    assert low <= sum(right) / len(right) <= high


# ---- origin ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_cards_defects_are_there(real_data: Path) -> None:
    import pyarrow.parquet as parquet

    def rows(name: str) -> list[dict[str, Any]]:
        columns = ["instance_id", "contest_number", "caption_choices"]
        return parquet.read_table(real_data / "newyorker_caption_contest" / name, columns=columns).to_pylist()

    matching = rows("matching/validation.parquet")
    twice = {row["instance_id"] for row in matching if len(set(row["caption_choices"])) < 5}
    assert twice == {"2305a8cc71ebc4ee40e98f00fc212342", "b3f839de559f94e9b1b41694ec0d069a"}
    assert all(identity in (CARD / "README.md").read_text(encoding="utf-8") for identity in twice)
    trained, other = rows("ranking/train.parquet"), rows("ranking_3/validation.parquet")
    with_647 = [row for row in (*trained, *other) if row["contest_number"] == 647]
    assert len(with_647) == 18 + 3
    with (real_data / "newyorker_raw" / "crowd" / "646.csv").open(encoding="utf-8", newline="") as file:
        of_646 = {plain(row["caption"]) for row in csv.DictReader(file)}
    assert {plain(choice) for row in with_647 for choice in row["caption_choices"]} <= of_646


def test_no_caption_is_taken_from_the_corpus(real_data: Path, crowd_captions: frozenset[str]) -> None:
    """Compared without case and punctuation, with every caption of the real rows and of the crowd's files."""
    import pyarrow.parquet as parquet

    real: set[str] = set()
    for path in (real_data / "newyorker_caption_contest").glob("*/*.parquet"):
        for choices in parquet.read_table(path, columns=["caption_choices"])["caption_choices"].to_pylist():
            real |= {plain(choice) for choice in ([choices] if isinstance(choices, str) else choices)}
    ours = {
        plain(choice)
        for task in ("matching", "ranking")
        for row in sample_rows(task)
        for choice in row["caption_choices"]
    }
    assert len(ours) == 100
    assert len(real) > 1000
    assert not ours & (real | crowd_captions)
