"""Runs of baselines on the packaged sample of matching in both harnesses, made once for all tests that read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import eval
from standins.commands import lm_eval
from standins.once import made_once

from humor_tasks.on_inspect.tasks.caption_contest import matching


def sample_runs(factory: pytest.TempPathFactory) -> Path:
    """first/ and overlap/ by Inspect, short/ with a limit of 4, and lm/ by lm-eval."""
    return made_once(factory, "sample_runs", _make)


def _make(folder: Path) -> None:
    for place, name, limit in (("first", "first", None), ("overlap", "overlap", None), ("short", "random", 4)):
        task, where = matching(dataset="sample"), str(folder / place)
        eval(task, model=f"baseline/{name}", log_dir=where, limit=limit, display="log")
    how = ("--model", "humor-baseline", "--model_args", "strategy=longest", "--metadata", "dataset=sample")
    lm_eval("--tasks", "nyc_matching", *how, "--output_path", folder / "lm", "--log_samples", cwd=folder)
