"""Replies in labelled lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.scorers.fields import items, read_fields

LABELS = ("Concepts", "Chosen", "Caption", "Explanation")
FOUND = {"Concepts": "a; b", "Chosen": "a", "Caption": "C: so.", "Explanation": "It is."}
PLAIN = "Concepts: a; b\nChosen: a\nCaption: C: so.\nExplanation: It is."


@pytest.mark.parametrize(
    "reply",
    [
        PLAIN,
        PLAIN.replace("Concepts", "CONCEPTS").replace("Caption", "caption"),
        "**Concepts:** a; b\n**Chosen:** a\n**Caption:** C: so.\n**Explanation:** It is.",
        "- Concepts: a; b\n- Chosen: a\n- Caption: C: so.\n- Explanation: It is.",
        "1. Concepts: a; b\n2. Chosen: a\n3. Caption: C: so.\n4. Explanation: It is.",
        "## Concepts:\na;\nb\n## Chosen:\na\n## Caption:\nC: so.\n## Explanation:\nIt\nis.",
        "**Concepts:** **a; b**\n**Chosen:** a\n**Caption:** **C: so.**\n**Explanation:** *It is.*",
        f"```\n{PLAIN}\n```",
        f"{PLAIN}\n\nShall I write more of them?",
    ],
)
def test_every_label_once_and_in_order(reply: str) -> None:
    read = read_fields(reply, LABELS)
    assert read.status == "answered"
    assert dict(read.texts) == FOUND


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "empty"),
        ("<think>Concepts: a", "unparsed"),
        ("What a cartoon!", "unparsed"),
        ("I'm sorry, but I can't help with that.", "refused"),
        (PLAIN.replace("Chosen: a\n", ""), "unparsed"),
        (PLAIN.replace("Caption: C: so.", "Caption: "), "unparsed"),
        (PLAIN.replace("Explanation: It is.", "Explanation:\n\nIt is."), "answered"),
        (f"{PLAIN}\n\n{PLAIN}", "unparsed"),
        (f"{PLAIN}\nCaption: another", "unparsed"),
        ("Chosen: a\nConcepts: a; b\nCaption: C\nExplanation: E", "unparsed"),
        (PLAIN.replace("\n", " "), "unparsed"),
    ],
)
def test_nothing_is_guessed(reply: str, status: str) -> None:
    read = read_fields(reply, LABELS)
    assert read.status == status
    assert bool(read.texts) == (status == "answered")


texts = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).map(
    lambda s: " ".join(s.split())
)


@given(st.lists(texts.filter(lambda t: t.strip("*_#>`- ") == t != ""), min_size=4, max_size=4))
def test_what_was_written_is_read(parts: list[str]) -> None:
    reply = "\n".join(f"{label}: {part}" for label, part in zip(LABELS, parts, strict=True))
    if "think" not in reply:
        assert list(read_fields(reply, LABELS).texts.values()) == parts


@given(st.text())
def test_any_text_has_a_status(reply: str) -> None:
    read = read_fields(reply, LABELS)
    assert bool(read.texts) == (read.status == "answered")


@pytest.mark.parametrize("piece", ["Caption:", "Caption: a\n", "- ", "\n", "**", "1. ", "> "])
def test_time_is_linear(piece: str) -> None:
    assert read_fields(piece * 100_000, LABELS).status in ("unparsed", "empty", "refused")


def test_a_list() -> None:
    assert items("a; b ;; c. ;") == ["a", "b", "c"]
