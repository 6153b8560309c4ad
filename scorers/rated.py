"""A grader's rating of a text from 1 to 5, read as strictly as a verdict (see `verdict`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .answer import Status
from .verdict import Form, read_word

WORDS: dict[str, int] = {str(value): value for value in range(1, 6)}


@dataclass(frozen=True)
class Rated:
    """The grader's rating (1 worst, 5 best) and its reasons; without a rating, None with the reason in `status`."""

    value: int | None
    reasons: str
    status: Status


def read_rated(reply: str, form: Form | None = None) -> Rated:
    """The rating in a grader's `reply`: <judgement>4</judgement>, or the same in a JSON object, where 4 may be a
    number.

    The rules are those of `read_verdict`: only the end of the reply, or an object that is the whole reply, counts. A
    number without its tag, "4/5", 4.5, "four" and two ratings that differ are unparsed. `read_rating` searches for a
    number anywhere and is not suitable here, because a graded story may hold many numbers.
    """
    return Rated(*read_word(reply, WORDS, form))


def panel_rating(ratings: Sequence[float | None]) -> float | None:
    """The mean of a panel's ratings if more than half of all graders gave one; else None."""
    given = [rating for rating in ratings if rating is not None]
    return math.fsum(given) / len(given) if 2 * len(given) > len(ratings) else None
