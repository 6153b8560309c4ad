"""`read_answer`: any reply is a choice or nothing, the last statement counts, and time grows linearly."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from standins.waiting import cpu_below

from humor_tasks import scorers

FIVE = "ABCDE"

FORMS = ["Answer: {}", "**Answer:** {}", "Answer: ({})", "The answer is {}.", "**Final Answer: {}**", "Answer:\n{}"]
ANSWERLIKE = re.compile(r"answer|boxed|think", re.IGNORECASE)
PIECES = [
    *("Answer", "answer", ":", "：", " is ", "A", "b", "C", "F", " or ", "/", "(", ")", "**", "_", "`", '"'),
    *("'", "’", "<think>", "</think>", "\\boxed{", "}", "<answer>", "The ", "not ", "Final ", "Option "),
    *("?", ".", "$", "-", "\n"),
]
replies = st.one_of(st.text(), st.lists(st.sampled_from([*PIECES, " "]), max_size=25).map("".join))


@given(replies, st.sampled_from([FIVE, "AB", "Z"]), st.sampled_from(list(scorers.MODES)))
def test_any_reply_is_read_as_a_choice_or_nothing(reply: str, letters: str, mode: str) -> None:
    reading = scorers.read_answer(reply, letters, mode)
    assert reading.letter is None or reading.letter in letters
    assert (reading.status == "answered") == (reading.letter is not None)
    assert scorers.read_answer(reply, letters, mode) == reading


def is_text(text: str) -> bool:
    """Whether all of it is read, as without markers of thinking and turns, and it names no answer."""
    return not ANSWERLIKE.search(text) and scorers.own_turn(f"{text}\n") == scorers.OwnTurn(f"{text}\n", len(text) + 1)


@given(st.text().filter(is_text), st.sampled_from(FORMS), st.sampled_from(FIVE))
def test_an_answer_behind_any_text_is_read(before: str, form: str, letter: str) -> None:
    assert scorers.read_answer(f"{before}\n{form.format(letter)}", FIVE).letter == letter


@given(replies, st.sampled_from(FORMS), st.sampled_from(FIVE))
def test_the_last_statement_at_the_end_counts(before: str, form: str, letter: str) -> None:
    before = before.replace("<think>", "")
    whole = f"{before}.\n\n{form.format(letter)}"
    own = scorers.own_turn(whole)
    assume(own.text is not None and not own.turn)
    assert scorers.read_answer(whole, FIVE).letter == letter


UNITS = [
    *("a", "A", " ", "\n", "\t", "<", "(", "*", "'", ")", "Answer", "Answer: ", "answer is ", "Answer:\n"),
    *("Answer: A ", "Answer: A or ", "Answer:\nA\n", "<think>", "</think>", "\\boxed{", "<b>", '`"', ". "),
    *("- ", "or ", "A, ", "A) ", "<|", "I'm sorry, ", "Not answer: A", "In conclusion, "),
    *("In conclusion, answer is ", ". Therefore, I choose ", "Final Answer: ", "n't the answer: A"),
]


@pytest.mark.parametrize("mode", list(scorers.MODES))
def test_time_is_linear(mode: str) -> None:
    for unit in UNITS:
        long = unit * (10_000 // len(unit))
        for reply in (long, f"Answer: A{long}x"):
            with cpu_below(0.4):
                scorers.read_answer(reply, FIVE, mode)
