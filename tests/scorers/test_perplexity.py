from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput


def test_by_hand() -> None:
    likelihoods, texts = [-4 * math.log(2), -2 * math.log(2)], ["two words", " and é\n"]
    assert scorers.word_perplexity(likelihoods, texts) == pytest.approx(2 ** (6 / 4))
    assert scorers.byte_perplexity(likelihoods, texts) == pytest.approx(2 ** (6 / 17))
    assert scorers.token_perplexity(likelihoods, [2, 1]) == pytest.approx(2**2)


@given(st.integers(1, 50), st.lists(st.integers(1, 20), min_size=1))
def test_a_uniform_model_is_as_perplexed_as_it_has_tokens(vocabulary: int, counts: list[int]) -> None:
    likelihoods = [-count * math.log(vocabulary) for count in counts]
    assert scorers.token_perplexity(likelihoods, counts) == pytest.approx(vocabulary)


def test_equals_lm_eval() -> None:
    from lm_eval.api.metrics import weighted_perplexity

    items = [(-12.5, 7), (-3.25, 2)]
    expected = weighted_perplexity(items)
    assert scorers.token_perplexity([a for a, _ in items], [b for _, b in items]) == pytest.approx(expected)


def test_no_texts_and_no_units_are_unknown() -> None:
    assert math.isnan(scorers.word_perplexity([], []))
    assert math.isnan(scorers.word_perplexity([-1.0], [" "]))
    assert math.isnan(scorers.byte_perplexity([-1.0], [""]))
    assert math.isnan(scorers.token_perplexity([-1.0], [0]))
    assert math.isnan(scorers.token_perplexity([math.nan], [1]))


def test_the_impossible_is_infinitely_perplexing() -> None:
    assert scorers.token_perplexity([-math.inf, -1.0], [1, 1]) == math.inf
    assert scorers.token_perplexity([-1e6], [1]) == math.inf


def test_surrogates_have_bytes() -> None:
    assert scorers.byte_perplexity([0.0], ["\ud800"]) == 1


@pytest.mark.parametrize("perplexity", [scorers.word_perplexity, scorers.byte_perplexity, scorers.token_perplexity])
def test_lists_of_different_length(perplexity: object) -> None:
    with pytest.raises(BadInput, match="loglikelihoods has 1"):
        perplexity([-1.0], [])  # type: ignore[operator]


def test_negative_counts() -> None:
    with pytest.raises(BadInput, match=r"token_counts\[1\] is -1"):
        scorers.token_perplexity([-1.0, -1.0], [2, -1])
