"""`as_data`, `majority`, `covered`: texts shown to graders as data, and what a panel's votes amount to."""

from __future__ import annotations

import html
import sys
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.scorers import as_data


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('Tom & Jerry\'s "pun" — 1 < 2 > 0.\n\tYes.', 'Tom & Jerry\'s "pun" — 1 &lt; 2 > 0.\n\tYes.'),
        ("Is this an air B&B? Q&A; AT&T, #&!", "Is this an air B&B? Q&A; AT&T, #&!"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("&#60;b&#x3E; &\u200blt; &lt &LT &amp", "&amp;#60;b&amp;#x3E; &amp;lt; &amp;lt &amp;LT &amp;amp"),
        ("{from woman to man}", "{from woman to man}"),
        ('{"a": {\n\u200b "b"}}', '&#123;"a": &#123;\n "b"}}'),
        ("＜b＞﹤b﹥‹b›〈b〉⟨b⟩\u2329b\u232a", "&lt;b＞&lt;b﹥&lt;b›&lt;b〉&lt;b⟩&lt;b\u232a"),
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("a\x00b\x1b[2Jc\x7fd\x9fe", "ab[2Jcde"),
        ("a\u200bb\u200cc\u200dd\u2060e\ufefff\xadg", "abcdefg"),
        ("a\u202eb\u202cc\u2066d\u2069e\u200ff", "abcdef"),
        ("a\U000e0041\U000e007fb\U000e0100c", "abc"),
        ("a\ud800b\udfffc", "a\ufffdb\ufffdc"),
        ("Ça va ? 熊 🐻 ❤️ “so”", "Ça va ? 熊 🐻 ❤️ “so”"),
    ],
)
def test_text_shown_as_data(text: str, shown: str) -> None:
    assert as_data(text) == shown


@pytest.mark.slow
def test_no_character_becomes_a_bracket_or_stays_hidden() -> None:
    for shown in set(as_data("".join(map(chr, range(sys.maxunicode + 1))))):
        assert "<" not in unicodedata.normalize("NFKC", shown)
        assert shown in "\n\t" or unicodedata.category(shown) not in ("Cc", "Cs", "Zl", "Zp")


@pytest.mark.slow
@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["C"]) | st.sampled_from('&<>;#ltg{"\n\t')))
def test_ordinary_text_comes_back(text: str) -> None:
    assume(not set(text) & set("＜﹤‹〈⟨\u2329˂❬❮❰⧼\u2028\u2029\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"))
    assume(not any(0xE0000 <= ord(c) < 0xE1000 for c in text))
    assert html.unescape(as_data(text)) == text


@given(st.lists(st.sampled_from([True, False, None])))
def test_a_majority_is_more_than_half_of_all(votes: list[bool | None]) -> None:
    yes, no = sum(vote is True for vote in votes), sum(vote is False for vote in votes)
    expected = True if yes > len(votes) / 2 else False if no > len(votes) / 2 else None
    assert scorers.majority(votes) is expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], (None, None)),
        ([None], (None, None)),
        ([True], (1.0, 1.0)),
        ([False], (0.0, 0.0)),
        ([True, True, True], (1.0, 1.0)),
        ([True, False], (0.5, 0.0)),
        ([True, None], (1.0, None)),
        ([False, None], (0.0, 0.0)),
        ((True, None, False, True, True), (0.75, 0.0)),
    ],
)
def test_points_covered(points: list[bool | None], expected: tuple[float | None, float | None]) -> None:
    assert scorers.covered(points) == expected
