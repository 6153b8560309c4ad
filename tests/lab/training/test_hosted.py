"""`humor-tasks export finetune`: files of chat examples, checked rows, and the command that evaluates the model."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from standins import commands
from standins.corpus import matching_row, write_card, write_lines

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.hosted import Example, check_apart, checked
from humor_tasks.rows.trained_on import RECORD, trainings

SAMPLE = ("--task", "matching", "--dataset", "sample")


def export(output: Path, *options: str | Path) -> str:
    return commands.humor_tasks("export", "finetune", *SAMPLE, "-o", output, *options)


def refused(*options: str | Path) -> str:
    return commands.refused("export", "finetune", *options)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


# ---- files --------------------------------------------------------------------------------------


def test_rows_are_the_benchmarks_prompts_with_the_answer_last(tmp_path: Path) -> None:
    export(tmp_path / "out")
    for split, count in (("train", 30), ("validation", 10)):
        run = load("matching", dataset="sample", split=split, cot=False)
        found = rows(tmp_path / "out" / f"{split}.jsonl")
        assert len(found) == len(run.records) == count
        for row, record in zip(found, run.records, strict=True):
            *prompt, answer = row["messages"]
            assert answer == {"role": "assistant", "content": f"Answer: {record.target}"}
            assert [(m["role"], m["content"]) for m in prompt] == [(t.role, t.text) for t in run.prompt(record).turns]
            assert [m.get("weight") for m in prompt] == [0 if m["role"] == "assistant" else None for m in prompt]


def test_joined_is_train_then_validation(tmp_path: Path) -> None:
    export(tmp_path / "two")
    export(tmp_path / "one", "--joined")
    parts = [(tmp_path / "two" / f"{split}.jsonl").read_bytes() for split in ("train", "validation")]
    assert (tmp_path / "one" / "joined.jsonl").read_bytes() == b"".join(parts)
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["finetune.json", "joined.jsonl", RECORD]
    about = json.loads((tmp_path / "one" / "finetune.json").read_text())["files"]["joined.jsonl"]
    data = b"".join(parts)
    assert (about["rows"], about["bytes"], about["sha256"]) == (40, len(data), hashlib.sha256(data).hexdigest())
    (training,) = trainings(tmp_path / "one") or ()
    assert (training["task"], training["fold"]) == ("matching", "0")
    assert {split: len(units) for split, units in training["units"].items()} == {"train": 15, "validation": 5}


@pytest.mark.slow
def test_an_export_is_repeated_byte_for_byte_and_never_over_another(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (out / "train.jsonl").write_bytes(b"damaged")
    export(out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert "holds another export (parts=" in refused(*SAMPLE, "-o", out, "--joined")
    assert "holds another export (parameters=" in refused(*SAMPLE, "-o", out, "--setting", "caption_only")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    assert "is not empty and holds no export" in refused(*SAMPLE, "-o", tmp_path / "full")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_other_rows_of_the_same_export_replace_its_files(tmp_path: Path) -> None:
    home, out = tmp_path / "rows", tmp_path / "out"
    for number in (10, 11):
        for split, start in (("train", 0), ("validation", 100)):
            made = [matching_row(start + i, split) for i in range(number)]
            write_lines(home / "matching" / f"{split}.jsonl", made)
        write_card(home, {"matching": {split: f"matching/{split}.jsonl" for split in ("train", "validation")}})
        commands.humor_tasks("export", "finetune", "--task", "matching", "--dataset", home, "-o", out)
        assert len(rows(out / "train.jsonl")) == number


@pytest.mark.slow
def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "Use --setting description or caption_only" in refused(*SAMPLE, "--setting", "pixels", "-o", out)
    (tmp_path / "file").write_text("x")
    assert "is not a folder" in refused(*SAMPLE, "-o", tmp_path / "file")
    assert not out.exists()


# ---- rows ---------------------------------------------------------------------------------------


def example(row: str, question: str, answer: str = "Answer: A") -> Example:
    return Example(row, [{"role": "user", "content": question}, {"role": "assistant", "content": answer}])


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (example("bad", " "), "message 1 of the user is empty"),
        (example("bad", "?", "\u200b"), "message 2 of the assistant is invisible: U+200B"),
        (example("bad", "\ud83d"), "message 1 has half of a surrogate pair"),
        (example("bad", "?", "half: \udc00"), "message 2 has half of a surrogate pair"),
    ],
)
def test_each_bad_row_is_named_with_the_remedy(bad: Example, told: str) -> None:
    with pytest.raises(BadInput) as problem:
        checked("train", [*(example(f"r{i}", "?") for i in range(10)), bad])
    assert str(problem.value).startswith(f"train.jsonl: row bad: {told}")
    assert str(problem.value).endswith("correct the dataset's text. Nothing was written.")


def test_many_bad_rows_are_counted() -> None:
    with pytest.raises(BadInput, match=r"row r4: message 1 of the user is empty.* And 6 more\."):
        checked("train", [example(f"r{i}", "") for i in range(11)])


def test_a_file_says_its_rows_and_its_longest() -> None:
    file = checked("train", [example("a", "?"), example("b", "é" * 990, "Answer: B"), example("c", "?", "Answer: C")])
    assert str(file) == "3 rows of about 255 tokens; the longest, b, has 999 characters, about 250 tokens"
    assert file.data.decode().splitlines()[1].endswith('{"role": "assistant", "content": "Answer: B"}]}')


@pytest.mark.parametrize(
    ("part", "number", "warning"),
    [
        ("train", 9, "train.jsonl has fewer rows (9) than the 10 that OpenAI asks for"),
        ("joined", 1, "joined.jsonl has fewer rows (1) than the 10 that OpenAI asks for"),
        ("train", 10, ""),
        ("validation", 1, ""),
    ],
)
def test_few_rows_to_train_on_are_a_warning(part: str, number: int, warning: str) -> None:
    assert checked(part, [example(f"r{i}", "?") for i in range(number)]).warning == warning


def test_the_same_row_in_train_and_validation_is_refused() -> None:
    train = [example("t1", "a"), example("t2", "b")]
    with pytest.raises(BadInput, match=r"validation\.jsonl, row v2: train\.jsonl has the same row"):
        check_apart(train, [example("v1", "c"), example("v2", "b")])
    check_apart(train, [example("v1", "a", "Answer: B")])


# ---- what is printed ----------------------------------------------------------------------------


def test_the_printed_command_evaluates_with_the_prompts_that_were_trained_on(tmp_path: Path) -> None:
    said = export(tmp_path / "out", "--setting", "caption_only", "--fold", "2")
    assert f"{tmp_path / 'out' / 'train.jsonl'}: 30 rows of about " in said
    assert "Published cost: 40 US dollars (GPT-3 175B, fine-tuned, one task and fold; Hessel et al. 2023" in said
    command = said.splitlines()[-1]
    program, verb, task, flag, model, *given = shlex.split(command)
    assert (program, verb, task, flag, model) == ("inspect", "eval", "humor_tasks/matching", "--model", "MODEL")
    parameters = dict(pair.split("=") for pair in given if pair != "-T")
    assert parameters == {"cot": "false", "shots": "0", "setting": "caption_only", "fold": "2", "dataset": "sample"}
    assert json.loads((tmp_path / "out" / "finetune.json").read_text())["evaluate"] == command


@pytest.mark.slow
def test_real_rows_are_exported_whole(tmp_path: Path, real_corpus: str) -> None:
    said = commands.humor_tasks(
        *("export", "finetune", "--task", "ranking", "--dataset", real_corpus, "--joined", "-o", tmp_path / "out")
    )
    assert "joined.jsonl: 10,083 rows" in said
