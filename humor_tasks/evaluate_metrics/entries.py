"""One entry of an input column: its reading and its type in the table that `evaluate` keeps.

`evaluate` alone would turn 1.7 into 1 and any object into text, and answers the rest with a print of whole columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from datasets import List, Value

Reader = Callable[[Any], Any]
LARGEST = 1e100
"""Of a number's size: squares of larger ones, and their sums, may overflow."""
FINITE = f"a finite number of at most {LARGEST:g} in size"


@dataclass(frozen=True)
class Entry:
    """The type in the table, the reading of one entry, and what an entry must be, in words.

    `read` returns what is stored, and raises TypeError or ValueError where the entry is of another kind.
    """

    feature: Any
    read: Reader
    wanted: str


def plain(value: Any) -> Any:
    """A scalar of numpy, torch or jax as the Python number that it is; what numpy masks stays, for it has no value."""
    scalar = getattr(value, "ndim", None) == 0 and hasattr(value, "item") and not hasattr(value, "mask")
    return value.item() if scalar else value


def read_label(value: Any) -> str:
    """A choice's letter or number, as text: 1, True and "1" are one label."""
    value = plain(value)
    if isinstance(value, int):
        return str(int(value))
    if not isinstance(value, str) or not value.strip():
        raise TypeError
    value.encode()  # a lone surrogate raises ValueError, and could not be stored
    return value


def read_choice(value: Any) -> str:
    """A label without the white space around it, which a reply may have."""
    return read_label(value).strip()


def read_number(value: Any) -> float:
    """A finite number of at most LARGEST."""
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise TypeError
    return float(value)


def read_verdict(value: Any) -> bool:
    """True or 1, False or 0."""
    value = plain(value)
    if not isinstance(value, int) or value not in (0, 1):
        raise TypeError
    return bool(value)


def read_funnier(value: Any) -> int:
    """1 or 2, the funnier of two; 0 is a tie."""
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1, 2):
        raise TypeError
    return value


def read_means(value: Any) -> list[float]:
    """Two mean grades, in their order."""
    if isinstance(value, (bytes, Mapping, Set)):
        raise TypeError
    first, second = value
    return [read_number(first), read_number(second)]


def or_missing(read: Reader, stored: Any = None) -> Reader:
    """`read`, with None allowed, which is stored as `stored`."""
    return lambda value: stored if value is None else read(value)


# The first entry of a column of text must not be null in `evaluate`: "" stands for what is missing.
CLUSTER = Entry(
    Value("string"),
    read_label,
    "the id of the row's cluster, such as its contest: text or whole number; leave out clusters where rows have none",
)
LABEL = Entry(Value("string"), read_choice, "the label of the right choice: text such as 'A', or a whole number")
CHOSEN = Entry(
    Value("string"),
    or_missing(read_choice, ""),
    "the label of the chosen caption: text such as 'A', a whole number, or None where a reply names none",
)
RATING = Entry(Value("float64"), read_number, f"a rating, {FINITE}; leave out the rows without one")
GRADE = Entry(Value("float64"), read_number, f"a mean grade, {FINITE}")
FUNNIER = Entry(
    Value("int64"), or_missing(read_funnier), "1 or 2, the text predicted funnier, 0 for a tie, or None without answer"
)
MEANS = Entry(List(Value("float64"), length=2), read_means, "the two texts' mean grades, such as [1.4, 0.8]")
HUMAN = Entry(Value("bool"), read_verdict, "a person's verdict: True or 1 (PASS), or False or 0 (FAIL)")
JUDGED = Entry(
    Value("bool"),
    or_missing(read_verdict),
    "the judge's verdict: True or 1 (PASS), False or 0 (FAIL), or None without verdict",
)
