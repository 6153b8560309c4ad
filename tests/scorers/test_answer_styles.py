"""How much of replies in the styles of model families the strict parser reads (`standins/reply_styles.py`)."""

from __future__ import annotations

from standins.reply_styles import MISSED, TABLE

from humor_tasks import scorers

FIVE = "ABCDE"


def test_replies_are_read_as_a_person_reads_them_or_not_at_all() -> None:
    """The figures of CHANGELOG.md: right, missed and wrong letters. A wrong letter is never accepted."""
    expected = {reply: None if reply in MISSED else letter for reply, letter in TABLE}
    assert {reply: scorers.read_answer(reply, FIVE).letter for reply in expected} == expected
    assert sum(letter == expected[reply] for reply, letter in TABLE) == len(TABLE) - len(MISSED) == 217


def test_ten_choices_have_the_letter_i_which_is_also_a_pronoun() -> None:
    for reply in ("Answer: I cannot decide", "Answer: I was torn", "Answer: I would say none", "Answer: I think so"):
        assert scorers.read_answer(reply, "ABCDEFGHIJ") == scorers.Reading(None, "unparsed")
    assert scorers.read_answer("Answer: I", "ABCDEFGHIJ").letter == "I"
