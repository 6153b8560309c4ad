"""Results of files of predictions for the sample, made from its records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from humor_tasks import load
from humor_tasks.results import Results, read_results


def predicted_results(path: Path, answer: Callable[[Any], str], task: str = "matching", **parameters: Any) -> Results:
    """The results of one file of predictions, made from the records."""
    run = load(task, dataset="sample", **parameters)
    rows = {record.id: answer(record) for record in run.records}
    path.write_text(json.dumps(rows), encoding="utf-8")
    return read_results([path], run)


def rated_alike(path: Path, rating: str) -> Results:
    return predicted_results(path, lambda record: rating, "humicroedit_rating")


def together(*found: Results) -> Results:
    return Results(tuple(result for each in found for result in each.results))


def target_of(record: Any) -> str:
    return str(record.target)


def always_a(record: Any) -> str:
    return "A"


def explanations(folder: Path) -> Path:
    """A file of one explanation for every row."""
    path = folder / "mine.json"
    path.write_text(json.dumps({r.id: "It is a pun." for r in load("explanation", dataset="sample").records}))
    return path
