"""The tiny CLIP of this room's tests: its architecture is known to open_clip, its weights are made once."""

from __future__ import annotations

import pytest
from safetensors.torch import save_file
from standins import tiny_clip
from standins.clip_weights import State


@pytest.fixture(scope="module", autouse=True)
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_clip.register(tmp_path_factory.mktemp("architecture"))


@pytest.fixture(scope="module")
def state() -> State:
    return tiny_clip.state()


@pytest.fixture(scope="module")
def file(state: State, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_file(state, path)
    return str(path)
