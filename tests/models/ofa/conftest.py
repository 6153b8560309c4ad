"""The published reference outputs of OFA, which are no part of this project."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def golden(real_data: Path) -> Path:
    folder = real_data.parent / "ofa" / "golden"
    if not folder.is_dir():
        pytest.skip("there is no ofa/golden beside the folder of HUMOR_TASKS_REAL_DATA")
    return folder
