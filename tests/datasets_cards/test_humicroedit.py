"""Humicroedit's packaged data: the card, the original sample, and what is known of the real files."""

from __future__ import annotations

import hashlib
import re
import warnings
from pathlib import Path

import pytest
import yaml
from standins.cards import csv_rows
from standins.paths import REPOSITORY

from humor_tasks.benchmarks.humicroedit import corpus

CARD = REPOSITORY / "datasets_cards" / "humicroedit"
HEADLINES = {"train": 43, "train_funlines": 8, "dev": 9, "test": 12}
TIES = {"train": 9, "train_funlines": 1, "dev": 2, "test": 2}
REAL_ROWS = {
    (1, "train"): 9652, (1, "train_funlines"): 8248, (1, "dev"): 2419, (1, "test"): 3024,
    (2, "train"): 9381, (2, "train_funlines"): 1958, (2, "dev"): 2355, (2, "test"): 2960,
}  # fmt: skip
COLUMNS = {
    1: ["id", "original", "edit", "grades", "meanGrade"],
    2: [
        *("id", "original1", "edit1", "grades1", "meanGrade1"),
        *("original2", "edit2", "grades2", "meanGrade2", "label"),
    ],
}
CONFIGS = {"rating": 1, "pairwise": 2}

Row = dict[str, str]


def sample(task: int, split: str) -> tuple[Row, ...]:
    return csv_rows(CARD / f"task-{task}" / f"{split}.csv")


def card() -> str:
    return (CARD / "README.md").read_text(encoding="utf-8")


def headline(original: str) -> str:
    return " ".join(re.sub(r"<([^<>]*)/>", r"\1", original).split())


def tokens_of(text: str) -> list[str]:
    """Compared without case, punctuation and the form of the apostrophe."""
    return re.findall(r"[a-z0-9']+", text.lower().replace("’", "'"))


@pytest.mark.parametrize("split", corpus.SPLITS)
@pytest.mark.parametrize("task", [1, 2])
def test_files_have_the_corpuss_columns(task: int, split: str) -> None:
    rows = sample(task, split)
    assert list(rows[0]) == COLUMNS[task]
    assert len(rows) == 3 * HEADLINES[split]
    for row in rows:
        assert None not in row
        assert all(row.values())
    data = (CARD / f"task-{task}" / f"{split}.csv").read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n")


def test_columns_are_those_of_the_real_files(real_data: Path) -> None:
    for task, split in REAL_ROWS:
        path = real_data / "humicroedit" / f"task-{task}" / f"{split}.csv"
        if split != "test":  # the labelled test rows are not among the shared ones
            assert list(csv_rows(path)[0]) == COLUMNS[task]


@pytest.mark.parametrize("split", corpus.SPLITS)
def test_the_loader_reads_every_file(split: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        headlines = corpus.headlines(corpus.read_split("sample", 1, split))
        pairs = corpus.pairs(corpus.read_split("sample", 2, split))
    assert len(headlines) == len(pairs) == 3 * HEADLINES[split]
    assert all(len(found.grades) == 5 and found.mean is not None for found in headlines)
    assert sum(pair.label == 0 for pair in pairs) == TIES[split]


def test_the_card_says_what_is_there() -> None:
    text = card()
    front = yaml.safe_load(text.split("---")[1])
    assert front["license"] == "mit"
    assert [config["config_name"] for config in front["configs"]] == list(CONFIGS)
    for split, size in HEADLINES.items():
        assert f"| {split} | {size} | {3 * size} | {3 * size} | {TIES[split]} |" in text
    total = sum(HEADLINES.values())
    assert f"{total} headlines with three edits each, {3 * total} edits and {3 * total} pairs" in text


def test_the_card_pins_the_real_files(real_data: Path) -> None:
    text = card()
    for (task, split), size in REAL_ROWS.items():
        name = f"task-{task}/{split}.csv"
        line = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        assert f"| {size:,} |" in line
        path = real_data / "humicroedit" / name
        if path.is_file():
            assert hashlib.sha256(path.read_bytes()).hexdigest() in line
            assert len(csv_rows(path)) == size
        else:
            assert split == "test"


def test_the_cards_defects_are_there(real_data: Path) -> None:
    folder = real_data / "humicroedit"
    funlines = csv_rows(folder / "task-1" / "train_funlines.csv")
    off = [r for r in funlines if abs(sum(map(int, r["grades"])) / len(r["grades"]) - float(r["meanGrade"])) > 0.06]
    assert len(off) == 7
    assert all("4" in row["grades"] for row in off)
    assert sum(row["edit"] == "None" for row in funlines) == 3
    for split, lost, respelt in (("train", 523, 21), ("dev", 124, 6)):
        ones = {row["id"]: row for row in csv_rows(folder / "task-1" / f"{split}.csv")}
        twos = {
            identity: (row[f"grades{n}"], row[f"edit{n}"])
            for row in csv_rows(folder / "task-2" / f"{split}.csv")
            for n, identity in enumerate(row["id"].split("-"), 1)
        }
        assert sum(ones[i]["grades"] == "0" and grades == "00000" for i, (grades, _) in twos.items()) == lost
        assert sum(ones[i]["edit"] != edit for i, (_, edit) in twos.items()) == respelt


def shown(row: Row, n: str) -> str:
    """An edited headline without case, punctuation and spaces."""
    edit = row[f"edit{n}"]
    return re.sub(r"[\W_]+", "", re.sub(r"<[^<>]*/>", lambda _: edit, row[f"original{n}"]).casefold())


@pytest.mark.parametrize(
    ("split", "twice", "other_mean", "contradicting"),
    [("train", 27, 24, 4), ("train_funlines", 12, 10, 0), ("dev", 4, 3, 1)],
)
def test_headlines_that_are_graded_twice(
    split: str, twice: int, other_mean: int, contradicting: int, real_data: Path
) -> None:
    rated, pairs = (csv_rows(real_data / "humicroedit" / f"task-{task}" / f"{split}.csv") for task in (1, 2))
    means: dict[tuple[str, str], list[str]] = {}
    for row in rated:
        edit = re.sub(r"<[^<>]*/>", "<>", row["original"]).strip(), row["edit"].strip().casefold()
        means.setdefault(edit, []).append(row["meanGrade"])
    again = [of_edit for of_edit in means.values() if len(of_edit) > 1]
    assert (len(again), sum(len(set(of_edit)) > 1 for of_edit in again)) == (twice, other_mean)
    winners: dict[frozenset[str], set[str]] = {}
    for row in pairs:
        both = [shown(row, "1"), shown(row, "2")]
        winners.setdefault(frozenset(both), set()).update([both[int(row["label"]) - 1]] if row["label"] != "0" else [])
    assert sum(shown(row, "1") == shown(row, "2") for row in pairs) == twice
    assert sum(len(won) > 1 for won in winners.values()) == contradicting


def test_nothing_is_taken_from_the_corpus(real_data: Path) -> None:
    """No run of four words of ours, edited or not, is in a real headline, edited or not."""

    def runs(text: str) -> set[tuple[str, ...]]:
        tokens = tokens_of(text)
        return {tuple(tokens[i : i + 4]) for i in range(len(tokens) - 3)}

    def texts(rows: tuple[Row, ...]) -> set[str]:
        edited = {re.sub(r"<[^<>]*/>", lambda _, row=row: row["edit"], row["original"]) for row in rows}
        return edited | {headline(row["original"]) for row in rows}

    ours = {run: text for split in corpus.SPLITS for text in texts(sample(1, split)) for run in runs(text)}
    real: set[tuple[str, ...]] = set()
    count = 0
    for path in sorted((real_data / "humicroedit" / "task-1").glob("*.csv")):
        for text in texts(csv_rows(path)):
            real |= runs(text)
            count += 1
    assert count > 25_000
    assert {text for run, text in ours.items() if run in real} == set()
