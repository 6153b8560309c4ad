"""The captions of real contests, read once for every sample that must not repeat one."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from standins.cards import plain


@pytest.fixture(scope="session")
def crowd_captions(real_data: Path) -> frozenset[str]:
    """Every caption that a crowd rated, as `plain` has it."""
    found: set[str] = set()
    for path in (real_data / "newyorker_raw" / "crowd").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            place = next(rows).index("caption")
            found |= {row[place] for row in rows if row}
    assert len(found) > 500_000
    return frozenset(map(plain, found))
