"""The tiny CLIP, which every file here registers with open_clip and takes its weights of."""

from __future__ import annotations

import pytest
from standins import tiny_clip
from standins.clip_weights import State


@pytest.fixture(scope="module", autouse=True)
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_clip.register(tmp_path_factory.mktemp("architecture"))


@pytest.fixture(scope="module")
def state() -> State:
    return tiny_clip.state()


@pytest.fixture(scope="module")
def file(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_clip.weight_file(tmp_path_factory.mktemp("weights"))
