"""Intervals of nominal 95 % on items clustered in contests; `speed/coverage_preference.py` simulates more."""

from __future__ import annotations

import math
import runpy

import pytest
from standins.paths import REPOSITORY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "simulations"),
    [
        ("win rate", 400),
        ("win rate, length-controlled", 400),
        ("paired difference", 400),
        ("Bradley-Terry difference", 40),
    ],
)
def test_intervals_hold_the_truth_if_they_know_of_the_contests_and_else_do_not(name: str, simulations: int) -> None:
    """Within three standard errors of .95 by contest, and below that with each row its own cluster."""
    script = runpy.run_path(str(REPOSITORY / "speed" / "coverage_preference.py"))
    (case,) = [case for case in script["cases"](draws=100) if case.name == name]
    by_contest, by_row = script["coverage"](case, simulations, by_row_every=5)
    margin = 3 * math.sqrt(0.95 * 0.05 / simulations)
    assert abs(by_contest - 0.95) <= margin
    assert by_row < min(0.87, 0.95 - margin)
