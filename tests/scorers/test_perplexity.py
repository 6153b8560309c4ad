"""Perplexities by token, word and byte: by hand, against lm-eval, and what cannot be known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers.perplexity import UNITS


@pytest.mark.parametrize(
    ("unit", "tokens", "counts"),
    [("word_perplexity", None, [2, 2]), ("byte_perplexity", None, [9, 9]), ("token_perplexity", 3, [3, 3])],
)
def test_units(unit: str, tokens: int | None, counts: list[int]) -> None:
    assert [UNITS[unit](text, tokens) for text in ("two words", " and \u00e9\n ")] == counts


def test_surrogates_have_bytes() -> None:
    assert UNITS["byte_perplexity"]("\ud800", None) == 3


@given(st.integers(1, 50), st.lists(st.integers(1, 20), min_size=1))
def test_a_uniform_model_is_as_perplexed_as_it_has_tokens(vocabulary: int, counts: list[int]) -> None:
    likelihoods = [-count * math.log(vocabulary) for count in counts]
    found = scorers.perplexity_estimate(likelihoods, counts, range(len(counts)))
    assert found.value == pytest.approx(vocabulary)


def test_equals_lm_eval() -> None:
    from lm_eval.api.metrics import weighted_perplexity

    items = [(-12.5, 7), (-3.25, 2)]
    expected = weighted_perplexity(items)
    assert scorers.perplexity_estimate([a for a, _ in items], [b for _, b in items], "ab").value == expected


def test_lists_of_different_length() -> None:
    with pytest.raises(BadInput, match="loglikelihoods has 1"):
        scorers.perplexity_estimate([-1.0], [], [])


def test_an_estimate_by_hand() -> None:
    # Two contests of one text each, 2 and 3 units: r = 5/5 = 1, residuals 3-2 and 2-3, so se(r) = 1/2.5 * 1.
    found = scorers.perplexity_estimate([-3.0, -2.0], [2, 3], ["a", "b"])
    assert found.value == pytest.approx(math.e)
    assert found.stderr == pytest.approx(math.e / 2.5)
    assert math.log(found.high) - 1 == pytest.approx(1 - math.log(found.low))
    assert (found.n, found.clusters) == (2, 2)


def test_an_estimate_of_what_cannot_be_known() -> None:
    for likelihoods, units in (([], []), ([-1.0], [0]), ([math.nan], [1])):
        assert math.isnan(scorers.perplexity_estimate(likelihoods, units, range(len(units))).value)
    assert math.isnan(scorers.perplexity_estimate([-1.0], [1], ["a"]).stderr)
    endless = scorers.perplexity_estimate([-math.inf, -1.0], [1, 1], "ab")
    assert endless.value == scorers.perplexity_estimate([-1e6], [1], "a").value == math.inf
    assert math.isnan(endless.low)


def test_equal_texts_leave_no_doubt() -> None:
    found = scorers.perplexity_estimate([-4.0] * 6, [2] * 6, "aabbcc")
    assert found.low == found.high == pytest.approx(math.e**2)
