"""Matching's distractors, letters and folds: what must hold of every assignment, and exactly when there is one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.newyorker import matching


def check_distractors(contests: Sequence[object], keys: Sequence[str], found: np.ndarray) -> None:
    n = len(contests)
    assert found.shape == (n, 4)
    assert Counter(found.ravel().tolist()) == dict.fromkeys(range(n), 4)
    for i, row in enumerate(found.tolist()):
        assert contests[i] not in {contests[j] for j in row}
        assert len({keys[j] for j in (i, *row)}) == 5


def of_sizes(sizes: Sequence[int]) -> tuple[list[int], list[str]]:
    contests = [c for c, size in enumerate(sizes) for _ in range(size)]
    return contests, [f"caption {i}" for i in range(len(contests))]


def partitions(n: int, most: int) -> Iterator[list[int]]:
    if n == 0:
        yield []
    for size in range(min(n, most), 0, -1):
        for rest in partitions(n - size, size):
            yield [size, *rest]


def has_one(sizes: Sequence[int]) -> bool:
    """By the maximum flow from answers to captions."""
    contests = np.asarray(of_sizes(sizes)[0])
    n = len(contests)
    capacities = np.zeros((2 * n + 2, 2 * n + 2), dtype=np.int32)
    capacities[2 * n, :n] = capacities[n : 2 * n, 2 * n + 1] = 4
    capacities[:n, n : 2 * n] = contests[:, None] != contests
    return bool(maximum_flow(csr_matrix(capacities), 2 * n, 2 * n + 1).flow_value == 4 * n)


@pytest.mark.parametrize("n", range(1, 13))
def test_there_is_an_assignment_exactly_where_maximum_flow_finds_one(n: int) -> None:
    for sizes in partitions(n, n):
        contests, keys = of_sizes(sizes)
        m = max(sizes)
        assert has_one(sizes) == (m <= n / 2 and n - m >= 4 and sizes != [3, 3, 1]), sizes
        if has_one(sizes):
            check_distractors(contests, keys, matching.assign(contests, keys, "a"))
        else:
            with pytest.raises(BadInput):
                matching.assign(contests, keys, "a")


@pytest.mark.parametrize(
    "sizes",
    [[50, 50], [50, 49, 1], [50, *[1] * 50], [49, 49, 2], [49, 48, 3], [49, *[1] * 51], [48, 48, 4], [21, *[4] * 20]],
)
def test_where_there_is_hardly_a_choice(sizes: list[int]) -> None:
    contests, keys = of_sizes(sizes)
    check_distractors(contests, keys, matching.assign(contests, keys, "a"))


@given(sizes=st.lists(st.integers(1, 9), min_size=5, max_size=25), seed=st.text(max_size=5), data=st.data())
@settings(max_examples=20)
@pytest.mark.slow
def test_every_assignment_holds_the_rules(sizes: list[int], seed: str, data: st.DataObject) -> None:
    contests, keys = of_sizes(sizes)
    assume(2 * max(sizes) <= len(contests) >= 8)
    order = data.draw(st.permutations(range(len(contests))))
    contests = [f"contest {contests[i]}" for i in order]
    found = matching.assign(contests, keys, seed)
    check_distractors(contests, keys, found)
    assert (found == matching.assign(contests, keys, seed)).all()
    if 5 * max(sizes) <= len(contests):  # then the five choices are of five contests
        assert all(len({contests[j] for j in (i, *row)}) == 5 for i, row in enumerate(found.tolist()))


@given(repeats=st.lists(st.integers(0, 12), min_size=60, max_size=60))
@settings(max_examples=20)
@pytest.mark.slow
def test_a_joke_of_several_contests_is_never_twice_in_a_row(repeats: list[int]) -> None:
    contests = [i // 3 for i in range(60)]
    keys = [f"joke {r}" if r < 3 else f"own {i}" for i, r in enumerate(repeats)]
    assume(max(Counter(keys).values()) <= 6)
    check_distractors(contests, keys, matching.assign(contests, keys, "a"))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([6, 5], "contest 0 has 6 of 11 captions. .* at most 5 captions"),
        ([2, 1, 1], "contest 0 has 2 of 4 captions, and only 2 are of other contests"),
        ([3, 3, 1], "contests 0, 1, 2 have 3, 3 and 1 captions"),
        ([5], "contest 0 has 5 of 5 captions, and only 0"),
    ],
)
def test_the_contest_that_is_too_large_is_named(sizes: list[int], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        matching.assign(*of_sizes(sizes), "a")


def test_the_size_named_in_the_remedy_is_the_largest_that_works() -> None:
    contests, keys = of_sizes([5, 2, 2, 1])
    matching.assign(contests, keys, "a")
    with pytest.raises(BadInput, match="at most 5 captions"):
        matching.assign([*contests, 0], [*keys, "one more"], "a")


def test_captions_that_cannot_be_kept_apart_are_named() -> None:
    contests, keys = of_sizes([1] * 10)
    with pytest.raises(BadInput, match=r"1 caption: 'same' \(contests 0, 1, 2, 3, 4\) cannot be kept apart"):
        matching.assign(contests, ["same"] * 5 + keys[5:], "a")


def test_none_and_lists_of_different_length() -> None:
    assert matching.assign([], [], "a").shape == (0, 4)
    with pytest.raises(BadInput, match="2 contests and 1 keys"):
        matching.assign([1, 2], ["a"], "a")


@pytest.mark.slow
def test_no_pair_of_captions_is_together_more_often_than_another() -> None:
    """Of captions of 12 contests, every one is as often the distractor of every other, and beside every other."""
    contests, keys = of_sizes([5] * 12)
    draws, n = 100, 60
    of_answer, beside = np.zeros((n, n)), np.zeros((n, n))
    for draw in range(draws):
        found = matching.assign(contests, keys, f"{draw}")
        np.add.at(of_answer, (np.arange(n)[:, None], found), 1)
        for a, b in itertools.permutations(range(4), 2):
            np.add.at(beside, (found[:, a], found[:, b]), 1)
    other = np.asarray(contests)[:, None] != np.asarray(contests)
    for counts, expected in ((of_answer, draws * 4 / 55), (beside, draws * 12 / 55)):
        assert not counts[~other].any()
        assert abs(counts[other].mean() - expected) < 1e-9
        spread = counts[other].std() / np.sqrt(expected)
        # Of independent draws 1 ± 0.013, by 3,300 pairs. Neighbours that stay together: over 1.7.
        assert 0.85 < spread < 1.15


@given(n=st.integers(0, 60), k=st.sampled_from([2, 5]), data=st.data())
def test_letters_are_balanced(n: int, k: int, data: st.DataObject) -> None:
    classes = data.draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    found = matching.letters(n, k, "seed", classes)
    assert set(found) <= set("ABCDE"[:k])
    for held in (found, *([f for f, c in zip(found, classes, strict=True) if c == name] for name in "ab")):
        counts = [Counter(held)[letter] for letter in "ABCDE"[:k]]
        assert max(counts) - min(counts) <= 1
    assert found == matching.letters(n, k, "seed", classes)


def test_letters_are_in_random_order() -> None:
    found = matching.letters(1000, 2, "seed")
    repeated = sum(a == b for a, b in itertools.pairwise(found))
    assert 400 < repeated < 600


@given(sizes=st.lists(st.integers(1, 9), min_size=8, max_size=40), seed=st.text(max_size=3))
def test_folds_are_even(sizes: list[int], seed: str) -> None:
    contests, _ = of_sizes(sizes)
    found = matching.folds(contests, seed, twins=[(0, 1), (2, 99)])
    assert found.keys() == set(contests)
    assert found[0] == found[1]
    numbers = Counter(found.values())
    assert set(numbers) == set(range(5))
    assert max(numbers.values()) - min(numbers.values()) <= 1
    captions = Counter(found[c] for c in contests)
    assert max(captions.values()) - min(captions.values()) <= 2 * max(sizes)
    assert found == matching.folds(contests, seed, twins=[(0, 1), (2, 99)])


def test_twins_of_twins_and_too_few_contests() -> None:
    contests, _ = of_sizes([3] * 8)
    found = matching.folds(contests, "a", twins=[(0, 1), (1, 2), (3, 2)])
    assert len({found[c] for c in range(4)}) == 1
    with pytest.raises(BadInput, match="There are 4 contests"):
        matching.folds(contests, "a", twins=[(0, 1), (1, 2), (3, 2), (4, 0)])
