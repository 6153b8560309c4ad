"""AC1, Fleiss' kappa and raw agreement: the enumeration of pairs, symmetries, clusters, and edges."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.rated import FOUR_RATERS

from humor_tasks import scorers
from humor_tasks.errors import BadInput

NAN, N = math.nan, None

tables = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from(["a", "b", "c", None]), min_size=raters, max_size=raters), min_size=3, max_size=15
    )
)


COEFFICIENTS = ("raw_agreement", "gwet_ac1", "krippendorff_alpha", "fleiss_kappa")


def brute(ratings: list[list[str | None]], categories: str, fleiss: bool) -> tuple[float, float]:
    """AC1 or Fleiss' kappa by enumerating pairs of ratings, and its error item by item."""
    rows = [[rating for rating in row if rating is not None] for row in ratings]
    rows = [row for row in rows if row]
    agreed: list[float | None] = []
    for row in rows:
        pairs = [a == b for i, a in enumerate(row) for b in row[:i]]
        agreed.append(sum(pairs) / len(pairs) if pairs else None)
    known = [share for share in agreed if share is not None]
    if not known:
        return NAN, NAN
    pi = {k: sum(row.count(k) / len(row) for row in rows) / len(rows) for k in categories}
    chance = {k: p if fleiss else (1 - p) / (len(categories) - 1) for k, p in pi.items()}
    pa, pe = sum(known) / len(known), sum(p * chance[k] for k, p in pi.items())
    if pe > 1 - 1e-9:
        return NAN, NAN
    value, squares = (pa - pe) / (1 - pe), 0.0
    for row, share in zip(rows, agreed, strict=True):
        first = 0.0 if share is None else len(rows) / len(known) * (share - pe)
        pe_i = sum(chance[rating] for rating in row) / len(row)
        squares += ((first - 2 * (1 - value) * (pe_i - pe)) / (1 - pe) - value) ** 2
    return value, math.sqrt(squares / (len(rows) * (len(rows) - 1))) if len(known) > 1 else NAN


# ---- properties ---------------------------------------------------------------------------------


@given(tables, st.booleans())
def test_equals_the_enumeration_of_pairs(ratings: list[list[str | None]], fleiss: bool) -> None:
    estimate = scorers.fleiss_kappa(ratings) if fleiss else scorers.gwet_ac1(ratings, categories="abc")
    expected = brute(ratings, "abc", fleiss)
    assert (estimate.value, estimate.stderr) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert estimate.n == estimate.clusters == sum(any(rating is not None for rating in row) for row in ratings)


@given(tables)
def test_raw_agreement_is_the_mean_over_items_of_pairs_that_agree(ratings: list[list[str | None]]) -> None:
    rows = [[rating for rating in row if rating is not None] for row in ratings]
    shares = [
        sum(a == b for a, b in itertools.combinations(row, 2)) / math.comb(len(row), 2) for row in rows if len(row) > 1
    ]
    expected = scorers.clustered_mean(shares, range(len(shares)))
    found = scorers.raw_agreement(ratings)
    assert [found.value, found.stderr, found.n] == pytest.approx(
        [expected.value, expected.stderr, expected.n], abs=1e-9, nan_ok=True
    )


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=12), st.integers(2, 5))
def test_full_agreement_is_exactly_1(labels: list[str], raters: int) -> None:
    for name, estimate in scorers.agreement([[label] * raters for label in labels]).items():
        several = len(set(labels)) > 1 or name in ("raw_agreement", "gwet_ac1")  # kappas and alpha are 0/0
        assert estimate.value == (1 if several else pytest.approx(NAN, nan_ok=True)), name
        if several and len(set(labels)) > 1:
            assert estimate.stderr == 0, name


@given(tables)
def test_items_without_a_rating_do_not_count(ratings: list[list[str | None]]) -> None:
    padded = [*ratings, [None] * len(ratings[0])]
    clusters = [*("xyz"[i % 3] for i in range(len(ratings))), "none rated"]
    before, after = scorers.agreement(ratings, clusters[:-1]), scorers.agreement(padded, clusters)
    assert repr(before) == repr(after)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_doubled_items_in_clusters_of_two_have_the_error_of_single_ones(name: str) -> None:
    """The same information twice: clustered, the error stays; by item, it would shrink by sqrt(2)."""
    ids = [i for i in range(12) for _ in range(2)]
    twice = [FOUR_RATERS[i] for i in ids]
    clustered, single, fooled = (
        scorers.agreement(twice, ids)[name],
        scorers.agreement(FOUR_RATERS)[name],
        scorers.agreement(twice)[name],
    )
    # Alpha's correction for few ratings is another with twice as many.
    near = 0.01 if name == "krippendorff_alpha" else 1e-9
    assert clustered.stderr == pytest.approx(single.stderr, rel=near)
    assert clustered.high == pytest.approx(single.high, rel=near)
    assert fooled.stderr == pytest.approx(single.stderr * math.sqrt((single.n - 1) / (2 * single.n - 1)), rel=near)
    assert (clustered.n, clustered.clusters) == (2 * single.n, single.n)


def test_clustered_errors_are_about_those_of_a_jackknife_over_clusters() -> None:
    rng = random.Random(5)
    ratings: list[list[int | None]] = []
    clusters = []
    for cluster in range(60):
        care = rng.random()
        for _ in range(rng.randint(1, 6)):
            truth = rng.randint(1, 4)
            row = [truth if rng.random() < care else rng.randint(1, 4) for _ in range(4)]
            ratings.append([rating if rng.random() < 0.9 else None for rating in row])
            clusters.append(cluster)
    left_out = []
    for cluster in range(60):
        kept = [i for i, c in enumerate(clusters) if c != cluster]
        left_out.append(scorers.agreement([ratings[i] for i in kept], metric="ordinal"))
    by_item = scorers.agreement(ratings, metric="ordinal")
    for name, estimate in scorers.agreement(ratings, clusters, "ordinal").items():
        values = [found[name].value for found in left_out]
        assert estimate.stderr == pytest.approx(statistics.pstdev(values) * math.sqrt(59), rel=0.05), name
        assert estimate.stderr > 1.1 * by_item[name].stderr  # the clusters are not idle


# ---- edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratings", "categories", "value", "stderr"),
    [
        ([], None, NAN, NAN),
        ([[N, N]], None, NAN, NAN),
        ([["a", N], [N, "b"]], None, NAN, NAN),  # no item with two ratings
        ([["a", N], ["a", N]], None, NAN, NAN),
        ([["a", "a"], ["a", "b"]], None, 1 / 5, None),  # pa 1/2, pi 3/4 and 1/4, pe 3/8
        ([["a", "a"], ["b", N]], None, 1, NAN),  # one item with two
        ([["a", "b"]], None, -1, NAN),
        ([["a", "a"], ["a", "a"]], None, 1, NAN),  # one category known: 0/0, as irrCAC
        ([["a", "a"], ["a", "a"]], "ab", 1, 0),
        ([["a", "a"], ["a", "a"]], "a", 1, NAN),
    ],
)
def test_edges(ratings: list[list[str | None]], categories: str | None, value: float, stderr: float | None) -> None:
    estimate = scorers.gwet_ac1(ratings, categories=categories)
    assert estimate.value == pytest.approx(value, nan_ok=True)
    if stderr is None:
        assert estimate.stderr > 0
    else:
        assert estimate.stderr == pytest.approx(stderr, nan_ok=True)
        assert estimate.high == pytest.approx(value + stderr, nan_ok=True)


def test_pairs_of_a_single_cluster_have_no_error() -> None:
    estimate = scorers.gwet_ac1([["a", "a"], ["a", "b"], ["b", None]], "xxy")
    assert not math.isnan(estimate.value)
    assert math.isnan(estimate.stderr)


def test_fleiss_kappa_and_alpha_of_one_category_are_undefined() -> None:
    for ratings in ([["a", "a"], ["a", "a"]], [["a", "a", None], ["a", None, "a"]], [], [[None, None]], [["a", None]]):
        found = scorers.agreement(ratings)
        for name in ("krippendorff_alpha", "fleiss_kappa"):
            assert all(math.isnan(x) for x in (found[name].value, found[name].stderr, found[name].low)), name


def test_equal_keys_are_one_category() -> None:
    """As in a dictionary: 1, 1.0 and True, but not "1"."""
    mixed = scorers.agreement([[1, True], [1.0, 1], ["1", "1"], [2, "1"]])
    plain = scorers.agreement([["a", "a"], ["a", "a"], ["b", "b"], ["c", "b"]])
    assert repr(mixed) == repr(plain)


def test_side_by_side() -> None:
    two, three = [[1, 2], [2, 2], [3, 3], [1, 1]], [[1, 2, 3], [2, 2, None], [3, 3, 3]]
    found = scorers.agreement(two, "wxyz", "interval", [1, 2, 3, 4], 0.9)
    assert found == {
        "raw_agreement": scorers.raw_agreement(two, "wxyz", 0.9),
        "gwet_ac1": scorers.gwet_ac1(two, "wxyz", [1, 2, 3, 4], 0.9),
        "krippendorff_alpha": scorers.krippendorff_alpha(two, "wxyz", "interval", level=0.9),
        "fleiss_kappa": scorers.fleiss_kappa(two, "wxyz", 0.9),
        "cohen_kappa": scorers.cohen_kappa([1, 2, 3, 1], [2, 2, 3, 1], "wxyz", level=0.9),
    }
    assert tuple(scorers.agreement(three)) == COEFFICIENTS


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="ratings has 1, clusters has 2"):
        scorers.gwet_ac1([["a", "b"]], "xy")
    with pytest.raises(BadInput, match=r"ratings\[1\] has 1 ratings, ratings\[0\] has 2; a missing rating is None"):
        scorers.gwet_ac1([["a", "b"], ["a"]])
    with pytest.raises(BadInput, match=r"ratings\[0\]\[1\] is nan; a missing rating is None"):
        scorers.gwet_ac1([[1.0, NAN]])
    with pytest.raises(BadInput, match=r"ratings\[1\]\[0\] is 'c', which is not among the categories \['a', 'b'\]"):
        scorers.gwet_ac1([["a", "b"], ["c", "a"]], categories="ab")
    with pytest.raises(BadInput, match="categories contains None, which means a missing rating"):
        scorers.gwet_ac1([["a", "b"]], categories=["a", "b", None])
    for coefficient in (scorers.gwet_ac1, scorers.fleiss_kappa, scorers.raw_agreement, scorers.krippendorff_alpha):
        with pytest.raises(BadInput, match="level is 2"):
            coefficient([["a", "b"]], level=2)
        with pytest.raises(BadInput, match=r"ratings\[0\]\[1\] is nan; a missing rating is None"):
            coefficient([[1.0, NAN], [NAN, 2.0]])
