"""Shared fixtures: real rows, graded logs, and harness settings that keep tests apart from the user's machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from standins.graded_logs import Logs

# One thread a process, set before numpy or torch loads and inherited by the processes that tests start: as many workers
# run as there are cores, and sums are made in one order.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real public rows, which are not part of this project."""
    folder = os.environ.get("HUMOR_TASKS_REAL_DATA")
    if not folder:
        pytest.skip("HUMOR_TASKS_REAL_DATA is not set: real rows are not part of this project")
    return Path(folder)


@pytest.fixture(scope="session")
def real_corpus(real_data: Path) -> str:
    """The caption contest rows as a local dataset folder."""
    return str(real_data / "newyorker_caption_contest")


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """Each is made when a test first asks for it."""
    from standins.graded_logs import Logs

    return Logs(tmp_path_factory.mktemp("graded"))


@pytest.fixture(autouse=True)
def quiet_inspect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Logs into the test's own folder, plain output, no telemetry, no hub."""
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
