"""Rows for training elsewhere: the benchmark's own prompts, with contests in one split only."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import eval
from standins.corpus import matching_row, write_card, write_lines

from humor_tasks.errors import BadInput
from humor_tasks.lab.training.hosted import answer_of, messages_of, open_splits
from humor_tasks.rows.trained_on import check_disjoint
from humor_tasks.tasks import matching
from humor_tasks.testing import ScriptedModel

TASKS = ("matching", "ranking", "explanation", "mock_detecting", "mock_matching", "mock_explaining")


@pytest.mark.parametrize("task", TASKS)
def test_every_row_of_train_and_validation_has_a_prompt_and_an_answer_that_reads_as_its_target(task: str) -> None:
    runs = open_splits(task, ["input=description"] if task.startswith("mock_") else [], dataset="sample")
    assert list(runs) == ["train", "validation", "test"]
    for run in runs.values():
        for record in run.records:
            messages = messages_of(run, record)
            assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
            read = run.form.read(answer_of(run, record.target))
            assert (read.status, read.value) == ("answered", record.target)


@pytest.mark.slow
def test_inspect_sends_the_exported_messages() -> None:
    run = open_splits("matching", dataset="sample")["validation"]
    model = ScriptedModel("m", "Answer: A")
    (log,) = eval(matching(dataset="sample", split="validation", cot=False), model=model.model)
    sent = {sample.id: [(m.role, m.text) for m in sample.messages[:-1]] for sample in log.samples or []}
    assert sent == {r.id: [(m["role"], m["content"]) for m in messages_of(run, r)] for r in run.records}


@pytest.mark.parametrize(
    ("task", "given", "told"),
    [
        ("brainstorm", [], "brainstorm, split train: 15 rows: .* have no answer to train on"),
        ("humorbench", [], "there is no 'train'"),
        ("humicroedit_rating", [], "there is no 'validation'"),
        ("matching", ["shots=5"], "-T shots=5: leave it out"),
        ("matching", ["split=train"], "-T split=train: leave it out"),
        ("matching", ["nothing"], "write -T NAME=VALUE"),
        ("matching", ["fold=all"], "fold=all with split=train"),
        ("matches", [], "there is no 'matches'.* Did you mean 'matching'"),
    ],
)
def test_what_cannot_be_exported_is_refused(task: str, given: list[str], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        open_splits(task, given, dataset="sample")


def test_a_prompt_with_pictures_is_refused_with_the_remedy() -> None:
    run = open_splits("mock_matching", dataset="sample")["train"]
    with pytest.raises(BadInput, match=r"row cartoon_01_matching: the prompt shows a picture .* -T input=description"):
        messages_of(run, run.records[0])


def corpus(home: Path, **contests: range) -> str:
    """A dataset folder of `matching` whose splits have these contests."""
    for split, numbers in contests.items():
        write_lines(home / "matching" / f"{split}.jsonl", [matching_row(i, split) for i in numbers])
    write_card(home, {"matching": {split: f"matching/{split}.jsonl" for split in contests}})
    return str(home)


def test_a_contest_in_two_splits_is_refused(tmp_path: Path) -> None:
    folder = corpus(tmp_path, train=range(12), validation=range(11, 14), test=range(20, 22))
    with pytest.raises(BadInput, match="matching: 1 contest: 111 in train and in validation"):
        open_splits("matching", dataset=folder)


def test_a_dataset_without_test_rows_is_enough_and_one_without_validation_is_not(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "a", train=range(12), validation=range(20, 23))
    assert list(open_splits("matching", dataset=folder)) == ["train", "validation"]
    with pytest.raises(BadInput, match="has no split 'validation'"):
        open_splits("matching", dataset=corpus(tmp_path / "b", train=range(12), test=range(20, 22)))


@pytest.mark.parametrize(
    ("contests", "told"),
    [
        ({"train": {"1"}, "test": {"1", "2"}}, "1 contest: 1 in train and in test"),
        ({"train": {"3"}, "validation": {"1", "2"}, "test": {"1", "2"}}, "2 contests: 1, 2 in validation and in test"),
    ],
)
def test_each_pair_of_splits_is_compared(contests: dict[str, set[str]], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        check_disjoint("matching", contests)
    check_disjoint("matching", {"train": {"1"}, "validation": {"2"}, "test": {"3"}})
