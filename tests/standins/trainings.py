"""Trainings that are killed, what two of them have to have in common, and what they leave."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from humor_tasks.errors import BadInput


class Killed(BaseException):
    """Nothing in a training catches it, as nothing catches a kill."""


@contextmanager
def killed_in_epoch(last: int, trainer: type[Any]) -> Iterator[None]:
    """Such a training ends where that epoch begins. By a real kill: tests/lab/training/test_loop.py."""
    epoch = trainer._epoch

    def killed(self: Any, number: int) -> tuple[float, ...]:
        if number == last - 1:
            raise Killed
        return epoch(self, number)  # type: ignore[no-any-return]

    with pytest.MonkeyPatch.context() as patched, pytest.raises(Killed):
        patched.setattr(trainer, "_epoch", killed)
        yield


def but_time(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metrics.items() if name != "seconds"}


def refusal(train: Callable[..., Any], settings: Any, output: Path) -> str:
    """What a training says that is refused."""
    with pytest.raises(BadInput) as problem:
        train(settings, output, progress=False)
    return str(problem.value)


def predicted(output: Path, split: str) -> dict[str, str]:
    """A run's answers by row."""
    found: dict[str, str] = json.loads((output / f"predictions_{split}.json").read_text())
    return found


def numbers_of_curve(output: Path) -> list[dict[str, float]]:
    """The rows of a run's curves.csv."""
    with (output / "curves.csv").open(newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
