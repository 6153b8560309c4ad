"""Rated headlines become the files of both subtasks of SemEval-2020 Task 7: no headline in two splits, their pairs."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from standins.commands import humor_tasks as invoke
from standins.commands import refused

from humor_tasks import load
from humor_tasks.benchmarks.humicroedit.corpus import headlines, read_split
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_json_lines
from humor_tasks.studies.people.headline_splits import PAIRED, RATED, Rated, write_splits

SPLITS = ("train", "dev", "test")
WORDS = ("Senate", "votes", "bill")


def edited(number: int, word: str, edit: str) -> str:
    """Headline NUMBER with one marked word, as a source writes it."""
    return f"{'Senate votes on bill'.replace(word, f'<{word}/>')} {number}"


def rated(numbers: range, edits: int = 3) -> list[Rated]:
    """Edits of so many headlines; means differ by 1."""
    return [
        (f"{n}-{i}", edited(n, word, "zoo"), "zoo", f"{i}" * 5, float(i))
        for n in numbers
        for i, word in enumerate(WORDS[:edits])
    ]


def cells(folder: Path, task: str) -> dict[str, list[dict[str, str]]]:
    found = {}
    for split in SPLITS:
        with (folder / task / f"{split}.csv").open(newline="", encoding="utf-8") as file:
            found[split] = list(csv.DictReader(file))
    return found


@pytest.mark.parametrize(("count", "sizes"), [(5, [3, 1, 1]), (8, [5, 1, 2]), (25, [16, 4, 5]), (100, [64, 16, 20])])
def test_all_edits_of_a_headline_are_in_one_split(count: int, sizes: list[int], tmp_path: Path) -> None:
    rows = rated(range(count))
    rows[1] = ("again", edited(0, "votes", "zoo").upper().replace(" BILL", "  bill ,"), "zoo", "22222", 2.0)
    write_splits(tmp_path / "d", rows, seed=1)
    found = cells(tmp_path / "d", "task-1")
    of = {row["original"].replace(",", "").split()[-1]: split for split, rows in found.items() for row in rows}
    assert [list(of.values()).count(split) for split in SPLITS] == sizes
    assert sum(map(len, found.values())) == len(rows)
    for split, texts in found.items():
        assert {of[row["original"].replace(",", "").split()[-1]] for row in texts} == {split}
        assert list(texts[0]) == list(RATED)


def test_three_edits_give_three_pairs_with_the_label_of_their_means(tmp_path: Path) -> None:
    write_splits(tmp_path / "d", rated(range(25)), seed=1)
    for split, pairs in cells(tmp_path / "d", "task-2").items():
        assert list(pairs[0]) == list(PAIRED)
        ids = {row["id"] for row in cells(tmp_path / "d", "task-1")[split]}
        assert {frozenset(row["id"].split("-")) for row in pairs} == {
            frozenset(pair) for pair in combinations(sorted(ids), 2) if len({one.split("_")[0] for one in pair}) == 1
        }
        for row in pairs:
            first, second = float(row["meanGrade1"]), float(row["meanGrade2"])
            assert row["label"] == ("1" if first > second else "2")
    order = Counter(row["label"] for rows in cells(tmp_path / "d", "task-2").values() for row in rows)
    assert min(order.values()) > 20  # of 75: the order is drawn


def test_seeds_ties_and_the_same_edit_twice(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_splits(tmp_path / name, rated(range(25)), seed)
    a, b, c = ([(tmp_path / name / f"task-{n}" / "dev.csv").read_bytes() for n in (1, 2)] for name in "abc")
    assert a == b != c
    tie = [(f"t{i}", edited(9, word, "Ham"), "Ham", "11111", 1.0) for i, word in enumerate(WORDS[:2])]
    said = write_splits(tmp_path / "d", [*rated(range(5), 1), *tie, ("t3", tie[0][1], "ham", "33333", 3.0)], 1)
    (file,) = (tmp_path / "d" / "task-2").iterdir()
    assert said.count(" 0 rows in task-2/") == 2
    assert f"2 rows in task-2/{file.stem}" in said  # of three: t0 and t3 are the same words
    with file.open(newline="") as text:
        labels = {frozenset(row["id"].split("-")): row["label"] for row in csv.DictReader(text)}
    assert labels[frozenset({"t0", "t1"})] == "0"
    assert labels[frozenset({"t1", "t3"})] in "12"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (rated(range(4)), "4 rated headlines do not fill train, dev, test; rate 5 or more"),
        ([*rated(range(6)), ("0_0", "A <b/>", "c", "1", 1.0)], "the ids 0-0 and 0_0 differ by '-' and '_' only"),
        ([*rated(range(6)), ("x", "No mark", "c", "1", 1.0)], "item x: original has 0 marked words"),
        ([*rated(range(6)), ("x", "A <b/>", " ", "1", 1.0)], "item x: edit is empty"),
    ],
)
def test_what_cannot_be_split_is_named_and_nothing_is_written(rows: list[Rated], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        write_splits(tmp_path / "d", rows, 1)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "task-1").mkdir()
    with pytest.raises(BadInput, match="exists already; name a new folder"):
        write_splits(tmp_path, rated(range(6)), 1)


def test_by_command_and_read_by_both_benchmarks(tmp_path: Path) -> None:
    source, items, votes, out = (tmp_path / name for name in ("e.csv", "items.jsonl", "v.csv", "data"))
    edits = [f"{i}-{n},{edited(n, word, 'zoo')},zoo\n" for n in range(6) for i, word in enumerate(WORDS)]
    source.write_text("id,original,edit\n" + "".join(edits))
    invoke("people", "items", "rating", source, "-o", items)
    grades = [
        f"{i}-{n},{who},{'ABCD'[i + (who == 'bob')]},\n" for n in range(6) for i in range(3) for who in ("ann", "bob")
    ]
    votes.write_text("item,rater,choice,time\n" + "".join(grades))
    given = ("people", "collect", votes, "--items", items, "--splits", "-o", out)
    said = invoke(*given)
    assert "12 rows in task-1/train, 12 rows in task-2/train, 3 rows in task-1/dev" in said
    assert "by 2 annotators" in said
    for split, count in (("train", 12), ("dev", 3), ("test", 3)):
        rating, pairs = (
            load(f"humicroedit_{task}", dataset=str(out), split=split).records for task in ("rating", "pairwise")
        )
        assert (len(rating), len(pairs)) == (count, count)
        assert sorted({str(one.target) for one in rating}) == ["0.5", "1.5", "2.5"]
        assert {pair.cluster for pair in pairs} == {one.cluster for one in rating}
    assert "exists already" in refused(*given)
    write_json_lines(items, [{"id": "1", "kind": "literal"}])
    votes.write_text('item,rater,choice,time\n1,ann,"{""description"": ""x""}",\n')
    assert "--splits takes rated headlines" in refused(*given[:-1], tmp_path / "o.json")


def test_pairs_of_the_organisers_headlines_are_the_organisers(real_data: Path, tmp_path: Path) -> None:
    dataset = str(real_data / "humicroedit")
    tables = [read_split(dataset, 1, split) for split in ("train", "dev")]
    rows: list[Any] = [tuple(row[name] for name in RATED[:4]) for table in tables for row in table.rows]
    means = [headline.mean for table in tables for headline in headlines(table)]
    write_splits(tmp_path / "d", [(*row, mean) for row, mean in zip(rows, means, strict=True)], 1)
    found = cells(tmp_path / "d", "task-2")
    theirs = [row for split in ("train", "dev") for row in read_split(dataset, 2, split).rows]
    different = {frozenset(row["id"].split("-")): row for row in theirs if row["original1"] != row["original2"]
                 or row["edit1"].casefold() != row["edit2"].casefold()}  # fmt: skip
    made = {frozenset(row["id"].split("-")): row for rows in found.values() for row in rows}
    assert made.keys() == different.keys()
    assert (len(theirs), len(made)) == (11_736, 11_705)
    shares = [len(texts) / len(rows) for texts in cells(tmp_path / "d", "task-1").values()]
    assert shares == pytest.approx([0.64, 0.16, 0.2], abs=0.01)
