"""What is a statement of a choice: plain text, the letters of one, and where it ends a reply."""

from __future__ import annotations

import sys

import pytest

from humor_tasks import scorers

plain, statements, ends_reply = scorers.statement.plain, scorers.statement.statements, scorers.statement.ends_reply


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ａｎｓｗｅｒ：（Ｃ）", "Answer:(C)"),
        ("“C”, «C», ‘C’", '"C", "C", \'C\''),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("\ufeffC\u200b\u00a0", "C "),
        ("C<|im_end|></s>", "C"),
        ("a < b | c > d", "a < b | c > d"),
        ("【C】。", "[C]."),
        ("İ", "I"),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Answer: A. Answer: B", ["A", "B"]),
        ("Answer: A or B", [None]),
        ("Answer: F", [None]),
        ("Answer: none", [None]),
        ("the answer is none of these", []),
        ("Answer: Actually", []),
        ("no statement", []),
        ("$\\boxed{A}$ <answer>B</answer>", ["A", "B"]),
        ("Answer: A, or answer: B", [None, None]),
        ("Answer: A (if literal), or Answer: B", ["A", None]),
        ("I'd say either Answer: B", [None]),
        ("nothing, or answer: whatever", []),
    ],
)
def test_statements(text: str, letters: list[str | None]) -> None:
    assert [statement.letter for statement in statements(text, "ABCDE")] == letters


def test_lower_case_keeps_every_offset() -> None:
    longer = [char for char in map(chr, range(sys.maxunicode + 1)) if len(char.lower()) != 1]
    assert [char for char in longer if plain(char) == char] == []


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Answer: A", True),
        ("Answer: A) the caption\n\n", True),
        ("Answer: A\n```\n---\n</answer>", True),
        ("Answer: A\nbecause", False),
        ("Answer: A\n1", False),
    ],
)
def test_ends_reply(text: str, ends: bool) -> None:
    (statement,) = statements(text, "ABCDE")
    assert text[statement.end - 1] == "A" or text[statement.end - 1] == ")"
    assert ends_reply(text, statement) is ends
