"""Rows of a benchmark as chat messages with their answer, for training outside this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.definition import Run
from humor_tasks.benchmarks.options import parameters_of
from humor_tasks.data.records import Record
from humor_tasks.data.rows.table import Absent
from humor_tasks.data.trained_on import check_disjoint
from humor_tasks.errors import BadInput, listed
from humor_tasks.parameters import opened

Message = dict[str, Any]
"""A chat message: `role` and `content`."""

SPLITS = ("train", "validation", "test")
FIXED = {"cot": "false", "shots": "0"}
"""Parameters of every exported prompt: the target has no reasoning, and the prompt no worked examples."""


def fixed(task: str) -> dict[str, str]:
    """The part of `FIXED` that the benchmark has as parameters."""
    known = parameters_of(find_benchmark(task, "task").options)
    return {name: value for name, value in FIXED.items() if name in known}


def open_splits(task: str, given: Sequence[str] = (), **named: str | None) -> dict[str, Run]:
    """The runs of train, validation and, where the dataset has one, test; `given` and `named` as in `opened`.

    Raises BadInput where train or validation is missing, a row has no target, or two splits share a contest.
    """
    if taken := [each for each in given if each.partition("=")[0] in (*FIXED, "split", "shard")]:
        raise BadInput(f"-T {taken[0]}: leave it out; this command sets split, shots, cot and shard.")
    runs: dict[str, Run] = {}
    for split in SPLITS:
        try:
            runs[split] = opened(task, given, split=split, **fixed(task), **named)
        except Absent:
            if split != "test":
                raise
    for split, run in runs.items():
        lacking = [record.id for record in run.records if not record.target]
        if lacking and split != "test":
            raise BadInput(f"{task}, split {split}: {listed('row', lacking, most=3)}: they have no answer to train on.")
    check_disjoint(task, {split: {record.cluster for record in run.records} for split, run in runs.items()})
    return runs


def messages_of(run: Run, record: Record) -> list[Message]:
    """The benchmark's own prompt for a record, as both harnesses send it. Raises BadInput where it shows a picture."""
    prompt = run.prompt(record)
    if prompt.media:
        raise BadInput(
            f"{run.benchmark.name}, row {record.id}: the prompt shows a picture or a clip, and only text can be "
            "exported. Use --setting description or caption_only; for the tasks of MOCK -T input=description."
        )
    return [{"role": turn.role, "content": turn.text} for turn in prompt.turns]


def answer_of(run: Run, target: str | None) -> str:
    """The reply that the prompt asks for, such as "Answer: B"."""
    return run.form.written(target)
