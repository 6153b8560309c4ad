"""A benchmark run with a model in Inspect."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from inspect_ai import eval

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.client import open_model
from humor_tasks.on_inspect.errors import plain
from humor_tasks.on_inspect.private import PrerequisiteError
from humor_tasks.results import read_results
from humor_tasks.scorers.estimate import Estimate


def run_model(benchmark: str, name: str, parameters: Mapping[str, Any]) -> Mapping[str, Estimate]:
    """Every metric of the model on the benchmark; the log stays in Inspect's folder of logs.

    Raises BadInput for a model that cannot be used and for a run that fails.
    """
    model = open_model(name)
    try:
        with redirect_stdout(sys.stderr):  # stdout is for the verdict
            (log,) = eval(f"humor_tasks/{benchmark}", task_args=dict(parameters), model=model)
    except (PrerequisiteError, ValueError) as problem:
        raise BadInput(f"{name}: {plain(problem)}") from None
    if log.status != "success":
        raise BadInput(f"{name}: the run ended with status {log.status} ({log.error and log.error.message}).")
    (result,) = read_results([Path(log.location)]).results
    return dict(result.estimates)
