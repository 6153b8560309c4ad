"""`guess`: the same for a seed and an item, uniform, and independent between seeds."""

from __future__ import annotations

from collections import Counter

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput


def test_guesses_stay_as_they_are() -> None:
    assert "".join(scorers.seeded_guess(0, f"item {i}", "ABCDE") for i in range(12)) == "ADECEDEBBACD"


@given(st.integers(), st.text(), st.sampled_from(["A", "AB", "ABCDE"]))
def test_a_guess_is_a_choice_and_repeats(seed: int, item: str, letters: str) -> None:
    guess = scorers.seeded_guess(seed, item, letters)
    assert guess in letters
    assert guess == scorers.seeded_guess(seed, item, letters)


@pytest.mark.parametrize("letters", ["AB", "ABCDE"])
@pytest.mark.parametrize("seed", [0, 1])
def test_guesses_are_uniform(letters: str, seed: int) -> None:
    counts = Counter(scorers.seeded_guess(seed, f"id-{i}", letters) for i in range(20_000))
    assert scipy.stats.chisquare([counts[letter] for letter in letters]).pvalue > 0.001


def test_seeds_guess_independently() -> None:
    agree = sum(scorers.seeded_guess(0, str(i), "AB") == scorers.seeded_guess(1, str(i), "AB") for i in range(10_000))
    assert 4_800 < agree < 5_200


def test_surrogates_in_an_id_and_no_letters() -> None:
    assert scorers.seeded_guess(0, "\ud800", "A") == "A"
    with pytest.raises(BadInput, match="letters is empty"):
        scorers.seeded_guess(0, "x", "")
