"""Contests with the crowd's ratings: layouts, splits, descriptions, pictures, defects, and what cannot be read."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from standins.corpus import noise_png as png

from humor_tasks.errors import BadInput
from humor_tasks.rows.contests.contest_csv import read_contest
from humor_tasks.rows.contests.source import HELD_OUT, TEST, TWINS, VALIDATION, Contests, open_contests

HEAD = "caption,mean,precision,votes,not_funny,somewhat_funny,funny"


def opened_contests(folder: Path, **asked: Any) -> Contests:
    return open_contests(str(folder), **asked)


def written_lines(first: int, count: int = 4) -> list[str]:
    return [f"Caption {first}-{i},{2 - i / 10:.1f},0.1,20,10,{i},{10 - i}" for i in range(count)]


def by_contest(folder: Path, *contests: int, place: str = "", rows: int = 4) -> Path:
    (folder / place).mkdir(parents=True, exist_ok=True)
    for number in contests:
        (folder / place / f"{number}.csv").write_text("\n".join([HEAD, *written_lines(number, rows)]) + "\n")
    return folder


def by_split(folder: Path, **splits: tuple[int, ...]) -> Path:
    (folder / "ranking").mkdir(parents=True, exist_ok=True)
    for split, contests in splits.items():
        rows = [f"{number},{line}" for number in contests for line in written_lines(number)]
        (folder / "ranking" / f"{split}.csv").write_text("\n".join([f"contest_number,{HEAD}", *rows]) + "\n")
    return folder


def described_by(folder: Path, *contests: int) -> None:
    (folder / "gpt4o_description").mkdir()
    rows = [
        {"contest_number": n, "location": "a bar", "canny": f"Scene {n}.", "uncanny": "It floats.", "entities": ["Bar"]}
        for n in contests
    ]
    (folder / "gpt4o_description" / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_papers_91_contests() -> None:
    assert (len(VALIDATION), len(TEST), len(set(HELD_OUT)), sum(HELD_OUT)) == (44, 47, 91, 58966)
    assert not set(VALIDATION) & set(TEST)
    assert set(TWINS.values()) <= set(HELD_OUT)
    assert not set(TWINS) & set(HELD_OUT)


@pytest.mark.parametrize("place", ["", "crowd", "ranking", "ranking/source"])
def test_a_file_for_each_contest(tmp_path: Path, place: str) -> None:
    folder = by_contest(tmp_path, 510, 536, 543, 646, 647, 800, place=place)
    found = {
        split: opened_contests(folder, split=split).numbers
        for split in ("held_out", "validation", "test", "train", "all")
    }
    assert found["held_out"] == (536, 543, 646)
    assert found["validation"] == (536, 646)
    assert found["test"] == (543,)
    assert found["train"] == (510, 800)  # 647 has the captions of 646
    assert found["all"] == (510, 536, 543, 646, 647, 800)
    assert opened_contests(folder).contest(536).caption[0] == "Caption 536-0"


def test_a_file_for_each_split(tmp_path: Path) -> None:
    folder = by_split(tmp_path, train=(510, 647), validation=(536,), test=(9001, 9002))
    assert opened_contests(folder).numbers == (536, 9001, 9002)
    assert opened_contests(folder, split="train").numbers == (510,)
    assert opened_contests(folder, split="all").numbers == (510, 536, 647, 9001, 9002)
    assert opened_contests(folder, split="test").contest(9002).caption == [f"Caption 9002-{i}" for i in range(4)]


def test_only_the_file_of_the_split_is_read(tmp_path: Path) -> None:
    folder = by_split(tmp_path, validation=(536,), test=(543,))
    (folder / "ranking" / "train.csv").write_text("damaged")
    assert opened_contests(folder, split="validation").contest(536).number == 536


def test_ranks_of_an_excerpt(tmp_path: Path) -> None:
    path = tmp_path / "9001.csv"
    rows = [f"{rank},{line}" for rank, line in zip((0, 1, 200, 1499), written_lines(9001), strict=True)]
    path.write_text("\n".join([f"rank,{HEAD}", *rows]) + "\n")
    contest = read_contest(path)
    assert (contest.place, contest.entries) == ([0, 1, 200, 1499], 1500)


@pytest.mark.parametrize(
    "ranks", [("0.0", "1.0", "2.0", "3.0"), ("", "", "", ""), ("1", "2", "3", "4"), ("0", "2", "1", "3")]
)
def test_other_ranks_are_the_order_of_rows(tmp_path: Path, ranks: tuple[str, ...]) -> None:
    path = tmp_path / "9001.csv"
    rows = [f"{rank},{line}" for rank, line in zip(ranks, written_lines(9001), strict=True)]
    path.write_text("\n".join([f"rank,{HEAD}", *rows]) + "\n")
    contest = read_contest(path)
    assert (contest.place, contest.entries) == ([0, 1, 2, 3], 4)


def test_an_unusable_entry_keeps_its_rank(tmp_path: Path) -> None:
    by_contest(tmp_path, 536)
    path = tmp_path / "536.csv"
    path.write_text(path.read_text().replace("Caption 536-1", "..."))
    contest = opened_contests(tmp_path).contest(536)
    assert (contest.place, contest.entries) == ([0, 2, 3], 4)


def test_descriptions_and_annotations(tmp_path: Path) -> None:
    folder = by_contest(tmp_path, 536)
    described_by(folder, 536)
    assert opened_contests(folder).scenes[536].description == "Scene 536."
    words = {"image_description": "Said by people.", "image_uncanny_description": "It floats."}
    links = {"image_location": "a bar", "link_1": "https://en.wikipedia.org/wiki/Bar"}
    hits = {"description_hit": [words], "link_hit": [links]}
    entry = {"contest_number": 536, "official_newyorker_finalists": "UNKNOWN", "mturk_annotations": hits}
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"536": entry}))
    assert opened_contests(folder, annotations=str(given)).scenes[536].description == "Said by people."
    (folder / "all_annotations.json").write_text(given.read_text())
    assert opened_contests(folder).scenes[536].description == "Said by people."


def test_pictures(tmp_path: Path) -> None:
    folder = by_contest(tmp_path, 536, 607, 644)
    (folder / "cartoons").mkdir()
    for number, colour in ((536, 1), (605, 2), (607, 2), (644, 4), (645, 4)):
        (folder / "cartoons" / f"{number}.png").write_bytes(png(colour))
    contests = opened_contests(folder)
    picture = contests.picture(536)
    assert picture is not None
    assert picture.read() == png(1)
    with pytest.raises(BadInput, match=r"607\.png: is the picture of contest 605 \(equal SHA-256\)"):
        contests.picture(607)
    with pytest.raises(BadInput, match=r"644\.png: is the picture of contest 645"):
        contests.picture(644)
    (folder / "cartoons" / "607.png").write_bytes(png(3))
    mended = opened_contests(folder).picture(607)
    assert mended is not None
    assert mended.read() == png(3)
    assert opened_contests(folder).picture(543) is None


def test_doubtful_ratings_are_told(tmp_path: Path) -> None:
    folder = by_contest(tmp_path, 536)
    broken = [f"Caption {i},{2.0 if i < 2 else 1.0},0.1,20,20,0,0" for i in range(40)]
    broken[:2] = [line.replace("20,20,0,0", "20,0,20,0") for line in broken[:2]]
    thin = [f"{line.split(',')[0]},1.0,0.2,7,7,0,0" for line in written_lines(690)]
    (folder / "600.csv").write_text("\n".join([HEAD, *broken]) + "\n")
    (folder / "690.csv").write_text("\n".join([HEAD, *thin]) + "\n")
    contests = opened_contests(folder)
    assert contests.defects(536) == ()
    assert list(map(str, contests.defects(600))) == ["broken scoring: 95.0% of captions have the same mean"]
    assert contests.defects(690)[0] == ("thin votes", "median 7")


def test_fingerprints_follow_files_and_descriptions(tmp_path: Path) -> None:
    folder = by_contest(tmp_path / "one", 536, 537)
    prints = {opened_contests(folder).fingerprint((536,)), opened_contests(folder).fingerprint((536, 537))}
    by_contest(folder, 536, rows=3)
    prints.add(opened_contests(folder).fingerprint((536,)))
    described_by(folder, 536)
    prints.add(opened_contests(folder).fingerprint((536,)))
    assert len(prints) == 4


BAD: list[tuple[dict[str, str], dict[str, Any], str]] = [
    ({}, {}, "holds no captions; there must be NUMBER.csv"),
    ({"800.csv": HEAD + "\nA joke,1.5,0.1,20,10,10,0\n"}, {}, "has no contest of split held_out"),
    ({"536.csv": "caption\nA joke\nAnother\n"}, {}, r"536\.csv: contest 536 has no ratings; give a file with mean"),
    ({"536.csv": HEAD + "\nA joke,1.5,0.1,20,10,10,0\n"}, {"numbers": [537]}, "split held_out has no 1 contest: 537"),
    ({"536.csv": HEAD + "\nA joke,1.5,0.1,20,10,10,0\n"}, {"revision": "main"}, "revision=main is for hub datasets"),
    ({"ranking/test.csv": HEAD + "\nA joke,1.5,0.1,20,10,10,0\n"}, {}, "there is no column of contest numbers"),
    ({"ranking/test.csv": f"contest_number,{HEAD}\n5.5,A joke,1.5,0.1,20,10,10,0\n"}, {}, "5.5, no contest's number"),
    (
        dict.fromkeys(
            ("ranking/test.csv", "ranking/validation.csv"), f"contest_number,{HEAD}\n9,A joke,1.5,0.1,20,10,10,0\n"
        ),
        {},
        r"test\.csv: contest 9 is also in validation\.csv; keep it in one split",
    ),
    (
        {"536.csv": HEAD + "\nA joke,1.5,0.1,20,10,10,0\n", "gpt4o_description/a.jsonl": '{"contest_number": 536}\n'},
        {},
        r"a\.jsonl, line 1: location",
    ),
    (
        {"536.csv": HEAD + "\nA joke,1.5,0.1,20,10,10,0\n", "a_annotations.json": "{}", "b_annotations.json": "{}"},
        {},
        "has 2 files of annotations; name one with annotations=FILE",
    ),
]


@pytest.mark.parametrize(("files", "asked", "told"), BAD)
def test_bad_input(tmp_path: Path, files: dict[str, str], asked: dict[str, Any], told: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=told):
        contests = opened_contests(tmp_path, **asked)
        contests.contest(contests.numbers[0])


# ---- real rows ----------------------------------------------------------------------------------


def test_real_contests(real_data: Path) -> None:
    contests = opened_contests(real_data / "newyorker_raw")
    assert contests.numbers == VALIDATION
    assert set(contests.numbers) <= set(contests.scenes)
    assert len(opened_contests(real_data / "newyorker_raw", split="all").numbers) == 120
    assert 647 not in opened_contests(real_data / "newyorker_raw", split="train").numbers


@pytest.mark.slow
def test_the_standard_errors_of_real_rows(real_data: Path) -> None:
    """precision = sqrt(max(1, SS) / (v (v - 1))), where the counts make the mean and the votes; of six contests."""
    from humor_tasks.files.csv_files import read_csv

    checked = 0
    for path in random.Random(0).sample(sorted((real_data / "newyorker_raw" / "crowd").glob("*.csv")), 6):
        for row in read_csv(path, ()).rows:
            counts = [int(row[name]) for name in ("not_funny", "somewhat_funny", "funny")]
            votes, mean = sum(counts), float(row["mean"])
            points = counts[0] + 2 * counts[1] + 3 * counts[2]
            if votes < 2 or votes != int(row["votes"]) or abs(points / votes - mean) > 1e-9:
                continue
            squares = counts[0] + 4 * counts[1] + 9 * counts[2] - points * points / votes
            expected = math.sqrt(max(1.0, squares) / (votes * (votes - 1)))
            assert math.isclose(float(row["precision"]), expected, rel_tol=1e-6), (path, row)
            checked += 1
    assert checked > 20_000


def test_an_entry_that_is_left_out_of_an_unsorted_file_has_the_rank_of_its_mean(tmp_path: Path) -> None:
    rows = ["Call me@example.org,1.1,0.1,20", "Worst caption,1.2,0.1,20", "Best caption,1.9,0.1,20"]
    (tmp_path / "510.csv").write_text("\n".join(["caption,mean,precision,votes", *rows]) + "\n")
    contest = read_contest(tmp_path / "510.csv")
    assert (contest.caption, contest.place) == (["Best caption", "Worst caption"], [0, 1])
    assert contest.entries == 3


@pytest.mark.parametrize("precision", ["-0.1", "0"])
def test_a_standard_error_that_is_not_positive_is_refused(tmp_path: Path, precision: str) -> None:
    (tmp_path / "510.csv").write_text(f"caption,mean,precision,votes\nA good caption,1.5,{precision},20\n")
    with pytest.raises(BadInput, match=r"510.csv, line 2: precision is .*above 0"):
        read_contest(tmp_path / "510.csv")
