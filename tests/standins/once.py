"""What several tests read and none changes, made once a run for all workers of pytest-xdist."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` filled: the first worker that asks makes it, the others wait for it and read it.

    `name` names the folder within the run. A failed `make` leaves no folder: the next test that asks fails as well.
    """
    base = factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made_once"
    home.mkdir(exist_ok=True)
    folder, unfinished = home / name, home / f"{name}.unfinished"
    with FileLock(home / f"{name}.lock"):
        if not folder.is_dir():
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
