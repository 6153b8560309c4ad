"""Groups of captions of invented contests: three that are evaluated, three of another split."""

from __future__ import annotations

from typing import Any

from humor_tasks import load
from humor_tasks.contract.definition import Run
from humor_tasks.rows.records import Record

EVALUATED = (536, 537, 545)  # held out
OTHERS = (530, 531, 532)
SHOTS = {"shots_from": "sample"}


def opened(folder: str, **more: Any) -> Run:
    return load("crowd_groups", **{"dataset": folder} | SHOTS | more)


def last_turn(run: Run, record: Record) -> str:
    return run.prompt(record).turns[-1].text
