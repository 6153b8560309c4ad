"""The record of what a run was trained on, in the folder that the harnesses load; see `data.trained_on`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from humor_tasks.data import trained_on
from humor_tasks.training.folder import IS_MAIN

Units = Mapping[str, Collection[str]]
"""Split -> the units of its rows."""


def check_base(base: str, units: Units) -> None:
    """Raise BadInput where the model to begin from was trained on rows that this run evaluates."""
    for split, found in units.items():
        trained_on.check_unseen(base, [base], split, found, tells=False)


def record(folder: Path, task: str, source: Mapping[str, Any], fold: str, units: Units, base: str = "") -> None:
    """Write the record, in the main process. source: the provenance of train. base: the model to begin from."""
    if IS_MAIN:
        trained_on.write(folder, trained_on.training(task, source, fold, units), base)
