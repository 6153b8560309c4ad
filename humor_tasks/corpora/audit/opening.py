"""The dataset that a command names, as items: a benchmark's through its own loader, or rows of named columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.answers import Choice, Rating, YesNo
from humor_tasks.benchmarks.definition import Run
from humor_tasks.benchmarks.options import parameters_of
from humor_tasks.corpora.audit.columns import items_of
from humor_tasks.corpora.audit.items import KINDS, Item, Items, Kind, Part
from humor_tasks.corpora.audit.tables import read_tables
from humor_tasks.data.records import Record
from humor_tasks.data.rows import Absent
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import LETTERS
from humor_tasks.parameters import opened

FORMS: dict[type, Kind] = {Choice: "choice", YesNo: "yes/no", Rating: "rating"}


def open_items(
    dataset: str,
    task: str | None,
    given: Sequence[str],
    configs: Sequence[str],
    splits: Sequence[str],
    columns: dict[str, str | None],
) -> Items:
    """The dataset's items. Raises BadInput where it cannot be read, and for options that do not apply."""
    named = [f"--{role}" for role, column in columns.items() if column]
    if task is None:
        if dataset == "sample" or given:
            raise BadInput("'sample' and -T belong to a benchmark: name it with --task, such as --task matching.")
        return items_of(read_tables(dataset, configs, splits), columns, dataset)
    if named or configs:
        wrong = ", ".join([*named, *(["--config"] if configs else [])])
        raise BadInput(f"{wrong}: the benchmark {task} knows its columns; leave out this or --task.")
    return _of_benchmark(dataset, task, given, splits)


def _of_benchmark(dataset: str, task: str, given: Sequence[str], splits: Sequence[str]) -> Items:
    """Every split of every fold that the dataset has, through the benchmark's own loader."""
    known = parameters_of(find_benchmark(task, "task").options)
    fixed = {each.partition("=")[0] for each in given}
    if "split" in fixed:
        raise BadInput("-T split: choose the splits with --split, which may be repeated.")
    every = splits or known["split"].choices
    folds = [None] if "fold" not in known or "fold" in fixed else [f for f in known["fold"].choices if f != "all"]
    runs: list[tuple[Part, Run]] = []
    absent: dict[str, Absent] = {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        for fold in folds:
            for split in every:
                part = Part(split if fold is None else f"{split} of fold {fold}", fold or "", split)
                try:
                    runs.append((part, opened(task, given, dataset=dataset, split=split, fold=fold)))
                except Absent as problem:
                    absent[split] = problem
    for split in every:
        if all(part.split != split for part, _ in runs) and (splits or not runs):
            raise absent[split]
    told = tuple(dict.fromkeys(str(each.message) for each in heard if issubclass(each.category, UserWarning)))
    return _items(dataset, task, runs, told)


def _items(dataset: str, task: str, runs: Sequence[tuple[Part, Run]], told: tuple[str, ...]) -> Items:
    form = runs[0][1].form
    kind = next((name for each, name in FORMS.items() if isinstance(form, each)), None)
    if kind is None:
        raise BadInput(f"{task} has free-text answers; an audit needs choices, yes or no, or ratings.")
    items = [_item(record, kind, part, i, run) for part, run in runs for i, record in enumerate(run.records)]
    lines = [f"Read as {KINDS[kind]} by the benchmark {task}; groups are its clusters."]
    if dropped := sum(len(run.data.dropped) for _, run in runs):
        lines.append(f"Rows without an answer that the benchmark leaves out: {dropped:,}.")
    return Items(dataset, kind, {part.name: part for part, _ in runs}, items, True, tuple(lines), told)


def _item(record: Record, kind: Kind, part: Part, i: int, run: Run) -> Item:
    row = f"row {i} ({record.id:.60})" if not run.data.dropped else f"row {record.id:.60}"
    about = "" if kind == "choice" else record.fields.get("punchline", record.context)
    return Item(
        id=record.id,
        where=f"{row} of {part.name}",
        part=part.name,
        group=record.cluster,
        context=record.context if about != record.context else "",
        choices=record.choices if kind == "choice" else (),
        about=about,
        target=_target(record, kind),
        picture=record.picture,
    )


def _target(record: Record, kind: Kind) -> Any:
    if record.target is None:
        return None
    if kind == "choice":
        return LETTERS.index(record.target)
    return record.target == "yes" if kind == "yes/no" else float(record.target)
