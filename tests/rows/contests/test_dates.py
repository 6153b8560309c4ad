"""Dates of contests and of cutoffs, as `humor-tasks analyse --cutoff` reads them."""

from __future__ import annotations

import datetime

import pytest

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.card import has_dates
from humor_tasks.errors import BadInput
from humor_tasks.rows.contests.dates import contest_date, read_date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2023-09", (2023, 9, 30)),
        ("2023-12", (2023, 12, 31)),
        ("2024-02", (2024, 2, 29)),
        ("2023-09-15", (2023, 9, 15)),
    ],
)
def test_a_cutoff_is_the_end_of_its_month_or_a_day(text: str, date: tuple[int, int, int]) -> None:
    assert read_date(text) == datetime.date(*date)


@pytest.mark.parametrize("text", ["2023", "2023-13", "2023-00", "2023-02-30", "09/2023", "", "2023-9"])
def test_other_cutoffs_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="write a month as 2023-09"):
        read_date(text)


def test_dates_of_contests() -> None:
    assert contest_date(1) == datetime.date(2005, 4, 25)
    assert contest_date(510).year == 2016
    assert has_dates(BENCHMARKS["matching"].card, ["1", "763"])
    assert not has_dates(BENCHMARKS["matching"].card, ["9001"])
    assert not has_dates(BENCHMARKS["humicroedit_rating"].card, ["12"])
