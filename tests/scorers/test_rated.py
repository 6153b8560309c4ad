"""Ratings from 1 to 5, read as strictly as verdicts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.scorers.verdict import RATING_WORDS, panel_rating, read_word


@pytest.mark.parametrize(
    ("reply", "value", "status"),
    [
        ("<reasoning>It has 2 dogs.</reasoning>\n<judgement>4</judgement>", 4, "answered"),
        ("<judgment> **5** </judgment>\n", 5, "answered"),
        ('{"reasoning": "So.", "judgement": "2"}', 2, "answered"),
        ('```json\n{"judgment": 3}\n```', 3, "answered"),
        ("<judgement>4/5</judgement>", None, "unparsed"),
        ("<judgement>4.5</judgement>", None, "unparsed"),
        ("<judgement>four</judgement>", None, "unparsed"),
        ("<judgement>3-4</judgement>", None, "unparsed"),
        ("<judgement>3</judgement>\n<judgement>4</judgement>", None, "unparsed"),
        ("4", None, "unparsed"),
        ('{"judgement": true}', None, "unparsed"),
        ('{"judgement": 2.0}', None, "unparsed"),
        ('{"judgement": 1' + "0" * 5000 + "}", None, "unparsed"),
    ],
)
def test_what_rates(reply: str, value: int | None, status: str) -> None:
    rating, _, read_as = read_word(reply, RATING_WORDS)
    assert (rating, read_as) == (value, status)


@given(st.integers(-10, 20))
def test_only_the_scale_is_read(value: int) -> None:
    expected = value if 1 <= value <= 5 else None
    assert read_word(f"<judgement>{value}</judgement>", RATING_WORDS)[0] == expected
    assert read_word(json.dumps({"reasoning": "r", "judgement": value}), RATING_WORDS)[0] == expected


@pytest.mark.parametrize(
    ("ratings", "found"),
    [
        ([4], 4),
        ([4, 5], 4.5),
        ([1, 5, 3], 3),
        ([4, None, 5], 4.5),
        ([4, None], None),
        ([None, None, 5], None),
        ([None], None),
        ([], None),
    ],
)
def test_a_panel(ratings: list[float | None], found: float | None) -> None:
    assert panel_rating(ratings) == found
