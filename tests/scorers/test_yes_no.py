"""`read_yes_no`: the word that a reply commits itself to, and what is no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.scorers import read_answer, read_yes_no
from humor_tasks.scorers.yes_no import WORDS

READ = [
    *(("Answer: yes", "yes"), ("Answer: no", "no"), ("answer: No.", "no"), ("**Answer:** YES", "yes")),
    *(("Answer: Y", "yes"), ('{"answer": "no"}', "no"), ("<answer>Yes</answer>", "yes")),
    *(("The answer is no, because it is meant.", "no"), ("The final answer is **yes**.", "yes")),
    ("There is no joke here. Answer: no", "no"),
    ("No, wait. Answer: yes", "yes"),
    ("Answer: no\nLet me look again.\nAnswer: yes", "yes"),
    *(("Yes", "yes"), ("no.", "no"), ('"Yes"', "yes")),
    ("Yes, because nobody would say so in earnest.", "yes"),
    *(("**No.** The caption says what it means.", "no"), ("No\n\nThe caption is plain.", "no")),
    *(("Answer: 'no'", "no"), ("'Yes.'", "yes"), ('"Yes", because nobody would say so.', "yes")),
    *(('Yes. He says "yes" and means "no".', "yes"), ("No, I can't see anything sarcastic in it.", "no")),
    # its first sentence says the word in full: what follows may weigh it
    ("No, the caption is not humorous. It comes from a film, but it's not a humorous one.", "no"),
    ("No, the last utterance is not sarcastic. It is a dialogue, but it is not a sarcastic dialogue.", "no"),
    ("Yes, this caption is sarcastic. It praises the rain, although nobody likes rain.", "yes"),
    ("No, it is not funny at first sight. Answer: yes", "yes"),
]
UNREAD = [
    ("No, the last utterance is not sarcastic. It is a question, and the answer is yes.", "unparsed"),
    ("Yes, the caption is sarcastic. But then it is not sarcastic.", "unparsed"),
    ("No, the caption is not sarcastic. But it's a sarcastic caption's cousin, and it is sarcastic.", "unparsed"),
    ("No, the caption is not sarcastic. Wait, it may be.", "unparsed"),
    ("No, the caption is sarcastic. But he means it.", "unparsed"),
    ("", "empty"),
    ("<think>Answer: yes", "unparsed"),
    ("Yes and no.", "unparsed"),
    ("Yes, but actually no", "unparsed"),
    ("Answer: not sarcastic", "unparsed"),
    ("It is sarcastic.", "unparsed"),
    ("No joke is made here", "unparsed"),
    ("No-one laughs", "unparsed"),
    ("The no's have it", "unparsed"),
    ("No, I can't tell.", "unparsed"),
    ("Answer: A", "unparsed"),
    ("Answer: yesterday", "unparsed"),
    ("My answer: maybe. Yes, no", "unparsed"),
    ('"No, thanks," she says. It is sarcastic.', "unparsed"),
    ("No. The caption is plain.\nFinal: **Yes**", "unparsed"),
    ("I'm sorry, but I can't help with that.", "refused"),
]


@pytest.mark.parametrize(("reply", "word"), READ)
def test_what_a_reply_commits_itself_to(reply: str, word: str) -> None:
    assert read_yes_no(reply) == (word, "answered")


@pytest.mark.parametrize(("reply", "status"), UNREAD)
def test_nothing_is_guessed(reply: str, status: str) -> None:
    assert read_yes_no(reply) == (None, status)


@given(st.text(), st.sampled_from(WORDS), st.text())
def test_any_text_is_read_without_an_error(before: str, word: str, after: str) -> None:
    found, status = read_yes_no(f"{before}{word}{after}")
    assert found in (*WORDS, None)
    assert (found is None) == (status != "answered")


@given(st.sampled_from(["Answer: {}", "The answer is {}.", "{}", "**{}**", "{}, it is."]), st.sampled_from(WORDS))
def test_yes_and_no_are_read_alike(form: str, word: str) -> None:
    assert read_yes_no(form.format(word)) == (word, "answered")
    assert read_yes_no(form.format(word.upper())) == (word, "answered")


@given(st.text(alphabet="ABCDE aswer:.\n"))
def test_a_reply_without_either_word_is_no_answer(reply: str) -> None:
    """Letters of other choices, which the reader of letters would take, are none here."""
    assert read_yes_no(reply)[0] is None
    assert read_answer("Answer: A", "AB").letter == "A"
