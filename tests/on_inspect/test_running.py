"""Runs that a command starts: the log of one that finishes, and what is said of one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import running
from humor_tasks.on_inspect.running import finished
from humor_tasks.testing import ScriptedModel

TASK = Task(dataset=[Sample(input="Why?")])


def test_a_run_that_finishes(tmp_path: Path) -> None:
    log = finished(TASK, "x: the run", model=ScriptedModel("m", "So.").model, log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    assert Path(log.location).parent == tmp_path


def test_a_run_that_fails_names_the_error_and_the_remedy(tmp_path: Path) -> None:
    model = ScriptedModel("m", lambda messages: RuntimeError("the model is down")).model
    with pytest.raises(BadInput, match=r"^x: the run ended with status error: .*the model is down.* run the command a"):
        finished(TASK, "x: the run", model=model, log_dir=str(tmp_path), display="none")


def test_a_log_that_cannot_be_written_and_a_run_that_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"^x: the run: the log cannot be written \(.*\)"):
        finished(TASK, "x: the run", model=ScriptedModel("m", "So.").model, log_dir=__file__, display="none")
    monkeypatch.setattr(running, "eval", lambda *_, **__: [])  # as after Ctrl-C
    with pytest.raises(BadInput, match="x: the run was interrupted"):
        finished(TASK, "x: the run")
