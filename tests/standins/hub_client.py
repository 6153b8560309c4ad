"""The hub's client and `datasets` as a new process with other environment variables would have them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def hub_client(**env: str) -> Iterator[None]:
    """Both read HF_ENDPOINT, HF_HOME and HF_HUB_OFFLINE when they are imported, which takes half a second."""
    try:
        with patch.dict(os.environ, env):
            _read_environment()
            yield
    finally:
        _read_environment()


def _read_environment() -> None:
    import datasets
    from huggingface_hub import HfFileSystem, constants, hf_api

    importlib.reload(constants)
    importlib.reload(datasets.config)
    hf_api.api.endpoint = constants.ENDPOINT
    HfFileSystem.clear_instance_cache()
