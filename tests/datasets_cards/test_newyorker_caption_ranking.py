"""The packaged sample of the crowd's ratings: its captions are its own, and it opens as contests."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from typing import Any

import pytest
import yaml
from standins.cards import plain
from standins.paths import REPOSITORY

from humor_tasks.datasets_cards import folder
from humor_tasks.rows.contests.source import open_contests

CARD = folder("newyorker_caption_ranking")
SAMPLES = REPOSITORY / "tools" / "samples"
SPLITS = {"train": range(9001, 9010), "validation": range(9010, 9018), "test": range(9018, 9026)}
CONTESTS = [number for numbers in SPLITS.values() for number in numbers]
BANDS = {"top": 0, "r200": 200, "median": 745, "r1000": 1000}  # first rank; ten captions each
LAST = 1499
RANKS = [*(rank for first in BANDS.values() for rank in range(first, first + 10)), LAST]

Row = dict[str, str]


@cache
def table(split: str) -> tuple[Row, ...]:
    """The rows of a split, read without any library that could mend them."""
    with (CARD / "ranking" / f"{split}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def contest_rows(number: int) -> tuple[Row, ...]:
    return tuple(row for split in SPLITS for row in table(split) if row["contest_number"] == str(number))


def cartoons() -> dict[int, dict[str, Any]]:
    words = SAMPLES / "newyorker_caption_contest" / "cartoons.toml"
    listed = tomllib.loads(words.read_text(encoding="utf-8"))["cartoon"]
    return {cartoon["contest"]: cartoon for cartoon in listed}


@pytest.mark.slow
def test_no_caption_is_taken_from_the_corpus(crowd_captions: frozenset[str]) -> None:
    ours = {plain(row["caption"]) for number in CONTESTS for row in contest_rows(number)}
    assert len(ours) == 41 * len(CONTESTS) - 1
    assert not ours & crowd_captions


@pytest.mark.parametrize(
    ("split", "numbers"), [*SPLITS.items(), ("held_out", range(9010, 9026)), ("all", range(9001, 9026))]
)
def test_the_sample_opens_as_contests(split: Any, numbers: range) -> None:
    found = open_contests("sample", split=split)
    assert found.numbers == tuple(numbers)
    for number in numbers:
        held = found.contest(number)
        assert (held.place, held.entries, held.counts) == (RANKS, 1500, {"entries": 41})
        assert held.caption == [row["caption"] for row in contest_rows(number)]
        assert found.defects(number) == ()
        assert found.scenes[number].location == cartoons()[number]["location"]
        picture = found.picture(number)
        assert picture is not None
        assert picture.read().startswith(b"\x89PNG")


def test_the_card_names_its_files_and_states_the_size_of_the_sample() -> None:
    text = (CARD / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["license"] == "mit"
    named = {file["path"] for config in header["configs"] for file in config["data_files"]}
    assert named == {f"ranking/{split}.csv" for split in SPLITS}
    for split, numbers in SPLITS.items():
        assert f"| {split} | {numbers[0]} to {numbers[-1]} | {len(table(split))} |" in text
