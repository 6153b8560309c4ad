from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<think>a</think>b", "\nb"),
        ("a<think>b</think>c", "a\nc"),
        ("a<think>b</think>c<think>d</think>", "a\nc\n"),
        ("a<thinking>b</thinking>c", "a\nc"),
        ("<THINK>a</Think>b", "\nb"),
        ("a</think>b", "b"),
        ("a<think>b</think>c</think>d", "d"),
        ("<think>a<think>b</think>c", "\nc"),
        ("<think>a", None),
        ("a<think>b</think>c<think>d", None),
        ("a <thinker> b", "a <thinker> b"),
    ],
)
def test_without_thinking(reply: str, said: str | None) -> None:
    assert scorers.without_thinking(reply) == said


@given(st.lists(st.sampled_from(["<think>", "</think>", "said", "x"])).map("".join))
def test_no_tag_survives(reply: str) -> None:
    said = scorers.without_thinking(reply)
    assert said is None or "think>" not in said
