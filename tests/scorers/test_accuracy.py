from __future__ import annotations

import math
from collections import Counter

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput

CORRECT = [True, False, True, True, False, True]
CLUSTERS = ["a", "a", "b", "b", "c", "c"]
STATUSES = ["answered", "answered", "unparsed", "answered", "refused", "empty"]


@pytest.mark.parametrize(
    ("on_unparsed", "counted", "clusters"),
    [
        ("wrong", [1, 0, 0, 1, 0, 0], "aabbcc"),
        ("exclude", [1, 0, 1], "aab"),
        ("random", [1, 0, 1, 1, 0, 1], "aabbcc"),
    ],
)
def test_what_the_denominator_does(on_unparsed: str, counted: list[float], clusters: str) -> None:
    assert scorers.accuracy(CORRECT, CLUSTERS, STATUSES, on_unparsed) == scorers.clustered_mean(counted, clusters)  # type: ignore[arg-type]


def test_an_unparsed_reply_is_wrong_by_default() -> None:
    assert scorers.accuracy([True, True], "ab", ["answered", "unparsed"]).value == 0.5


def test_nothing_answered() -> None:
    nothing = scorers.accuracy([True, True], "ab", ["unparsed", "empty"], "exclude")
    assert math.isnan(nothing.value)
    assert nothing.n == 0


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match=r"on_unparsed: there is no 'wrng'.*Did you mean 'wrong'"):
        scorers.accuracy(CORRECT, CLUSTERS, STATUSES, "wrng")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="statuses has 1"):
        scorers.accuracy([True, True], "ab", ["answered"])
    with pytest.raises(BadInput, match="statuses: there is no 'ok'"):
        scorers.accuracy([True], "a", ["ok"])  # type: ignore[list-item]


def test_rate() -> None:
    assert scorers.rate([True, False, False, False], "aabb") == scorers.clustered_mean([1, 0, 0, 0], "aabb")


# ---- guesses ------------------------------------------------------------------------------------


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
