"""`read_explanation`: markers and fences, what holds no explanation, any reply, and linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.waiting import cpu_below

from humor_tasks import scorers


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Explanation: A bear would say so.", "A bear would say so."),
        ("It is a bear.\n\nExplanation: A bear would say so.", "A bear would say so."),
        ("Here's my best explanation: A bear would say so.", "A bear would say so."),
        ("**Explanation:** A bear would say so.", "A bear would say so."),
        ("**Explanation: A bear would say so.**", "A bear would say so."),
        ("### Explanation:\n\nA bear\n  would   say so.\n", "A bear would say so."),
        ("  > EXPLANATION : A bear would say so.", "A bear would say so."),
        ("Explanation：A bear would say so.", "A bear would say so."),
        ("Explanation: *Ursus* would **say** so.", "*Ursus* would **say** so."),
        ('Sure! I will end with "Explanation: ".\n\nExplanation: A bear would say so.', "A bear would say so."),
        ('I will finish with "Explanation: " and a joke.', 'I will finish with "Explanation: " and a joke.'),
        ('Explanation: "A bear" is a pun.', '"A bear" is a pun.'),
        # a repeated marker
        ("## Explanation:\n\nExplanation: A bear would say so.", "A bear would say so."),
        # no marker: the whole reply
        ("A bear would say so.", "A bear would say so."),
        ("The EXPLANATION: a bear", "The EXPLANATION: a bear"),
    ],
)
def test_explanations(reply: str, text: str) -> None:
    assert scorers.read_explanation(reply) == scorers.Explanation(text, "answered")


@pytest.mark.parametrize(
    ("reply", "text", "status"),
    [
        ("", "", "empty"),
        (" \n", "", "empty"),
        ("It is a bear.\nExplanation:", "", "empty"),
        ("**Explanation:**\n\n", "", "empty"),
        ("<think>Explanation: A bear.", "", "unparsed"),
        ("I'm sorry, but I can't help with that.", "I'm sorry, but I can't help with that.", "refused"),
        ("Explanation: I cannot assist with that.", "I cannot assist with that.", "refused"),
    ],
)
def test_replies_without_an_explanation(reply: str, text: str, status: str) -> None:
    assert scorers.read_explanation(reply) == scorers.Explanation(text, status)  # type: ignore[arg-type]


@given(st.text())
def test_any_reply_gives_a_text_or_a_reason(reply: str) -> None:
    read = scorers.read_explanation(reply)
    assert bool(read.text) == (read.status in ("answered", "refused"))


words = st.text(alphabet="abcd ,.'", min_size=1).filter(lambda text: text.strip())


@given(words, words)
def test_the_text_behind_the_marker_is_kept(before: str, text: str) -> None:
    assert scorers.read_explanation(f"{before}\nExplanation: {text}").text == " ".join(text.split())


@pytest.mark.parametrize(
    "unit", ["Explanation:", "Explanation: ", "\n  ** ", "*", " ", "\n", "explanation", "Summary: a "]
)
def test_time_is_linear(unit: str) -> None:
    with cpu_below(10):
        scorers.read_explanation(unit * (200_000 // len(unit)))
