"""Replies that quote the corpus's own captions, every one of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from humor_tasks import scorers

FORMS = ["Answer: {}) {}", "Answer: {}. {}", 'Answer: ({}) "{}"', "**Answer: {}: {}**", "The answer is {}: {}"]
FORMS += ["Answer: {} - {}", "{}) {}", "{}. {}", "{}: {}", "Answer:\n{}) {}\n\nExplanation: it fits."]


@pytest.fixture(scope="module")
def captions(real_corpus: str) -> list[str]:
    found: set[str] = set()
    for path in [*Path(real_corpus).glob("matching/*.parquet"), *Path(real_corpus).glob("ranking*/*.parquet")]:
        for choices in pq.read_table(path, columns=["caption_choices"])["caption_choices"].to_pylist():
            found.update(" ".join(choice.split()) for choice in choices)
    assert len(found) > 2_000
    return sorted(found)


@pytest.mark.parametrize("form", FORMS)
def test_a_quoted_caption_never_hides_its_letter(form: str, captions: list[str]) -> None:
    expected = {caption: "ABCDE"[i % 5] for i, caption in enumerate(captions)}
    read = {
        caption: scorers.read_answer(form.format(expected[caption], caption), "ABCDE").letter for caption in captions
    }
    assert read == expected


def test_a_caption_alone_is_no_answer(captions: list[str]) -> None:
    assert [caption for caption in captions if scorers.read_answer(caption, "ABCDE").letter] == []


def test_reference_explanations_are_read_whole(real_corpus: str) -> None:
    for path in Path(real_corpus).glob("explanation/*.parquet"):
        for label in pq.read_table(path, columns=["label"])["label"].to_pylist():
            assert scorers.read_explanation(label) == scorers.Explanation(" ".join(label.split()), "answered")
