"""`read_answer`: thinking, refusals, letters outside the choices, and the extraction rules of published code."""

from __future__ import annotations

import pytest

from humor_tasks import scorers
from humor_tasks.errors import BadInput

FIVE = "ABCDE"


@pytest.mark.parametrize(
    ("reply", "letter", "status"),
    [
        ("<think>Answer: A", None, "unparsed"),
        ("Answer: B <think>or A?", None, "unparsed"),
        ("<think>Answer: A</think>", None, "empty"),
        ("<think>Answer: A</think>\nI can't help with that.", None, "refused"),
        ("", None, "empty"),
        (" \n\t", None, "empty"),
        ("I'm sorry, but I can't help with that.", None, "refused"),
        ("I can't tell which is funniest. Answer: B", "B", "answered"),
        ("I'm sorry, but I can't do better than this. Answer: B", "B", "answered"),
    ],
)
def test_thinking_refusals_and_silence(reply: str, letter: str | None, status: str) -> None:
    assert scorers.read_answer(reply, FIVE) == scorers.Reading(letter, status)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Answer: B", "B"),
        ("B) bears", "B"),
        ("Answer: C", None),
        ("C", None),
        ("Answer: A, C", "A"),
        ("\\boxed{C}", None),
    ],
)
def test_letters_outside_the_choices_are_not_read(reply: str, letter: str | None) -> None:
    assert scorers.read_answer(reply, "AB").letter == letter


@pytest.mark.parametrize(
    ("reply", "letters", "letter"),
    [
        *(("Answer: C", FIVE, "C"), ("So: Answer: C and again Answer: C", FIVE, "C")),
        ("Final Answer: C", FIVE, "C"),  # what the release's second model answers
        ("Answer: Actually, B", FIVE, "A"),  # a defect of the released rule, repeated
        *(("Answer: A or Answer: B", FIVE, None), ("**Answer:** C", FIVE, None), ("answer: C", FIVE, None)),
        *(("Answer:C", FIVE, None), ("Answer: F", FIVE, None), ("The answer is C", FIVE, None)),
        *(("C", FIVE, None), ("Answer: B", "AB", "B"), ("Answer: C", "AB", None)),
        *(("Answer: B, not Answer: C", "AB", None), ("<think>Answer: C", FIVE, "C")),
    ],
)
def test_released_chat(reply: str, letters: str, letter: str | None) -> None:
    assert scorers.read_answer(reply, letters, "released_chat") == scorers.Reading(
        letter, "answered" if letter else "unparsed"
    )


def test_released_chat_tells_refusals_and_silence_apart() -> None:
    assert scorers.read_answer("I cannot assist with that.", FIVE, "released_chat") == scorers.Reading(None, "refused")
    assert scorers.read_answer(" ", FIVE, "released_chat") == scorers.Reading(None, "empty")


@pytest.mark.parametrize(
    ("reply", "letters", "letter", "fallback"),
    [
        ("Final Answer: C", FIVE, "C", False),
        ("Final Answer: C ... Final Answer: D", FIVE, "C", False),
        ("Final Answer: Certainly", FIVE, "C", False),
        ("Final Answer: F, Final Answer: D", FIVE, "D", False),
        ("Answer: C", FIVE, "E", True),
        ("It is a bear. Answer: C.", FIVE, "E", True),
        ("Answer: C\n\nIt is a bear.", FIVE, "E", True),
        ("It is a bear, Answer: C", FIVE, "E", True),
        ("The answer is C", FIVE, "E", True),
        ("**Final Answer:** C", FIVE, "E", True),
        ("", FIVE, "E", True),
        ("I can't help with that.", FIVE, "E", True),
        ("Final Answer: C", "AB", "B", True),
        ("Final Answer: A", "AB", "A", False),
    ],
)
def test_released_leaderboard(reply: str, letters: str, letter: str, fallback: bool) -> None:
    assert scorers.read_answer(reply, letters, "released_leaderboard") == scorers.Reading(letter, "answered", fallback)


def test_unknown_modes_and_letters_are_refused() -> None:
    with pytest.raises(BadInput, match=r"extraction mode: there is no 'strickt'.*Did you mean 'strict'"):
        scorers.read_answer("Answer: A", FIVE, "strickt")
    for letters in ("", "abc", "AA", "A-E", "AB "):
        with pytest.raises(BadInput, match="distinct capitals"):
            scorers.read_answer("Answer: A", letters)
