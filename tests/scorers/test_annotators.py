"""`majority_vote`, `human_ceiling`, `dawid_skene`: by hand, against plain loops and EM, and on simulated raters."""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.rated import ANAESTHETIST, ANAESTHETISTS

from humor_tasks import scorers
from humor_tasks.errors import BadInput

NAN, N = math.nan, None
Table = list[list[str | None]]

tables = st.integers(1, 6).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from(["a", "b", "c", None]), min_size=raters, max_size=raters), min_size=1, max_size=12
    )
)


def leaders(votes: list[str]) -> list[str]:
    """The most frequent of some votes, all of them on a tie."""
    counts = Counter(votes)
    return [k for k, count in counts.items() if count == max(counts.values())]


# ---- majority -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "vote"),
    [
        (["a", "b", None], None),  # a tie
        ([None, "b", None], "b"),  # one vote is all there are: verdict.majority asks for more than half of three
        ([2, 2, 1], 2),
        ([True, 1, 0], True),
        ([("x", 1), ("x", 1), "x"], ("x", 1)),
    ],
)
def test_majority_vote(row: list[Any], vote: Any) -> None:
    assert scorers.majority_vote([row]) == [vote]


@given(tables)
def test_majority_vote_is_the_only_leader(ratings: Table) -> None:
    for row, vote in zip(ratings, scorers.majority_vote(ratings), strict=True):
        first = leaders([rating for rating in row if rating is not None])
        assert vote == (first[0] if len(first) == 1 else None)


# ---- ceiling ------------------------------------------------------------------------------------


@given(tables)
def test_human_ceiling_leaves_one_out(ratings: Table) -> None:
    agreed, votes = [], []
    for row in ratings:
        given_ = [rating for rating in row if rating is not None]
        if len(given_) > 1:
            others = [leaders(given_[:j] + given_[j + 1 :]) for j in range(len(given_))]
            agreed.append(sum((x in first) / len(first) for x, first in zip(given_, others, strict=True)))
            votes.append(len(given_))
    expected = scorers.clustered_ratio(agreed, votes, range(len(votes)))
    found = scorers.human_ceiling(ratings)
    assert (found.value, found.n) == pytest.approx((expected.value, expected.n), abs=1e-12, nan_ok=True)
    assert found.stderr == pytest.approx(expected.stderr, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("aab", 1 / 3),  # for each a the others are tied: a half twice; for b they say a
        ("aabb", 0),  # each vote is outvoted by the other two of the other side
        ("aabc", 2 / 3 / 4),  # for each a the others are tied three ways
    ],
)
def test_human_ceiling_by_hand(row: str, value: float) -> None:
    assert scorers.human_ceiling([list(row)]).value == pytest.approx(value)


def test_human_ceiling_without_two_votes_and_by_cluster() -> None:
    for ratings in ([], [[None, None]], [["a", None], [None, "b"]]):
        assert math.isnan(scorers.human_ceiling(ratings).value)
    rows = [list("aab"), list("aaa"), list("abb"), [*"a", None, None]]
    by_item, by_cluster = scorers.human_ceiling(rows), scorers.human_ceiling(rows, "xxyz")
    assert by_item.value == by_cluster.value == pytest.approx((1 + 3 + 1) / 9)
    assert (by_item.n, by_item.clusters, by_cluster.clusters) == (3, 3, 2)
    assert by_item.stderr != by_cluster.stderr


# ---- Dawid and Skene ----------------------------------------------------------------------------


def em(ratings: Table, rounds: int) -> tuple[list[list[float]], list[float]]:
    """The algorithm in its plainest form: probabilities by item and category (a, b, c), and the prior."""
    kinds = sorted({rating for row in ratings for rating in row if rating is not None})
    chance = [[row.count(k) / (len(row) - row.count(None)) for k in kinds] for row in ratings]
    for _ in range(rounds):
        prior = [sum(column) / len(ratings) for column in zip(*chance, strict=True)]
        said = []
        for j in range(len(ratings[0])):
            rows = [i for i, row in enumerate(ratings) if row[j] is not None]
            met = [sum(chance[i][t] for i in rows) for t in range(len(kinds))]
            said.append(
                [
                    {k: sum(chance[i][t] for i in rows if ratings[i][j] == k) / met[t] if met[t] else 0 for k in kinds}
                    for t in range(len(kinds))
                ]
            )
        for i, row in enumerate(ratings):
            fit = [
                p * math.prod(said[j][t][x] for j, x in enumerate(row) if x is not None) for t, p in enumerate(prior)
            ]
            chance[i] = [f / sum(fit) for f in fit]
    return chance, [sum(column) / len(ratings) for column in zip(*chance, strict=True)]


def simulated(accuracies: list[float], items: int, seed: int = 0) -> tuple[list[str], Table]:
    rng = random.Random(seed)
    truth = [rng.choice("abc") for _ in range(items)]
    rows: Table = [
        [k if rng.random() < share else rng.choice("abc".replace(k, "")) for share in accuracies] for k in truth
    ]
    return truth, [[None if rng.random() < 0.1 else rating for rating in row] for row in rows]


@pytest.mark.slow
def test_anaesthetists_of_dawid_and_skene() -> None:
    """Their estimates: how frequent the four categories are, and the errors of the first, who rated three times."""
    found = scorers.dawid_skene(ANAESTHETISTS, ANAESTHETIST)
    assert [round(found.prior[k], 2) for k in (1, 2, 3, 4)] == [0.40, 0.42, 0.11, 0.07]
    first = found.raters[1]
    assert [[round(first.confusion[a][b], 2) for b in (1, 2, 3, 4)] for a in (1, 2, 3, 4)] == [
        [0.89, 0.11, 0, 0],
        [0.07, 0.88, 0.05, 0],
        [0, 0.34, 0.66, 0],
        [0, 0, 0.56, 0.44],
    ]
    assert (first.votes, found.raters[2].votes, list(found.raters)) == (135, 45, [1, 2, 3, 4, 5])
    assert Counter(found.labels) == {1: 18, 2: 19, 3: 5, 4: 3}


@pytest.mark.slow
def test_equals_the_plain_algorithm() -> None:
    _, ratings = simulated([0.9, 0.8, 0.7, 0.5], 40)
    ratings = [row for row in ratings if any(row)]
    found, (chance, prior) = scorers.dawid_skene(ratings, iterations=5), em(ratings, 5)
    assert [found.prior[k] for k in "abc"] == pytest.approx(prior, abs=1e-6)
    for row, expected, label in zip(found.probabilities, chance, found.labels, strict=True):
        assert [row[k] for k in "abc"] == pytest.approx(expected, abs=1e-6)
        assert label == "abc"[expected.index(max(expected))]


@pytest.mark.slow
def test_finds_who_is_right() -> None:
    accuracies = [0.95, 0.85, 0.6, 0.6, 0.6]
    truth, ratings = simulated(accuracies, 800)
    found = scorers.dawid_skene(ratings, iterations=20)
    for j, (accuracy, quality) in enumerate(zip(accuracies, found.raters.values(), strict=True)):
        assert quality.accuracy == pytest.approx(accuracy, abs=0.04)
        assert quality.confusion["a"]["a"] == pytest.approx(accuracy, abs=0.08)
        assert quality.votes == sum(row[j] is not None for row in ratings)
        for said in quality.confusion.values():
            assert sum(said.values()) == pytest.approx(1)
    hits = sum(a == b for a, b in zip(found.labels, truth, strict=True))
    assert hits > sum(a == b for a, b in zip(scorers.majority_vote(ratings), truth, strict=True))


@pytest.mark.slow
@settings(max_examples=5)
@given(tables, st.randoms(use_true_random=False))
def test_neither_names_nor_the_order_of_raters_matter(ratings: Table, rng: random.Random) -> None:
    names: dict[str | None, Any] = {"a": True, "b": ("b", 2), "c": "true", None: None}
    columns = rng.sample(range(len(ratings[0])), len(ratings[0]))
    before = scorers.dawid_skene(ratings, iterations=2)
    after = scorers.dawid_skene([[names[row[j]] for j in columns] for row in ratings], columns, iterations=2)
    for row, other in zip(before.probabilities, after.probabilities, strict=True):
        assert {names[k]: chance for k, chance in row.items()} == pytest.approx(other, abs=1e-9)
    for j, quality in before.raters.items():
        assert quality.accuracy == pytest.approx(after.raters[j].accuracy, abs=1e-9, nan_ok=True)
        assert quality.votes == after.raters[j].votes


@pytest.mark.slow
def test_what_cannot_be_told() -> None:
    tied = scorers.dawid_skene([["a", "b"], ["b", "a"], [None, None]], iterations=2)
    assert tied.labels == [None, None, None]
    assert tied.probabilities[0] == pytest.approx({"a": 0.5, "b": 0.5})
    assert tied.probabilities[2] == {}
    # The third has rated nothing, the second only what is a.
    gaps = scorers.dawid_skene([["a", "a", N], ["a", "a", N], ["b", N, N], ["b", N, N]], iterations=10)
    assert gaps.labels == list("aabb")
    assert (gaps.raters[2].votes, math.isnan(gaps.raters[2].accuracy)) == (0, True)
    assert math.isnan(gaps.raters[1].confusion["b"]["a"])
    assert gaps.raters[1].confusion["a"] == pytest.approx({"a": 1, "b": 0})
    for ratings in ([], [[None, None]]):
        nothing = scorers.dawid_skene(ratings)
        assert (nothing.labels, nothing.prior) == ([None] * len(ratings), {})


def test_bad_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="raters has 1 names, ratings has 2 columns"):
        scorers.dawid_skene([["a", "b"]], ["one"])
    with pytest.raises(BadInput, match="iterations is 0; it must be 1 or more"):
        scorers.dawid_skene([["a", "b"]], iterations=0)
    with pytest.raises(BadInput, match="level is 1"):
        scorers.human_ceiling([["a", "b"]], level=1)
    for function in (scorers.dawid_skene, scorers.majority_vote, scorers.human_ceiling):
        with pytest.raises(BadInput, match=r"ratings\[1\] has 1 ratings"):
            function([["a", "b"], ["a"]])
        with pytest.raises(BadInput, match=r"ratings\[0\]\[0\] is nan"):
            function([[NAN, 1.0]])
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation.classification.dawid_skene", None)
    with pytest.raises(BadInput, match=r'pip install "humor-tasks\[agreement\]"'):
        scorers.dawid_skene([["a", "b"]])
