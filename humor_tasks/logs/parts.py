"""Runs in parts (`shard=k/n`): the parts of one run, joined as one run."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from humor_tasks.errors import BadInput, listed
from humor_tasks.logs.record import FinishedRun, LoggedSample, Usage
from humor_tasks.rows.records import Shard, read_shard

INCOMPLETE = "incomplete"
"""The status of joined parts that do not hold all rows."""


def shard_of(run: FinishedRun) -> Shard | None:
    """The part of a run that this is; None for a run that is not divided."""
    shard = run.source.get("shard")
    return read_shard(shard) if isinstance(shard, str) else None


def joined(runs: Sequence[FinishedRun]) -> FinishedRun:
    """The parts of one run as one run, whose metrics equal those of the run in one piece to the last digit.

    Samples are in the order in which the undivided run is read; usage is added; `path` is that of the first part and
    `paths` are those of all. The status is that of the first part that did not finish; otherwise `success`, or
    INCOMPLETE where rows are missing or the parts differ in epochs, with the reason in `error`. `source` has the parts
    under `shards`.

    Raises BadInput for runs that are no parts, for parts of different runs or divisions, and for the same part twice;
    during the iteration, for an id that two parts hold.
    """
    shards = []
    for run in runs:
        if (part := shard_of(run)) is None:
            raise BadInput(f"{run.path}: is not a part of a run (shard=k/n); only parts are joined.")
        shards.append(part)
    by_part = sorted(zip(shards, runs, strict=True), key=lambda pair: pair[0])
    for (shard, run), (following, other) in itertools.pairwise(by_part):
        _check_same_run(run, other)
        if shard.total != following.total:
            raise BadInput(f"{run.path} is part {shard} and {other.path} is part {following}: their rows overlap.")
        if shard == following:
            raise BadInput(f"{run.path} and {other.path} both hold part {shard}; keep one of them.")
    parts = [run for _, run in by_part]
    first, held = parts[0], sum(run.instances for run in parts)
    status, error = next(((run.status, run.error) for run in parts if run.status != "success"), ("success", None))
    if status == "success" and held != first.rows:
        status, error = INCOMPLETE, _missing(shards, held, first.rows)
    if status in ("success", INCOMPLETE) and len({run.epochs for run in parts}) > 1:
        epochs = ", ".join(f"{shard} with {run.epochs}" for shard, run in by_part)
        remedy = "Run them again with the same --epochs."
        status, error = INCOMPLETE, f"the parts have different numbers of epochs: {epochs}. {remedy}"
    source = {name: value for name, value in first.source.items() if name != "shard"}
    return dataclasses.replace(
        first,
        instances=held,
        paths=tuple(run.path for run in parts),
        samples=_Merged(parts),
        status=status,
        error=error,
        source=source | {"shards": [str(shard) for shard, _ in by_part]},
        models=added(run.models for run in parts),
        roles=added(run.roles for run in parts),
    )


def of_one_run(runs: Iterable[FinishedRun]) -> list[list[FinishedRun]]:
    """The runs, with the parts of one run and division together; every run that is not divided is alone."""
    groups: list[list[FinishedRun]] = []
    by_run: dict[str, list[FinishedRun]] = {}
    for run in runs:
        shard = shard_of(run)
        together = [] if shard is None else by_run.setdefault(repr((shard.total, _identity(run))), [])
        if not together:
            groups.append(together)
        together.append(run)
    return groups


def _identity(run: FinishedRun) -> Mapping[str, Any]:
    """What all parts of one run have in common, by its name in messages."""
    return {
        "harness": run.harness,
        "signature": run.signature.without_release,
        "version": run.version,
        "model": run.model,
        "model arguments": run.arguments,
        "explainer": run.replayed,
        "grader models": run.role_models,
    }


def _check_same_run(run: FinishedRun, other: FinishedRun) -> None:
    for (name, one), two in zip(_identity(run).items(), _identity(other).values(), strict=True):
        if one != two:
            raise BadInput(f"{run.path} and {other.path} are parts of different runs: {name} {one} and {two}.")


def _missing(shards: Sequence[Shard], held: int, rows: int | None) -> str:
    count = shards[0].total
    absent = [str(Shard(k, count)) for k in range(1, count + 1) if Shard(k, count) not in shards]
    what = listed("missing part", absent) if absent else "a part is not whole"
    return f"the parts hold {held} of {'unknown' if rows is None else rows} instances; {what}."


def added(usages: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    """The usage of several runs by model or role."""
    total: dict[str, Usage] = {}
    for name, usage in (pair for part in usages for pair in part.items()):
        total[name] = total[name] + usage if name in total else usage
    return total


class _Merged:
    """The samples of all parts, each read one sample at a time, in the order in which the undivided run is read.

    That is the order of ids in Inspect's logs and the order of rows in lm-eval's samples.
    """

    def __init__(self, parts: Sequence[FinishedRun]) -> None:
        self.parts = parts
        self.by_id = parts[0].harness == "inspect"

    def __iter__(self) -> Iterator[LoggedSample]:
        return self._merged(self.parts)

    def scored(self) -> Iterator[LoggedSample]:
        return self._merged([part.scored() for part in self.parts])

    def _merged(self, parts: Sequence[Iterable[LoggedSample]]) -> Iterator[LoggedSample]:
        seen: dict[tuple[int, str], str] = {}
        for sample in heapq.merge(*parts, key=lambda s: (s.epoch, s.id) if self.by_id else s.place or 0):
            if (earlier := seen.get((sample.epoch, sample.id))) is not None:
                raise BadInput(f"{earlier}: {sample.where} is another reply to it; parts have no instance in common.")
            seen[sample.epoch, sample.id] = sample.where
            yield sample
