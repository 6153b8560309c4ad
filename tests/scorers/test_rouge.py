"""`rouge_l`: by hand, against rouge_score, and two thousand pairs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer
from standins.waiting import cpu_below

from humor_tasks import scorers
from humor_tasks.errors import BadInput

NAIVE = rouge_scorer.RougeScorer(["rougeL"])
texts = st.one_of(st.text(), st.lists(st.sampled_from(["bear", "Bear's", "salmon", "the", "-", "é"])).map(" ".join))


@pytest.mark.parametrize(
    ("hypothesis", "reference", "score"),
    [
        ("the bear", "the bear", 1.0),
        ("The BEAR!", "the bear", 1.0),
        ("bears", "bear", 0.0),  # no stemming
        ("the bear ate", "the bear", 0.8),
        ("bear the", "the bear", 0.5),
        ("", "the bear", 0.0),
        ("the bear", "", 0.0),
        ("...", "the bear", 0.0),
    ],
)
def test_by_hand(hypothesis: str, reference: str, score: float) -> None:
    assert scorers.rouge_l([hypothesis], [reference]) == [pytest.approx(score)]


@given(texts, texts)
def test_equals_rouge_score(hypothesis: str, reference: str) -> None:
    assert scorers.rouge_l([hypothesis], [reference]) == [NAIVE.score(reference, hypothesis)["rougeL"].fmeasure]


@pytest.mark.slow
def test_two_thousand_pairs() -> None:
    rng = random.Random(0)
    texts = [" ".join(f"w{rng.randrange(300)}" for _ in range(60)) for _ in range(2_000)]
    with cpu_below(10):
        scores = scorers.rouge_l(texts, texts[::-1])
    assert len(scores) == 2_000
    assert scores[0] == NAIVE.score(texts[-1], texts[0])["rougeL"].fmeasure


def test_lists_of_different_length() -> None:
    with pytest.raises(BadInput, match="hypotheses has 1, references has 0"):
        scorers.rouge_l(["a"], [])
