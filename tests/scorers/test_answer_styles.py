"""How much of replies in the styles of model families the strict parser reads (`standins/reply_styles.py`)."""

from __future__ import annotations

import pytest
from standins.reply_styles import MISSED, TABLE

from humor_tasks import scorers

FIVE = "ABCDE"


@pytest.mark.parametrize(("reply", "letter"), TABLE)
def test_a_reply_is_read_as_a_person_reads_it(reply: str, letter: str | None) -> None:
    assert scorers.read_answer(reply, FIVE).letter == (None if reply in MISSED else letter)


def test_the_share_of_replies_read_is_known() -> None:
    """The figures of CHANGELOG.md: right, missed and wrong letters. A wrong letter is never accepted."""
    found = [(scorers.read_answer(reply, FIVE).letter, letter) for reply, letter in TABLE]
    assert [letter for letter, said in found if letter not in (None, said)] == []
    assert sum(letter == said for letter, said in found) == len(TABLE) - len(MISSED) == 217


def test_ten_choices_have_the_letter_i_which_is_also_a_pronoun() -> None:
    for reply in ("Answer: I cannot decide", "Answer: I was torn", "Answer: I would say none", "Answer: I think so"):
        assert scorers.read_answer(reply, "ABCDEFGHIJ") == scorers.Reading(None, "unparsed")
    assert scorers.read_answer("Answer: I", "ABCDEFGHIJ").letter == "I"
