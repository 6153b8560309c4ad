"""BBEH's nycc: rows as records, bad rows named, one score in both harnesses, and the real questions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval

from humor_tasks import evaluate, load
from humor_tasks.benchmarks.bbeh import LETTERS, SHA256, record
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.testing import run_lm_eval


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


def test_both_harnesses_score_the_sample_alike(tmp_path: Path) -> None:
    run = load("bbeh_nycc", dataset="sample")
    longest = {r.id: f"Answer: ({LETTERS[max(range(10), key=lambda i: len(r.choices[i]))]})" for r in run.records}
    wanted = evaluate(run, longest).metrics["accuracy"]
    given = {"dataset": "sample"}
    (log,) = eval("humor_tasks/bbeh_nycc", task_args=given, model="baseline/longest", log_dir=str(tmp_path))
    assert log.results
    metrics = log.results.scores[0].metrics
    assert (metrics["accuracy"].value, metrics["stderr"].value) == pytest.approx((wanted.value, wanted.stderr))
    found = run_lm_eval(BaselineLM("longest"), "bbeh_nycc_humor", "bbeh_nycc_humor_gen", metadata=given)["results"]
    assert [found[name]["acc,none"] for name in found] == pytest.approx([wanted.value] * 2)


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
