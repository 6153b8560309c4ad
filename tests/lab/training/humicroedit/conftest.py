"""What the tests of these systems' training read: rows, and an encoder with their words."""

from __future__ import annotations

import pytest
from standins.humicroedit_rows import tiny_encoder, write_folder
from standins.once import made_once

SPLITS = {"train": 30, "train_funlines": 6, "dev": 12, "test": 8}


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(made_once(tmp_path_factory, "humicroedit_rows", lambda folder: write_folder(folder, SPLITS)))


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(made_once(tmp_path_factory, "humicroedit_encoder", tiny_encoder))
