"""Preferences from the rows of a benchmark of two captions: the better caption of each pair is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from humor_tasks.benchmarks.caption_contest.corpus import NyccOptions
from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.rows.table import Absent
from humor_tasks.data.trained_on import check_disjoint
from humor_tasks.errors import BadInput, listed
from humor_tasks.parameters import opened
from humor_tasks.training.hosted.rows import SPLITS
from humor_tasks.training.preferences.writing import Preference, Preferences


def row_preferences(task: str, splits: Sequence[str], given: Sequence[str], **named: str | None) -> Preferences:
    """The rows of these splits, by default of all that the dataset has; `given` and `named` as in `opened`.

    Raises BadInput for rows without a label or with pictures, and where two splits share a contest.
    """
    if named.get("setting") == "pixels":
        raise BadInput("--setting pixels: only text can be exported; use description or caption_only.")
    if taken := [each for each in given if each.partition("=")[0] in ("split", "shard")]:
        raise BadInput(f"-T {taken[0]}: leave it out; use --split.")
    runs: dict[str, Run] = {}
    missing = ""
    for split in dict.fromkeys(splits or SPLITS):
        try:
            runs[split] = opened(task, given, split=split, **named)
        except Absent as problem:
            if splits:
                raise
            missing = str(problem)
    if not runs:
        raise BadInput(missing)
    check_disjoint(task, {split: {record.cluster for record in run.records} for split, run in runs.items()})
    rows = {split: _rows(run, split) for split, run in runs.items()}
    some = next(iter(runs.values()))
    options = cast(NyccOptions, some.options)
    facts = {"dataset": options.dataset, "fold": options.fold, "setting": options.setting}
    facts |= {f"revision and rows of {split}": _source(run) for split, run in runs.items()}
    doubled = {split: sum(row.chosen == row.rejected for row in found) for split, found in rows.items()}
    told = [f"{split}: {n} rows have the same caption twice and are left out" for split, n in doubled.items() if n]
    rows = {split: [row for row in found if row.chosen != row.rejected] for split, found in rows.items()}
    return Preferences(rows, f"Rows of the benchmark `{task}`", facts, told)


def _source(run: Run) -> str:
    source = run.data.provenance
    return f"{source['revision'] or '-'}, {source['fingerprint'][:12]}"


def _rows(run: Run, split: str) -> list[Preference]:
    if any(record.picture is not None for record in run.records):
        raise BadInput(f"{run.benchmark.name}: only text can be exported; use setting=description or caption_only.")
    if lacking := [record.id for record in run.records if record.target is None]:
        raise BadInput(f"{run.benchmark.name}, split {split}: {listed('row', lacking, most=3)}: they have no label.")
    found = []
    for record in run.records:
        better = "AB".index(cast(str, record.target))
        facts: dict[str, object] = {"contest": record.cluster, "instance_id": record.id}
        facts |= {name: record.groups[name] for name in ("winner_source",) if name in record.groups}
        found.append(Preference(record.context, record.choices[better], record.choices[1 - better], facts))
    return found
