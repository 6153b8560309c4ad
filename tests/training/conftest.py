"""What every training here costs beside its steps, once a worker."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest
from standins import launches

SEEN = [0]
"""The number of modules that were there when garbage was last collected for good."""


@pytest.fixture(autouse=True)
def no_garbage_of_imports() -> None:
    """accelerate collects garbage after each training: half a second, of which most is for what imports left."""
    if len(sys.modules) > SEEN[0] + 200:
        gc.collect()
        gc.freeze()
        SEEN[0] = len(sys.modules)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes trained, each with the whole network."""
    return launches.in_two(tmp_path_factory, "whole")


@pytest.fixture(scope="session")
def fsdp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes trained with networks divided by FSDP2."""
    return launches.in_two(tmp_path_factory, "fsdp")


@pytest.fixture(scope="session")
def deepspeed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes trained with networks divided by DeepSpeed."""
    return launches.in_two(tmp_path_factory, "deepspeed")
