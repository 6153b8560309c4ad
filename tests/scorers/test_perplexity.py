"""Perplexities by token, word and byte: by hand, against lm-eval, and what cannot be known."""

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


def test_an_estimate_by_hand() -> None:
    # Two contests of one text each, 2 and 3 units: r = 5/5 = 1, residuals 3-2 and 2-3, so se(r) = 1/2.5 * 1.
    found = scorers.perplexity_estimate([-3.0, -2.0], [2, 3], ["a", "b"])
    assert found.value == pytest.approx(math.e)
    assert found.stderr == pytest.approx(math.e / 2.5)
    assert math.log(found.high) - 1 == pytest.approx(1 - math.log(found.low))
    assert (found.n, found.clusters) == (2, 2)


def test_an_estimate_of_what_cannot_be_known() -> None:
    assert math.isnan(scorers.perplexity_estimate([], [], []).value)
    assert math.isnan(scorers.perplexity_estimate([-1.0], [1], ["a"]).stderr)
    endless = scorers.perplexity_estimate([-math.inf, -1.0], [1, 1], "ab")
    assert endless.value == math.inf
    assert math.isnan(endless.low)


def test_equal_texts_leave_no_doubt() -> None:
    found = scorers.perplexity_estimate([-4.0] * 6, [2] * 6, "aabbcc")
    assert found.low == found.high == pytest.approx(math.e**2)
