"""The text of replies whose content is a text, parts, or neither."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humor_tasks.logs.contents import reply_text

TEXT = {"type": "text", "text": "Answer: A"}
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Answer: B"}]}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Answer: A", "Answer: A"),
        ([TEXT], "Answer: A"),
        ([THINKING, TEXT], "Answer: A"),
        ([{"type": "reasoning", "text": "Answer: B"}, TEXT], "Answer: A"),
        ([{"type": "output_text", "text": "Answer: A"}], "Answer: A"),
        ([{"text": "Answer: A"}], "Answer: A"),
        (["It is", TEXT], "It is\nAnswer: A"),
        ([TEXT, {"type": "text", "text": "So it is."}], "Answer: A\nSo it is."),
        ([{"type": "refusal", "refusal": "I can't help with that."}], "I can't help with that."),
        ([THINKING], ""),
        ([{"type": "tool_use", "name": "answer", "input": {"text": "Answer: A"}}], ""),
        ([{"type": "text", "text": None}], ""),
        ([{"type": "text", "text": ["Answer: A"]}], ""),
        ([{"type": ["text"], "text": "Answer: A"}], ""),
        ([None, 5, [TEXT]], ""),
        (TEXT, ""),
        ([], ""),
        (None, ""),
        (5, ""),
        (True, ""),
    ],
)
def test_the_text_of_a_content(content: Any, text: str) -> None:
    assert reply_text(content) == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text", "thinking"]), inner),
)


@settings(max_examples=50)
@given(json_values)
def test_any_content_has_a_text(content: Any) -> None:
    text = reply_text(content)
    assert isinstance(text, str)
    assert text == content or not isinstance(content, str)
