"""What the tests of CLIP's training read: a few rows, and a tiny network."""

from __future__ import annotations

import pytest
from standins import tiny_clip, tiny_clip_folder
from standins.once import made_once
from standins.small_sample import small_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two rows a block."""
    return str(made_once(tmp_path_factory, "clip_sample", lambda folder: small_sample(folder / "rows")) / "rows")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = made_once(tmp_path_factory, "clip_tiny", tiny_clip_folder.saved)
    tiny_clip.register(folder)  # in this process, which may not have made it
    return str(folder / "tiny")
