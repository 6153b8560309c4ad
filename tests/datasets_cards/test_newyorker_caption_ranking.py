"""The packaged sample of the crowd's ratings: schema, ranks and ratings, its balance, and its captions."""

from __future__ import annotations

import csv
import itertools
import math
import statistics
import tomllib
from collections import Counter
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


def band(number: int, name: str) -> list[Row]:
    return [row for row in contest_rows(number) if BANDS[name] <= int(row["rank"]) < BANDS[name] + 10]


def cartoons() -> dict[int, dict[str, Any]]:
    words = SAMPLES / "newyorker_caption_contest" / "cartoons.toml"
    listed = tomllib.loads(words.read_text(encoding="utf-8"))["cartoon"]
    return {cartoon["contest"]: cartoon for cartoon in listed}


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_has_its_contests_with_the_ranks_of_every_group(split: str) -> None:
    expected = [(str(number), str(rank)) for number in SPLITS[split] for rank in RANKS]
    assert [(row["contest_number"], row["rank"]) for row in table(split)] == expected


@pytest.mark.parametrize("number", CONTESTS)
def test_mean_and_precision_follow_from_the_counts(number: int) -> None:
    for row in contest_rows(number):
        counts = {1: int(row["not_funny"]), 2: int(row["somewhat_funny"]), 3: int(row["funny"])}
        votes = sum(counts.values())
        ratings = list(itertools.chain.from_iterable([rating] * n for rating, n in counts.items()))
        assert min(counts.values()) >= 0
        assert votes == int(row["votes"])
        assert float(row["mean"]) == sum(ratings) / votes
        squares = statistics.variance(ratings) * (votes - 1)
        assert math.isclose(float(row["precision"]), math.sqrt(max(1, squares) / (votes * (votes - 1))))


@pytest.mark.parametrize("number", CONTESTS)
def test_ratings_and_votes_fall_with_rank_as_in_the_corpus(number: int) -> None:
    rows = contest_rows(number)
    means = [float(row["mean"]) for row in rows]
    assert all(a >= b for a, b in itertools.pairwise(means))
    assert means[-1] == 1
    level = {name: statistics.mean(float(row["mean"]) for row in band(number, name)) for name in BANDS}
    limits = {"top": (1.7, 2.1), "r200": (1.35, 1.55), "median": (1.25, 1.4), "r1000": (1.2, 1.35)}
    assert all(low < level[name] < high for name, (low, high) in limits.items()), level
    assert level["r200"] > level["median"] > level["r1000"]
    votes = {name: statistics.mean(int(row["votes"]) for row in band(number, name)) for name in BANDS}
    assert votes["top"] > 4000 > 400 > votes["r200"] > votes["median"] > votes["r1000"] > int(rows[-1]["votes"]) > 100


@pytest.mark.parametrize("number", CONTESTS)
def test_the_ten_best_are_three_standard_errors_above_the_others(number: int) -> None:
    for better, worse in itertools.product(band(number, "top"), band(number, "r1000")):
        error = math.hypot(float(better["precision"]), float(worse["precision"]))
        assert float(better["mean"]) - float(worse["mean"]) > 3 * error


def test_captions_are_lines_of_text_and_differ_but_for_one_repeated_in_train() -> None:
    captions = [row["caption"] for number in CONTESTS for row in contest_rows(number)]
    assert all(caption == " ".join(caption.split()) and 10 <= len(caption) <= 100 for caption in captions)
    repeated = [caption for caption, times in Counter(map(plain, captions)).items() if times > 1]
    assert repeated == ["this is going to be a long afternoon for both of us"]
    rows = [row for row in table("train") if plain(row["caption"]) == repeated[0]]
    assert [(row["contest_number"], int(row["rank"]) // 100) for row in rows] == [("9006", 7), ("9006", 10)]
    assert len({row["mean"] for row in rows}) == 2
    finalists = {
        plain(text) for each in cartoons().values() for text in (each["official"], each["crowd"], *each["okay"])
    }
    assert not finalists & set(map(plain, captions))


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
