"""What the tests of OFA's training read: a few rows, and a tiny network with their words."""

from __future__ import annotations

import pytest
from standins.once import made_once
from standins.small_sample import small_sample
from standins.tiny_ofa import tiny_ofa

from humor_tasks.lab.training.ofa.data import Splits, read_splits
from humor_tasks.lab.training.ofa.settings import OfaTrainConfig


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One contest a block, with four questions."""
    return str(made_once(tmp_path_factory, "ofa_sample", lambda folder: small_sample(folder / "rows")) / "rows")


@pytest.fixture(scope="session")
def tiny(splits: Splits, tmp_path_factory: pytest.TempPathFactory) -> str:
    words = [row.answer for row in splits.train]
    return str(
        made_once(tmp_path_factory, "ofa_tiny", lambda folder: tiny_ofa(folder / "tiny", words, size=600)) / "tiny"
    )


@pytest.fixture(scope="session")
def splits(sample: str) -> Splits:
    return read_splits(OfaTrainConfig("x", dataset=sample))
