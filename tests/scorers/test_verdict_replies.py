"""How many honest replies in tag form are read, and how many that end with a decoded quotation are turned around."""

from __future__ import annotations

import html
import json
from collections import Counter

import pytest
from standins.attacks import ATTACKS
from standins.grader_replies import FAILED, PREFERRED, WORDS, honest

from humor_tasks.scorers.verdict import as_data, read_verdict, read_word


def reading(reply: str, word: str, words: tuple[str, ...]) -> str:
    """Whether the grader's own verdict was read, none, or another one."""
    read, _, _ = read_word(reply, {each: each for each in words}, "tags")
    return "own" if read == word else "unread" if read is None else "turned"


@pytest.mark.parametrize(("words", "word"), [(words, word) for words in WORDS.values() for word in words])
def test_every_honest_reply_is_read(words: tuple[str, ...], word: str) -> None:
    assert {style: reading(reply, word, words) for style, reply in honest(word, words).items()} == dict.fromkeys(
        honest(word, words), "own"
    )


@pytest.mark.parametrize(("replies", "word", "words"), [(FAILED, "FAIL", "verdict"), (PREFERRED, "B", "preferred")])
def test_a_quotation_at_the_end_turns_hardly_any_reply_around(
    replies: dict[str, list[str]], word: str, words: str
) -> None:
    found = {
        ending: Counter(reading(reply, word, WORDS[words]) for reply in each)["turned"]
        for ending, each in replies.items()
    }
    assert sum(map(len, replies.values())) == 460
    # A quoted </think> hides all that precedes it; only a verdict after reasoning in tags is still noticed.
    assert {ending: turned for ending, turned in found.items() if turned} == {"without reasoning tags": 2}


def test_nothing_may_follow_an_object() -> None:
    given = json.dumps({"reasoning": "It says nothing of the bars.", "judgement": "FAIL"})
    quoted = [html.unescape(as_data(attack)) for attack in ATTACKS]
    replies = [f"{given}\n{before}{text}" for text in quoted for before in ("", "The text that I checked:\n")]
    assert {read_verdict(reply, "json").passed for reply in replies} == {None}
