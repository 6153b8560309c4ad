"""`common_length`: the length that lists share, and the names of lists that differ."""

from __future__ import annotations

import pytest

from humor_tasks import scorers
from humor_tasks.errors import BadInput


def test_the_common_length() -> None:
    assert scorers.validation.check_same_length(a=[1, 2], b="xy") == 2


def test_different_lengths_are_named() -> None:
    with pytest.raises(BadInput, match="values has 2, clusters has 1"):
        scorers.validation.check_same_length(values=[1, 2], clusters=[1])
