"""What every training here costs beside its steps, once a worker."""

from __future__ import annotations

import gc
import sys

import pytest

SEEN = [0]
"""The number of modules that were there when garbage was last collected for good."""


@pytest.fixture(autouse=True)
def no_garbage_of_imports() -> None:
    """accelerate collects garbage after each training: half a second, of which most is for what imports left."""
    if len(sys.modules) > SEEN[0] + 200:
        gc.collect()
        gc.freeze()
        SEEN[0] = len(sys.modules)
