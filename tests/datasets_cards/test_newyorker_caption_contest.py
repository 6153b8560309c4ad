"""The packaged sample of the caption contest corpus: its schema, its folds, its balance, and its pictures."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from datasets import List, Value, load_dataset
from PIL import Image, ImageStat
from standins.cards import data_files, plain
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.benchmarks.caption_contest.rows import from_description
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.models.choosers.shortcuts import credit

CARD = REPOSITORY / "datasets_cards" / "newyorker_caption_contest"
TASKS = ("matching", "ranking", "explanation")
ROWS_IN_BLOCK = {"matching": 10, "ranking": 10, "explanation": 5}
BLOCKS = range(5)
CONTESTS = range(9001, 9026)

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


def right_caption(row: Row) -> str:
    return row["caption_choices"][ord(row["label"]) - ord("A")]


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
def test_rows_are_sound(task: str) -> None:
    rows = sample_rows(task)
    assert len(rows) == 5 * ROWS_IN_BLOCK[task]
    ids = [row["instance_id"] for row in rows]
    assert len(set(ids)) == len(ids)
    for row in rows:
        assert re.fullmatch(r"[0-9a-f]{32}", row["instance_id"])
        assert row["contest_number"] in CONTESTS
        assert row["image"] == f"images/{row['contest_number']}.png"
        assert 2 <= len(row["entities"]) <= 4
        assert all(link.startswith("https://en.wikipedia.org/") for link in row["entities"])
        assert len(row["questions"]) == 1
        assert row["questions"][0].endswith("?")


def test_awkward_links_are_there() -> None:
    links = " ".join(link for row in sample_rows("explanation") for link in row["entities"])
    assert all(form in links for form in ("#", "_(disambiguation)", "%27s", "&redirect=no"))


@pytest.mark.parametrize("task", TASKS)
def test_from_description_repeats_the_row(task: str) -> None:
    for row in sample_rows(task):
        assert row["from_description"] == from_description(row, row["caption_choices"])


@pytest.mark.parametrize("number", BLOCKS)
def test_matching_uses_every_caption_alike(number: int) -> None:
    rows = block("matching", number)
    author = {right_caption(row): row["contest_number"] for row in rows}
    assert len(author) == 10, "two good captions for each of five contests"
    wrong = Counter(choice for row in rows for choice in row["caption_choices"] if choice != right_caption(row))
    assert wrong == dict.fromkeys(author, 4)
    for row in rows:
        assert len(row["caption_choices"]) == 5
        assert {author[choice] for choice in row["caption_choices"]} == set(author.values()), "one from each contest"


@pytest.mark.parametrize("number", BLOCKS)
def test_ranking_sets_the_good_against_the_okay(number: int) -> None:
    good = {right_caption(row) for row in block("matching", number)}
    rows = block("ranking", number)
    assert {right_caption(row) for row in rows} == good
    weak = [choice for row in rows for choice in row["caption_choices"] if choice not in good]
    assert len(set(weak)) == 10
    for contest in {row["contest_number"] for row in rows}:
        sources = [row["winner_source"] for row in rows if row["contest_number"] == contest]
        assert sorted(sources) == ["crowd_winner", "official_winner"]


@pytest.mark.parametrize("number", BLOCKS)
def test_explanations_explain_a_good_caption(number: int) -> None:
    good = {(row["contest_number"], right_caption(row)) for row in block("matching", number)}
    rows = block("explanation", number)
    assert len({row["contest_number"] for row in rows}) == 5
    for row in rows:
        assert (row["contest_number"], row["caption_choices"]) in good
        assert row["n_tokens_label"] == len(row["label"].split())
        assert 40 <= row["n_tokens_label"] <= 80


@pytest.mark.parametrize(("task", "letters"), [("matching", "ABCDE"), ("ranking", "AB")])
def test_letters_are_balanced_in_every_block(task: str, letters: str) -> None:
    for number in BLOCKS:
        rows = block(task, number)
        assert Counter(row["label"] for row in rows) == dict.fromkeys(letters, len(rows) // len(letters))
        assert {row["n_tokens_label"] for row in rows} == {1}


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


# ---- pictures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("contest", CONTESTS)
def test_picture(contest: int) -> None:
    path = CARD / "images" / f"{contest}.png"
    assert path.stat().st_size < 25_000
    with Image.open(path) as picture:
        picture.load()
        assert picture.format == "PNG"
        assert picture.width >= 400
        assert picture.height >= 300
        grey = picture.convert("L")
    assert ImageStat.Stat(grey).stddev[0] > 20, "something is drawn on it"


def test_there_is_one_picture_for_each_contest() -> None:
    assert sorted(path.name for path in (CARD / "images").iterdir()) == [f"{contest}.png" for contest in CONTESTS]


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
