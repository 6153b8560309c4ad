"""Prediction files: texts by instance id, without any other information about the run."""

from __future__ import annotations

from pathlib import Path

from humor_tasks.data.logs.record import FinishedRun, LoggedSample
from humor_tasks.data.predictions import read_predictions
from humor_tasks.data.signature import Signature


def read_texts(path: Path) -> FinishedRun:
    """The predictions as replies; the model's name is the file name. See `read_predictions` for the formats."""
    found = [_sample(path, identity, text) for identity, text in read_predictions(path).items()]
    return FinishedRun(
        path,
        "predictions",
        None,
        version="-",
        signature=Signature(),
        model=path.stem,
        instances=len(found),
        samples=found,
    )


def _sample(path: Path, identity: str, text: str) -> LoggedSample:
    return LoggedSample(
        where=f"{path}, id {identity}",
        id=identity,
        epoch=1,
        cluster=identity,
        groups={},
        benchmark=None,
        version=None,
        options={},
        choices=(),
        fields={},
        points=(),
        prompt="",
        reply=text,
        raw=text,
    )
