"""What several tests read and none changes, made once a run for all workers of pytest-xdist."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` filled: the first worker that asks makes it, the others wait for it and read it.

    `name` names the folder within the run. After a failed `make`, the next test that asks makes it again.
    """
    return made_once_below(factory.getbasetemp(), name, make)


def made_once_below(base: Path, name: str, make: Callable[[Path], object]) -> Path:
    """As `made_once`, of the temporary folder of this worker."""
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made_once"
    home.mkdir(exist_ok=True)
    folder, unfinished = home / name, home / f"{name}.unfinished"
    with FileLock(home / f"{name}.lock"):
        if not folder.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)  # of a `make` that failed
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
