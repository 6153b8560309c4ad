"""BBEH's nycc: rows as records, bad rows named, and the real questions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from humor_tasks import load
from humor_tasks.benchmarks.bbeh import LETTERS, SHA256, record
from humor_tasks.errors import BadInput


def asked(captions: str = LETTERS, description: str = "  Description: A cat\n  in a hat.\n\n") -> str:
    return f"Intro.\n\n{description}  Which?\n" + "".join(f"({letter}) {letter} says:  hi.\n" for letter in captions)


GOOD = {"input": asked(), "target": "(C)"}
BAD: list[tuple[Any, str]] = [
    ("a text", "must have the texts 'input' and 'target'"),
    ({"input": asked()}, "must have the texts 'input' and 'target'"),
    ({"input": 3, "target": "(A)"}, "must have the texts 'input' and 'target'"),
    ({"input": asked(description=""), "target": "(A)"}, "no line 'Description: ...'"),
    ({"input": asked("ABCDEFGHI"), "target": "(A)"}, "ten captions"),
    ({"input": asked("ABCDEFGHJI"), "target": "(A)"}, "in order"),
    ({"input": asked("ABCDEFGHIJK"), "target": "(A)"}, "ten captions"),
    ({"input": asked().replace("D says:  hi.", " "), "target": "(A)"}, "ten captions"),
    ({"input": asked(), "target": "(K)"}, "target is '(K)'"),
    ({"input": asked(), "target": ""}, "target is ''"),
    ({"input": asked(), "target": "A, B"}, "target is 'A, B'"),
]


def test_a_question_as_a_record() -> None:
    made = record(GOOD, "here")
    assert made.fields["description"] == made.context == "A cat in a hat."
    assert made.choices == tuple(f"{letter} says: hi." for letter in LETTERS)
    assert made.fields["choices"].split("\n")[2] == "C) C says: hi."
    assert (made.target, made.id, made.cluster) == ("C", made.id, made.id)


@pytest.mark.parametrize(("row", "told"), BAD)
def test_a_bad_question_is_named(row: Any, told: str, tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    path.write_text(json.dumps({"examples": [GOOD, row]}))
    with pytest.raises(BadInput) as problem:
        load("bbeh_nycc", dataset=str(tmp_path))
    assert str(problem.value).startswith(f"{path}, example 2: ")
    assert told in str(problem.value)


@pytest.mark.parametrize("text", ["[]", "{}", '{"examples": []}', '{"examples": {}}', "no JSON", ""])
def test_a_bad_file_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"other\.json"):
        load("bbeh_nycc", dataset=str(path))


def test_a_repeated_question_and_a_missing_file_are_named(tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text(json.dumps({"examples": [GOOD, GOOD]}))
    with pytest.raises(BadInput, match="example 2: the same question"):
        load("bbeh_nycc", dataset=str(tmp_path))
    with pytest.raises(BadInput, match="Did you mean 'sample'"):
        load("bbeh_nycc", dataset="smaple")


def test_the_real_questions(real_data: Path) -> None:
    run = load("bbeh_nycc", dataset=str(real_data / "bbeh_nycc"))
    assert run.data.provenance["fingerprint"] == SHA256
    assert (
        len(run.records)
        == len({r.id for r in run.records})
        == len({r.fields["description"] for r in run.records})
        == 200
    )
    assert Counter(r.target for r in run.records)["D"] == 30
    assert all(
        len(set(r.choices)) == 10 and r.fields["description"] in run.prompt(r).turns[-1].text for r in run.records
    )
