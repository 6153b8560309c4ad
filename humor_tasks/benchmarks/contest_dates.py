"""The dates of caption contests, from their numbers.

The contest has run weekly since the issue of 25 April 2005 (contest 1), in 47 issues a year: five of 52 are double
issues. A contest's date is therefore known to about a quarter of a year, which is enough to ask what lies before and
after the end of a model's training data.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

from humor_tasks.benchmarks.card import Card
from humor_tasks.errors import BadInput

FIRST = datetime.date(2005, 4, 25)
PER_YEAR = 47
LAST = 2000  # higher numbers are those of invented contests
MARGIN = datetime.timedelta(days=91)
"""The error of a date; contests closer than this to a cut-off are on neither side of it."""


def contest_date(number: int) -> datetime.date:
    """The approximate date of a contest, see the module."""
    return FIRST + datetime.timedelta(days=round((number - 1) * 365.25 / PER_YEAR))


def last_until(day: datetime.date) -> int:
    """The last contest that may be of this day or before; later ones are after it in spite of the error of dates."""
    return max((n for n in range(LAST + 1) if contest_date(n) - MARGIN <= day), default=0)


def has_dates(card: Card, clusters: Iterable[str]) -> bool:
    """Whether the clusters of a benchmark are contests with dates; those of the packaged sample are invented."""
    return card.dated and all(c.isdecimal() and 1 <= int(c) <= LAST for c in clusters)


def read_date(text: str) -> datetime.date:
    """The date of YYYY-MM-DD, or the last day of YYYY-MM. Raises BadInput for other texts."""
    found = re.fullmatch(r"(\d{4})-(\d{2})(?:-(\d{2}))?", text)
    try:
        if found and found[3]:
            return datetime.date(int(found[1]), int(found[2]), int(found[3]))
        if found:
            year, month = int(found[1]) + int(found[2]) // 12, int(found[2]) % 12 + 1
            if int(found[2]) in range(1, 13):
                return datetime.date(year, month, 1) - datetime.timedelta(days=1)
    except ValueError:
        pass
    raise BadInput(f"cutoff is '{text}'; write a month as 2023-09, or a day as 2023-09-30.")
