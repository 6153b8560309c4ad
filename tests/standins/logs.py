"""What tests read from the logs of both harnesses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog


def metrics(log: EvalLog, scorer: int = 0) -> dict[str, float]:
    """Those of one of the log's scorers."""
    assert log.results
    return {name: metric.value for name, metric in log.results.scores[scorer].metrics.items()}


def replies(log: EvalLog) -> dict[str, str]:
    """By the sample's id."""
    assert log.status == "success", log.error
    return {str(sample.id): sample.output.completion for sample in log.samples or []}


def lm_eval_results(folder: Path) -> dict[str, Any]:
    """The one file of results that lm-eval wrote below the folder."""
    (path,) = folder.rglob("results_*.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found
