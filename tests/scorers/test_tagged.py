"""`read_tagged` and `count_words`: complete and cut elements, what is no tag, any reply, and linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.waiting import cpu_below

from humor_tasks import scorers
from humor_tasks.scorers import Tagged

BEAR = "A bear would say so."


@pytest.mark.parametrize(
    "reply",
    [
        "<explanation>A bear would say so.</explanation>",
        "Sure!\n\n<explanation>\nA bear\n\n  would   say so.\n</explanation>\n\nI hope this helps.",
        "<EXPLANATION>A bear would say so.</Explanation>",
        '<explanation lang="en" words="5">A bear would say so.</explanation>',
        # a draft, then the text that is meant
        "<explanation>A whale.</explanation>\nBetter:\n<explanation>A bear would say so.</explanation>",
        "<explanation>A bear would say so.</explanation>\n<explanation></explanation>",
        "<explanation>A bear would say so.</explanation>\n<explanation>\n```\n```\n</explanation>",
        "<explanation>A bear would say so.</explanation>\n<explanation>A whale, cut o",
        # nested, or mentioned before it is used
        "<explanation>A whale. <explanation>A bear would say so.</explanation></explanation>",
        "I write it in <explanation> tags: <explanation>A bear would say so.</explanation>",
        "<explanation>A bear would say so.</explanation> It ends with </explanation>, as asked.",
        "<explanation/><explanation>A bear would say so.</explanation>",
        # fences
        "```xml\n<explanation>A bear would say so.</explanation>\n```",
        "<explanation>\n```\nA bear would say so.\n```\n</explanation>",
        "<explanation>~~~\nA bear would say so.\n~~~</explanation>",
    ],
)
def test_a_complete_element(reply: str) -> None:
    assert scorers.read_tagged(reply) == Tagged(BEAR, "answered", True)


@pytest.mark.parametrize(
    "reply",
    [
        # cut off, or closed wrongly
        "Sure! <explanation>A bear would say so.",
        "<explanation>A whale <explanation>A bear would say so.",
        "<explanation></explanation><explanation>A bear would say so.",
        "<explanation>A bear would say so.<explanation>",
        "<explanation>A bear would say so.<explanation/>",
        "```\n<explanation>\nA bear would say so.\n```",
        # no opening tag
        "A bear would say so.",
        "```\nA bear would say so.\n```",
        "A bear would say so.</explanation>",
    ],
)
def test_no_complete_element(reply: str) -> None:
    assert scorers.read_tagged(reply) == Tagged(BEAR, "answered", False)


@pytest.mark.parametrize(
    "text",
    [
        "&lt;explanation&gt;A bear.&lt;/explanation&gt;",
        "＜explanation＞A bear.＜/explanation＞",
        "<explanations>A bear.</explanations>",
        "<explanation-1>A bear.</explanation-1>",
        "<an explanation>A bear.</an explanation>",
        f"<explanation {'x' * 300}>A bear.",
        "<expl\u200banation>A bear.",
        "if a <explanation <b> then",
        "a <explanation or",
        "A ``` bear.",
    ],
)
def test_what_is_no_tag_is_text(text: str) -> None:
    assert scorers.read_tagged(text) == Tagged(text, "answered", False)
    assert scorers.read_tagged(f"<explanation>{text}</explanation>").text == text


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", Tagged("", "empty", False)),
        (" \n", Tagged("", "empty", False)),
        ("<explanation></explanation>", Tagged("", "empty", False)),
        ("Here it is: <explanation>", Tagged("", "empty", False)),
        ("Here it is: <explanation>\n```\n```\n</explanation>", Tagged("", "empty", False)),
        ("</explanation>", Tagged("", "empty", False)),
        ("<think><explanation>A bear.</explanation>", Tagged("", "unparsed", False)),
        ("I can't help with that.", Tagged("I can't help with that.", "refused", False)),
        ("<explanation>I cannot comply.</explanation>", Tagged("I cannot comply.", "refused", True)),
        ("<explanation>I cannot comply.", Tagged("I cannot comply.", "refused", False)),
        ("I can't help it: <explanation>A bear.</explanation>", Tagged("A bear.", "answered", True)),
    ],
)
def test_replies_without_a_text(reply: str, expected: Tagged) -> None:
    assert scorers.read_tagged(reply) == expected


def test_another_tag() -> None:
    reply = "<explanation>A whale.</explanation><a.b>A bear.</a.b><axb>A cat.</axb>"
    assert scorers.read_tagged(reply, "a.b") == Tagged("A bear.", "answered", True)


bits = st.sampled_from(
    ["<explanation>", "</explanation>", "< explanation a=b/>", "<think>", "</think>", "```", "\n", " ", "A bear.", "<"]
)


@given(st.text() | st.lists(bits | st.text(max_size=3)).map("".join))
def test_any_reply_gives_a_text_or_a_reason(reply: str) -> None:
    read = scorers.read_tagged(reply)
    assert bool(read.text) == (read.status in ("answered", "refused"))
    assert read.text == " ".join(read.text.split())
    assert read.text or not read.tagged


words = st.text(alphabet="abcd ,.'", min_size=1).filter(lambda text: text.strip())


@given(st.lists(bits.filter(lambda bit: "think" not in bit) | words).map("".join), words)
def test_the_last_element_is_what_is_meant(before: str, text: str) -> None:
    expected = " ".join(text.split())
    assert scorers.read_tagged(f"{before}\n<explanation>{text}</explanation>\nThat is all.").text == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n\t", 0),
        ("A bear would say so.", 5),
        ("A bear — a *large* bear - would\nsay\u00a0so …", 8),
        ("It's a well-known 2nd-hand pun.", 5),
        ("... !? ** -- & 🐻", 0),
        ("熊 медведь ours", 3),
        ("word " * 200, 200),
    ],
)
def test_words(text: str, count: int) -> None:
    assert scorers.count_words(text) == count


@given(st.text())
def test_there_are_at_most_as_many_words_as_tokens(text: str) -> None:
    assert 0 <= scorers.count_words(text) <= len(text.split())


@pytest.mark.slow
def test_time_is_linear() -> None:
    units = ["<explanation>", "</explanation>", "<explanation>a", "<explanation>a</explanation>", "<explanation "]
    units += ["<", "< ", "</", "< / explanation", "```\n", "\n```", "`", "~~~\n", " ", "\n", "a", "a ", "-"]
    units += ["<think></think>"]
    for unit in units:
        with cpu_below(3):
            for head, tail in (("", ""), ("<explanation>", ""), ("<explanation>```\n", "```</explanation>")):
                scorers.count_words(scorers.read_tagged(head + unit * (50_000 // len(unit)) + tail).text)
