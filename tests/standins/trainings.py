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


def resumes_to_the_same_end(
    train: Callable[..., Any],
    trainer: type[Any],
    settings: Any,
    folder: Path,
    between: Callable[[Path], None] = lambda cut: None,
) -> None:
    """A run killed in its third epoch and started again leaves the metrics and the files of one that was not killed.

    between: called with the folder of the killed run before it is started again.
    """
    whole, cut = folder / "whole", folder / "cut"
    expected = train(settings, whole, progress=False)
    with killed_in_epoch(3, trainer):
        train(settings, cut, progress=False)
    assert len(numbers_of_curve(cut)) == 2
    assert list(cut.glob("checkpoint-*"))
    between(cut)
    assert but_time(train(settings, cut, progress=False)) == but_time(expected)
    names = {path.relative_to(whole) for path in whole.rglob("*") if path.is_file()}
    assert names == {path.relative_to(cut) for path in cut.rglob("*") if path.is_file()}
    for name in sorted(names - {Path("metrics.json")}):
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name


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
