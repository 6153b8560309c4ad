"""Dates of the New Yorker's caption contests, from their numbers: about 47 a year since April 2005."""

from __future__ import annotations

import datetime
import re

from humor_tasks.errors import BadInput

FIRST_CONTEST = datetime.date(2005, 4, 25)
CONTESTS_PER_YEAR = 47
LAST_CONTEST = 2000  # higher numbers are those of invented contests
DATE_MARGIN = datetime.timedelta(days=91)
"""The error of a date; contests closer than this to a cut-off are on neither side of it."""


def contest_date(number: int) -> datetime.date:
    """The approximate date of a contest, see the module."""
    return FIRST_CONTEST + datetime.timedelta(days=round((number - 1) * 365.25 / CONTESTS_PER_YEAR))


def last_until(day: datetime.date) -> int:
    """The last contest that may be of this day or before; later ones are after it in spite of the error of dates."""
    return max((n for n in range(LAST_CONTEST + 1) if contest_date(n) - DATE_MARGIN <= day), default=0)


def read_date(text: str) -> datetime.date:
    """The date of YYYY-MM-DD, or the last day of YYYY-MM. Raises BadInput for other texts."""
    match = re.fullmatch(r"(\d{4})-(\d{2})(?:-(\d{2}))?", text)
    try:
        if match and match[3]:
            return datetime.date(int(match[1]), int(match[2]), int(match[3]))
        if match:
            year, month = int(match[1]) + int(match[2]) // 12, int(match[2]) % 12 + 1
            if int(match[2]) in range(1, 13):
                return datetime.date(year, month, 1) - datetime.timedelta(days=1)
    except ValueError:
        pass
    raise BadInput(f"cutoff is '{text}'; write a month as 2023-09, or a day as 2023-09-30.")
