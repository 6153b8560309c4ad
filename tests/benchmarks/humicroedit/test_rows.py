"""Humicroedit: options and rows that are refused by name, and rows that are only odd."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from standins.humicroedit_sample import PAIRWISE, RATING, Row, changed, told

from humor_tasks import evaluate, load
from humor_tasks.errors import BadInput

# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (RATING, {"estimate": "mean"}, "choose from text, expected"),
        (RATING, {"scale": " "}, "scale must not be empty"),
        (RATING, {"on_unparsed": "random"}, "ratings cannot be guessed"),
        (RATING, {"extraction": "released_chat"}, "extraction: there is no 'released_chat'"),
        (RATING, {"revision": "main"}, "pinned by SHA-256"),
        (RATING, {"dataset": "/no/where"}, "there is no file /no/where/task-1/test.csv"),
        (PAIRWISE, {"estimate": "expected"}, "applies only to via=ratings"),
        (PAIRWISE, {"via": "ratings", "on_unparsed": "random"}, "ratings cannot be guessed"),
    ],
)
def test_bad_options(name: str, options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        load(name, **{"dataset": "sample"} | dict(options))


# ---- bad rows -----------------------------------------------------------------------------------


def put(**cells: str) -> Callable[[list[Row]], None]:
    """These cells in the second row, which is line 3."""
    return lambda rows: rows[1].update(cells)


@pytest.mark.parametrize(
    ("task", "change", "message"),
    [
        (1, put(original="No mark at all"), "line 3: original has 0 marked words"),
        (1, put(original="<Two/> of <them/>"), "line 3: original has 2 marked words"),
        (1, put(original="An empty < /> one"), "line 3: original has 1 marked words"),
        (1, put(edit="  "), "line 3: edit is empty"),
        (1, put(id=" "), "line 3: id is empty"),
        (2, put(id=""), "line 3: id is empty"),
        (1, put(grades="2,1,0"), "line 3: grades is '2,1,0'; it must be digits"),
        (1, put(meanGrade="3.2"), "line 3: meanGrade is '3.2'; it must be a number from 0 to 3"),
        (1, put(meanGrade="nan"), "line 3: meanGrade is 'nan'"),
        (1, put(meanGrade="funny"), "line 3: meanGrade is 'funny'"),
        (1, lambda rows: rows[2].update(id=rows[1]["id"]), r"line 4: id '\d+' is also that of .*test.csv, line 3"),
        (2, put(original2="No mark"), "line 3: original2 has 0 marked words"),
        (2, put(edit1=""), "line 3: edit1 is empty"),
        (2, put(label="3"), "line 3: label is '3'; it must be 1 or 2"),
        (
            2,
            put(label="1", meanGrade1="0.2", meanGrade2="1.0"),
            "line 3: label is 1, but the means 0.2 and 1.0 imply 2",
        ),
        (
            2,
            put(label="0", meanGrade1="1.2", meanGrade2="1.0"),
            "line 3: label is 0, but the means 1.2 and 1.0 imply 1",
        ),
        (
            2,
            put(label="2", meanGrade1="1.0", meanGrade2="1.0"),
            "line 3: label is 2, but the means 1.0 and 1.0 imply 0",
        ),
        (2, lambda rows: rows[2].update(id=rows[1]["id"]), "line 4: id .* is also that of"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, task: int, change: Callable[[list[Row]], None], message: str) -> None:
    dataset = changed(tmp_path, task, "test", change)
    with pytest.raises(BadInput, match=message) as caught:
        load(RATING if task == 1 else PAIRWISE, dataset=dataset)
    assert f"task-{task}/test.csv" in str(caught.value)


@pytest.mark.parametrize("word", ["None", "null", "nan", "NA", "#N/A", "1,600"])
def test_words_that_look_like_missing_values_are_words(tmp_path: Path, word: str) -> None:
    record = load(RATING, dataset=changed(tmp_path, 1, "test", put(edit=word))).records[1]
    assert record.fields["edit"] == word
    assert word in record.fields["edited"].split()


def test_grades_that_disagree_with_their_mean_are_said_once(tmp_path: Path) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows[:3]:
            row.update(grades="43333", meanGrade="2.8")

    dataset = changed(tmp_path, 1, "test", change)
    with pytest.warns(UserWarning, match="in 3 rows the grades disagree with the file's mean") as caught:
        run = load(RATING, dataset=dataset)
    assert len(caught) == 1
    assert {r.target for r in run.records[:3]} == {"2.8"}


def test_a_pair_whose_grades_disagree_with_a_mean_is_said_once(tmp_path: Path) -> None:
    dataset = changed(
        tmp_path, 2, "test", put(grades1="00000", meanGrade1="2.8", grades2="33333", meanGrade2="0.0", label="1")
    )
    with pytest.warns(UserWarning, match="in 1 rows the grades disagree with the file's mean") as caught:
        load(PAIRWISE, dataset=dataset)
    assert len(caught) == 1


@pytest.mark.parametrize("via", ["direct", "ratings"])
def test_a_split_of_ties_holds_nothing_to_evaluate(tmp_path: Path, via: str) -> None:
    def tie(rows: list[Row]) -> None:
        for row in rows:
            row.update(meanGrade1="1.0", meanGrade2="1.0", grades1="", grades2="", label="0")

    dataset = changed(tmp_path, 2, "test", tie)
    with pytest.raises(BadInput, match="has no row to evaluate; 36 rows without an answer were dropped"):
        load(PAIRWISE, dataset=dataset, via=via)
    kept = load(PAIRWISE, dataset=dataset, via=via, ties="keep")
    found = evaluate(kept, {r.id: told(1) if via == "ratings" else "A" for r in kept.records}).metrics
    assert "accuracy" not in found or math.isnan(found["accuracy"].value)


def test_five_zeros_are_five_judges(tmp_path: Path) -> None:
    """The organisers' files of subtask 1 hold them as the number 0."""
    record = load(RATING, dataset=changed(tmp_path, 1, "test", put(grades="0", meanGrade="0.0"))).records[1]
    assert record.facts["grades"] == [0, 0, 0, 0, 0]
