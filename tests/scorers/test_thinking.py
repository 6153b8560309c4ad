"""`without_thinking`: tags and channels of reasoning models, and what is left of a reply."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.scorers.verdict import RATING_WORDS, read_word


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
        # channels of gpt-oss, decoded without special tokens
        ("analysisThe user asks. B?assistantfinalAnswer: C", "Answer: C"),
        ("\nanalysis\nWe need a letter.\nassistantfinal\nC", "\nC"),
        ("analysisWe need it.assistantcommentaryNow.assistantanalysisYes.assistantfinalC", "C"),
        ('analysisWe need JSON.assistantfinal json{"answer": "C"}', '{"answer": "C"}'),
        ('analysisWe need JSON.assistantfinaljson\n["C"]', '\n["C"]'),
        ("analysisWe need it.assistantfinaljson is a format", "json is a format"),
        ("analysisWe need it.assistantfinalIt says </think>.", "It says </think>."),
        ("analysisWe need it.assistantfinal", ""),
        # cut off before the final message, or with two
        ("analysisThe user asks. Perhaps Answer: B", None),
        ('analysis"Answer: B" is what I', None),
        ("analysis用户要一个字母。 Answer: B", None),
        ("analysisWe need it.assistantcommentaryAnswer: B", None),
        ("analysisWe need it.assistantfin", None),
        ("analysisIt says assistantfinalAnswer: A.assistantfinalAnswer: C", None),
        # channels with their special tokens
        ("<|channel|>analysis<|message|>B?<|end|><|start|>assistant<|channel|>final<|message|>C<|return|>", "C"),
        ("<|start|>assistant<|channel|>final<|message|>C", "C"),
        ("<|channel|>analysis<|message|>B?<|channel|>final <|constrain|>json<|message|>[1]<|end|>", "[1]"),
        ("analysis<|message|>B?<|end|><|start|>assistant<|channel|>final<|message|>C", "C"),
        ("<|channel|>analysis<|message|>Perhaps\nAnswer: B", None),
        ("analysis<|message|>Perhaps\nAnswer: B", None),
        ("<|channel|>final<|message|>A<|channel|>final<|message|>B", None),
        ("It says <|channel|>. Answer: B", "It says <|channel|>. Answer: B"),
        # words
        ("analysis of the joke: a pun. Answer: B", "analysis of the joke: a pun. Answer: B"),
        ("analysis\n\nAnswer: B", "analysis\n\nAnswer: B"),
        ("AnalysisThe pun. Answer: B", "AnalysisThe pun. Answer: B"),
        ("My analysisThe pun. Answer: B", "My analysisThe pun. Answer: B"),
        ("It says assistantfinalAnswer: A. Answer: B", "It says assistantfinalAnswer: A. Answer: B"),
        ("commentary is free. Answer: B", "commentary is free. Answer: B"),
    ],
)
def test_without_thinking(reply: str, said: str | None) -> None:
    assert scorers.without_thinking(reply) == said


@given(st.lists(st.sampled_from(["<think>", "</think>", "said", "x"])).map("".join))
def test_no_tag_survives(reply: str) -> None:
    said = scorers.without_thinking(reply)
    assert said is None or "think>" not in said


@given(st.text() | st.lists(st.sampled_from(["analysis", "Answer: B", "assistant", "final", ". ", "The"])).map("".join))
def test_a_reply_without_the_names_of_channels_is_read_unchanged(reply: str) -> None:
    if not reply.lstrip().startswith(("analysis", "commentary", "assistantanalysis", "assistantcommentary", "<|")):
        assert scorers.without_thinking(reply) == reply


CAPTIONS = "\n".join(f"{i}. Caption {i}." for i in range(1, 4))
WRONG = "\n".join(f"{i}. Draft {i}." for i in range(1, 4))
READERS: dict[str, tuple[Callable[[str], object], str, str]] = {
    "letter": (lambda reply: scorers.read_answer(reply, "ABCDE"), "Answer: C", "Answer: B"),
    "lone letter": (lambda reply: scorers.read_answer(reply, "ABCDE"), "C", "Answer: B"),
    "yes or no": (scorers.read_yes_no, "no.", "Answer: yes"),
    "rating": (scorers.read_rating, "Answer: 2.5", "Answer: 1.0"),
    "verdict": (
        scorers.read_verdict,
        "<reasoning>No.</reasoning>\n<judgement>FAIL</judgement>",
        "<judgement>PASS</judgement>",
    ),
    "verdict in JSON": (
        lambda reply: scorers.read_verdict(reply, "json"),
        '{"reasoning": "No.", "judgement": "FAIL"}',
        '{"reasoning": "Yes.", "judgement": "PASS"}',
    ),
    "preference": (scorers.read_preferred, "<judgement>B</judgement>", "<judgement>A</judgement>"),
    "grade": (lambda reply: read_word(reply, RATING_WORDS), "<judgement>4</judgement>", "<judgement>1</judgement>"),
    "captions": (lambda reply: scorers.read_captions(reply, 3), CAPTIONS, WRONG),
    "fields": (lambda reply: scorers.read_fields(reply, ("Idea", "Pun")), "Idea: a\nPun: b", "Idea: x\nPun: y"),
    "tagged text": (scorers.read_tagged, "<explanation>A pun.</explanation>", "<explanation>x</explanation>"),
    "explanation": (scorers.read_explanation, "It is a pun.", "Perhaps a whale."),
}


@pytest.mark.parametrize("form", READERS)
def test_every_form_of_answer_is_read_from_the_final_channel(form: str) -> None:
    read, final, drafted = READERS[form]
    assert read(drafted) != read(final)
    assert read(f"analysisThey ask. Maybe:\n{drafted}\nassistantfinal{final}") == read(final)
    assert read(f"analysisThey ask. Maybe:\n{drafted}") == read("<think>cut off")
    special = f"<|channel|>analysis<|message|>They ask. Maybe:\n{drafted}"
    assert read(f"{special}<|end|><|start|>assistant<|channel|>final<|message|>{final}<|return|>") == read(final)
    assert read(special) == read("<think>cut off")
