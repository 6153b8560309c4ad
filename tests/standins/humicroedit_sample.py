"""The packaged sample of Humicroedit: its rows, copies with one thing changed, and made-up ratings."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from standins.corpus import rows_of

from humor_tasks.contract.definition import Run
from humor_tasks.datasets_cards import folder

RATING, PAIRWISE = "humicroedit_rating", "humicroedit_pairwise"


SAMPLE = Path(folder("humicroedit"))


Row = dict[str, str]


def changed(home: Path, task: int, split: str, change: Callable[[list[Row]], Any]) -> str:
    """A copy of the sample in which `change` was made to one file's rows."""
    shutil.copytree(SAMPLE, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("_*", "__pycache__"))
    path = home / f"task-{task}" / f"{split}.csv"
    rows = rows_of(path)
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(home)


def told(rating: float) -> str:
    return f"Rating: {rating!r}"


def some_ratings(run: Run) -> dict[str, float]:
    """Made up, between 0 and 3, a few of them equal."""
    return {record.id: (37 * i % 31) / 10 for i, record in enumerate(run.records)}
