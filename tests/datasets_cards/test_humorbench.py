"""HumorBench's packaged data: the original sample, the lists of keys, and the list of prices."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from standins.cards import csv_rows, plain
from standins.paths import REPOSITORY

CARD = REPOSITORY / "datasets_cards" / "humorbench"
CORPUS_SHA256 = "d7a91c81978757aeb8e6215b02932d4487ece85187d2e9b76d685c275a9b27ea"
ELEMENT_COLUMNS = ["idx", "cartoonstock_id", "contest_number", "description", "caption", "element"]
RUBRIC_COLUMNS = [
    *("idx", "contest_number", "description", "caption", "element"),
    *("explanation", "explainer_model", "explainer_family", "label"),
]
EXPLAINERS = ("sample-explainer-a", "sample-explainer-b")
REAL_SIZES = {"hard": 100, "hard_captions": 170, "wordplay": 119, "cultural_reference": 181, "toxic_or_shocking": 78}
OWN_SIZES = {"visual_link": 382, "subverted_trope": 95, "multi_step": 100}  # lists of this package
SAMPLE_SUBSETS = ("wordplay", "cultural_reference", "toxic_or_shocking")
ALL_SUBSETS = [*REAL_SIZES, *OWN_SIZES, *(f"sample/{name}" for name in SAMPLE_SUBSETS)]

Row = dict[str, str]


def elements() -> tuple[Row, ...]:
    return csv_rows(CARD / "comprehensive_annotations.csv")


def rubric() -> tuple[Row, ...]:
    return csv_rows(CARD / "sample_rubric.csv")


@cache
def subset(name: str) -> dict[str, Any]:
    return json.loads((CARD / "subsets" / f"{name}.json").read_text(encoding="utf-8"))


def key(row: Row) -> str:
    element = " ".join(row["element"].split())
    return f"{row['idx']}-{hashlib.sha256(element.encode('utf-8')).hexdigest()[:8]}"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- the sample: elements -------------------------------------------------------------------------


def test_elements_have_the_corpuss_columns(real_data: Path) -> None:
    real = csv_rows(real_data / "humorbench" / "comprehensive_annotations.csv")
    assert list(elements()[0]) == list(real[0]) == ELEMENT_COLUMNS
    graded = csv_rows(real_data / "humorbench" / "gpt_4o_rubric.csv")
    assert list(rubric()[0]) == list(graded[0]) == RUBRIC_COLUMNS


def test_elements_are_enough_and_sound() -> None:
    rows = elements()
    assert list(rows[0]) == ELEMENT_COLUMNS
    assert len(rows) == 38
    assert [row["idx"] for row in rows] == [str(9001 + i) for i in range(len(rows))]
    assert len({key(row) for row in rows}) == len(rows)
    for row in rows:
        assert None not in row
        assert None not in row.values()
        for column in ("description", "caption", "element"):
            assert row[column] == " ".join(row[column].split()) != ""
        assert (row["contest_number"] == "") != (row["cartoonstock_id"] == "")
        assert 2 <= len(re.findall(r"[.!?][”\"]?(?:\s|$)", row["description"])) <= 4


def test_captions_share_cartoons_and_elements_share_captions() -> None:
    cartoons = {row["description"] for row in elements()}
    captions = {(row["description"], row["caption"]) for row in elements()}
    assert len(cartoons) == 11
    assert len(captions) == len({caption for _, caption in captions}) == 24
    assert set(Counter(row["caption"] for row in elements()).values()) == {1, 2, 3}
    assert sum(count > 1 for count in Counter(description for description, _ in captions).values()) >= 9
    numbers = {(row["description"], row["contest_number"], row["cartoonstock_id"]) for row in elements()}
    assert len(numbers) == len(cartoons)


# ---- the sample: rubric ---------------------------------------------------------------------------


def test_rubric_rows_repeat_elements() -> None:
    by_key = {key(row): row for row in elements()}
    assert len(rubric()) == 40
    for row in rubric():
        element = by_key[key(row)]
        assert all(row[column] == element[column] for column in ("idx", "description", "caption", "element"))
        assert row["contest_number"] == element["contest_number"].removesuffix(".0")


def test_rubric_has_both_explainers_on_the_same_elements() -> None:
    assert Counter(row["explainer_model"] for row in rubric()) == dict.fromkeys(EXPLAINERS, 20)
    first, second = ([key(row) for row in rubric() if row["explainer_model"] == name] for name in EXPLAINERS)
    assert first == second
    assert len(set(first)) == 20


# ---- the card -------------------------------------------------------------------------------------


def test_the_card_says_what_is_there() -> None:
    text = (CARD / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(text.split("---")[1])
    assert front["license"] == "mit"
    assert [config["config_name"] for config in front["configs"]] == ["elements", "autograder"]
    assert CORPUS_SHA256 in text
    for name, size in REAL_SIZES.items():
        assert name in text
        assert str(size) in text
    assert f"`wordplay` ({len(subset('sample/wordplay')['keys'])})" in text
    assert f"{len(elements())} elements of 24 captions under 11 cartoons, and {len(rubric())} explanations" in text


# ---- subsets --------------------------------------------------------------------------------------


def test_there_are_these_lists() -> None:
    folder = CARD / "subsets"
    found = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.json")}
    assert found == set(ALL_SUBSETS)


@pytest.mark.parametrize("name", ALL_SUBSETS)
def test_lists_are_sound(name: str) -> None:
    record = subset(name)
    assert list(record) == ["subset", "corpus_sha256", "source", "note", "keys"]
    assert record["subset"] == name.removeprefix("sample/")
    own = name in OWN_SIZES
    assert list(record["source"]) == (["what", "labels"] if own else ["what", "repository", "commit", "path"])
    assert all(isinstance(text, str) for text in [record["note"], *record["source"].values()])
    assert record["source"]["what"]
    assert record["note"]
    assert len(set(record["keys"])) == len(record["keys"]) > 0
    assert all(re.fullmatch(r"\d+-[0-9a-f]{8}", k) for k in record["keys"])
    numbers = [int(k.split("-")[0]) for k in record["keys"]]
    assert numbers == sorted(numbers), "in the order of the corpus"


@pytest.mark.parametrize(("name", "size"), REAL_SIZES.items())
def test_lists_of_the_corpus_have_the_published_sizes(name: str, size: int) -> None:
    record = subset(name)
    assert len(record["keys"]) == size
    assert record["corpus_sha256"] == CORPUS_SHA256
    assert record["source"]["repository"] == "ReubenNarad/Humor-Bench"
    assert re.fullmatch(r"[0-9a-f]{40}", record["source"]["commit"])


def test_lists_of_this_package_say_who_made_them(real_data: Path) -> None:
    known = {key(row) for row in csv_rows(real_data / "humorbench" / "comprehensive_annotations.csv")}
    for name, size in OWN_SIZES.items():
        record = subset(name)
        assert (len(record["keys"]), record["corpus_sha256"]) == (size, CORPUS_SHA256)
        assert set(record["keys"]) < known
        assert "no person has checked" in record["source"]["labels"]


@pytest.mark.parametrize("name", SAMPLE_SUBSETS)
def test_lists_of_the_sample_belong_to_it(name: str) -> None:
    record = subset(f"sample/{name}")
    assert record["corpus_sha256"] == digest(CARD / "comprehensive_annotations.csv")
    assert set(record["keys"]) < {key(row) for row in elements()}


@pytest.mark.parametrize("name", REAL_SIZES)
def test_lists_of_the_corpus_belong_to_it(name: str, real_data: Path) -> None:
    path = real_data / "humorbench" / "comprehensive_annotations.csv"
    assert subset(name)["corpus_sha256"] == digest(path)
    keys = [key(row) for row in csv_rows(path)]
    assert len(set(keys)) == len(keys) == 499
    wanted = set(subset(name)["keys"])
    assert subset(name)["keys"] == [k for k in keys if k in wanted]


def test_hard_captions_are_whole_captions(real_data: Path) -> None:
    wanted = set(subset("hard_captions")["keys"])
    rows = csv_rows(real_data / "humorbench" / "comprehensive_annotations.csv")
    captions = {row["caption"] for row in rows if key(row) in wanted}
    assert len(captions) == 100
    assert {key(row) for row in rows if row["caption"] in captions} == wanted
    assert len(wanted & set(subset("hard")["keys"])) == 91


# ---- origin ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_is_taken_from_the_corpora(real_data: Path, crowd_captions: frozenset[str]) -> None:
    """Compared with HumorBench's texts and with every caption that the caption contest's crowd rated."""
    columns = ("description", "caption", "element", "explanation")
    ours = {plain(row[column]) for row in (*elements(), *rubric()) for column in columns if column in row}
    real: set[str] = set()
    for path in (real_data / "humorbench").glob("*.csv"):
        real |= {plain(row[column]) for row in csv_rows(path) for column in columns if column in row}
    assert len(real) > 900
    assert not ours & (real | crowd_captions)
