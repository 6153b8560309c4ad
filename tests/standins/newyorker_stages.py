"""A build of three small stages, for tests of the units of `humor-tasks build newyorker`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import read_body
from humor_tasks.files.writing import write_text
from humor_tasks.lab.corpora.newyorker.work import Stage, Work


def _words(work: Work, folder: Path, contest: int | None) -> Mapping[str, Any]:
    write_text(folder / "words.txt", f"contest {contest}")
    return {"words": 2}


def _long(work: Work, folder: Path, contest: int | None) -> Mapping[str, Any]:
    before = read_body(work.unit("words", contest) / "words.txt")
    write_text(folder / "long.txt", f"{before}, times {work.settings['times']}")
    return {"words": 4, "note": "no number"}


def _all(work: Work, folder: Path, contest: int | None) -> Mapping[str, Any]:
    assert contest is None
    texts = [read_body(work.unit("long", each) / "long.txt") for each in work.units("long")]
    write_text(folder / "all.txt", "\n".join(texts))
    return {"contests": len(texts)}


STAGES = {
    stage.name: stage
    for stage in (
        Stage("words", _words, trains=True),
        Stage("long", _long, ("words",), ("times",)),
        Stage("all", _all, ("long",), whole=True),
    )
}


def work_in(folder: Path, **changes: Any) -> Work:
    """A build of three stages over five contests, one of them only for training."""
    inputs = {number: f"{number:064}" for number in range(1, 6)}
    work = Work(folder, {}, {}, {"times": 3, "seed": 1}, STAGES, (1, 2, 3, 4), (5,), inputs)
    return dataclasses.replace(work, **changes)


def files_in(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def double(item: int) -> int:
    """A unit that is not of a build. Refuses negative numbers."""
    if item < 0:
        raise BadInput("no room")
    return 2 * item
