"""What OFA's published code gave, which is no part of this project."""

from __future__ import annotations

from pathlib import Path

import pytest
from standins.ofa import published_outputs


@pytest.fixture(scope="session")
def golden(real_data: Path) -> Path:
    return published_outputs(real_data)
