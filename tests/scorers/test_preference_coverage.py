"""Intervals of nominal 95 %, on items clustered in contests; `speed/coverage_preference.py` simulates more."""

from __future__ import annotations

import runpy

import pytest
from standins.paths import REPOSITORY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "simulations"),
    [
        ("win rate", 2_000),
        ("win rate, length-controlled", 2_000),
        ("paired difference", 2_000),
        ("Bradley-Terry strength", 150),
        ("Bradley-Terry difference", 150),
    ],
)
def test_intervals_hold_the_truth_if_they_know_of_the_contests_and_else_do_not(name: str, simulations: int) -> None:
    script = runpy.run_path(str(REPOSITORY / "speed" / "coverage_preference.py"))
    (case,) = [case for case in script["cases"](draws=200) if case.name == name]
    by_contest, by_row = script["coverage"](case, simulations, by_row_every=5)
    assert 0.93 <= by_contest <= 0.97
    assert by_row < 0.87
