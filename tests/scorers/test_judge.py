"""`judge_exam`: textbook rates and errors of a judge, and clustered errors against a bootstrap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput

NAN = math.nan
RATIOS = ("accuracy", "false_pass_rate", "false_fail_rate", "precision", "recall", "f1")
counts = st.tuples(*[st.integers(0, 12)] * 4).filter(lambda cells: sum(cells) > 1)


def items(tp: int, fp: int, fn: int, tn: int) -> tuple[list[bool], list[bool]]:
    """Labels and verdicts of that many items a cell."""
    labels = [True] * tp + [False] * fp + [True] * fn + [False] * tn
    return labels, [True] * (tp + fp) + [False] * (fn + tn)


def exam(*cells: int) -> dict[str, scorers.Estimate]:
    return scorers.judge_exam(*items(*cells), range(sum(cells)))


def rates(tp: Any, fp: Any, fn: Any, tn: Any) -> list[Any]:
    """The textbook formulas, on numbers or arrays, in the order of JUDGE_METRICS."""
    n = tp + fp + fn + tn
    agreed, judge, human = (tp + tn) / n, (tp + fp) / n, (tp + fn) / n
    chance = judge * human + (1 - judge) * (1 - human)
    share = (judge + human) / 2
    gwet = 2 * share * (1 - share)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    f1 = 2 * precision * recall / (precision + recall)
    return [
        agreed,
        fp / (fp + tn),
        fn / (fn + tp),
        precision,
        recall,
        f1,
        (agreed - chance) / (1 - chance),
        (agreed - gwet) / (1 - gwet),
    ]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # Passes everything: AC1 has pe = 2 * .865 * .135 = .23355 and 2 * .9 * .1 = .18
        ((73, 27, 0, 0), (0.73, 1, 0, 0.73, 1, 1.46 / 1.73, 0, (0.73 - 0.23355) / (1 - 0.23355))),
        ((80, 20, 0, 0), (0.8, 1, 0, 0.8, 1, 1.6 / 1.8, 0, (0.8 - 0.18) / (1 - 0.18))),
        # Kappa: pe = .69 * .73 + .31 * .27 = .5874; AC1: pe = 2 * .71 * .29 = .4118
        (
            (60, 9, 13, 18),
            (0.78, 9 / 27, 13 / 73, 60 / 69, 60 / 73, 120 / 142, (0.78 - 0.5874) / 0.4126, (0.78 - 0.4118) / 0.5882),
        ),
        # Always right, always wrong
        ((5, 0, 0, 5), (1, 0, 0, 1, 1, 1, 1, 1)),
        ((0, 5, 5, 0), (0, 1, 1, 0, 0, 0, -1, -1)),
        # Fails everything: no precision
        ((0, 0, 8, 2), (0.2, 0, 1, NAN, 0, 0, 0, (0.2 - 0.48) / 0.52)),
        # A class is missing from the labels
        ((4, 0, 6, 0), (0.4, NAN, 0.6, 1, 0.4, 8 / 14, 0, (0.4 - 0.42) / 0.58)),
        ((0, 4, 0, 6), (0.6, 0.4, NAN, 0, NAN, 0, 0, (0.6 - 0.32) / 0.68)),
        # One cell only
        ((3, 0, 0, 0), (1, NAN, 0, 1, 1, 1, NAN, 1)),
        ((0, 0, 0, 3), (1, 0, NAN, NAN, NAN, NAN, NAN, 1)),
        ((0, 0, 0, 0), (NAN,) * 8),
    ],
)
def test_by_hand(cells: tuple[int, int, int, int], expected: tuple[float, ...]) -> None:
    result = exam(*cells)
    assert tuple(result) == scorers.JUDGE_METRICS
    assert [estimate.value for estimate in result.values()] == pytest.approx(list(expected), abs=1e-12, nan_ok=True)
    for estimate in result.values():
        assert (estimate.n, estimate.clusters) == (sum(cells), sum(cells))
        if math.isnan(estimate.value):
            assert all(math.isnan(x) for x in (estimate.stderr, estimate.low, estimate.high))


def test_kappa_of_a_judge_that_passes_everything_is_exactly_nothing() -> None:
    assert all(exam(n, 100 - n, 0, 0)["cohen_kappa"].value == 0 for n in range(1, 100))


@given(counts)
def test_a_cluster_of_its_own_for_each_item_is_the_textbook_error(cells: tuple[int, int, int, int]) -> None:
    tp, fp, fn, tn = cells
    result, n = exam(*cells), sum(cells)
    correction = math.sqrt(n / (n - 1))
    hits = {
        "accuracy": (tp + tn, n),
        "false_pass_rate": (fp, fp + tn),
        "false_fail_rate": (fn, fn + tp),
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
    }
    for name, (hit, of) in hits.items():  # Wald
        wald = math.sqrt(hit / of * (1 - hit / of) / of) * correction if of > 1 else NAN
        assert result[name].stderr == pytest.approx(wald, abs=1e-9, nan_ok=True)
    # Squared, since the published formula takes the root of a difference that may be all rounding.
    expected = (kappa_stderr(*cells) * correction) ** 2
    assert result["cohen_kappa"].stderr ** 2 == pytest.approx(expected, abs=1e-12, nan_ok=True)


def kappa_stderr(tp: int, fp: int, fn: int, tn: int) -> float:
    """Fleiss, Cohen and Everitt 1969, Psychological Bulletin 72, equation 13, unweighted."""
    n = tp + fp + fn + tn
    p = [[tp / n, fp / n], [fn / n, tn / n]]  # judge by human
    row, column = [sum(line) for line in p], [p[0][k] + p[1][k] for k in range(2)]
    po, pe = p[0][0] + p[1][1], row[0] * column[0] + row[1] * column[1]
    if pe == 1:
        return NAN
    agreed = sum(p[k][k] * ((1 - pe) - (row[k] + column[k]) * (1 - po)) ** 2 for k in range(2))
    missed = (1 - po) ** 2 * sum(p[j][k] * (column[j] + row[k]) ** 2 for j, k in ((0, 1), (1, 0)))
    return math.sqrt(max(agreed + missed - (po * pe - 2 * pe + po) ** 2, 0) / n) / (1 - pe) ** 2


@given(counts)
def test_ac1_is_the_linearised_function_of_the_four_cells(cells: tuple[int, int, int, int]) -> None:
    def ac1(tp: complex, fp: complex, fn: complex, tn: complex) -> complex:
        share = tp + (fp + fn) / 2
        chance = 2 * share * (1 - share)
        return (tp + tn - chance) / (1 - chance)

    columns = [[float(k == cell) for cell, count in enumerate(cells) for _ in range(count)] for k in range(4)]
    expected = scorers.linearised(ac1, columns, range(sum(cells)))
    result = exam(*cells)["gwet_ac1"]
    assert result.value == pytest.approx(expected.value, abs=1e-12)
    assert result.stderr == pytest.approx(expected.stderr, abs=1e-9)


def test_clustered_errors_are_about_those_of_a_bootstrap_of_clusters() -> None:
    rng = np.random.default_rng(1)
    groups, size = 80, 6
    clusters = np.repeat(range(groups), size)
    labels = rng.random(groups * size) < np.repeat(rng.beta(4, 2, groups), size)
    slips = rng.random(groups * size) < np.repeat(rng.beta(1, 4, groups), size)
    verdicts = labels ^ slips
    result = scorers.judge_exam(labels.tolist(), verdicts.tolist(), clusters.tolist())
    plain = scorers.judge_exam(labels.tolist(), verdicts.tolist(), range(len(labels)))

    cells = 2 * ~verdicts + ~labels
    by_cluster = np.stack([np.bincount(clusters, cells == k, minlength=groups) for k in range(4)])
    draws = rng.multinomial(groups, [1 / groups] * groups, size=4000)
    resampled = rates(*(by_cluster @ draws.T))
    for name, values in zip(scorers.JUDGE_METRICS, resampled, strict=True):
        assert result[name].stderr == pytest.approx(values.std(), rel=0.1), name
    assert result["accuracy"].stderr > 1.2 * plain["accuracy"].stderr  # the clusters are not idle


def test_what_one_cluster_alone_shows_has_no_error() -> None:
    # The only two FAIL are of one cluster.
    result = scorers.judge_exam([True, True, False, False], [True, False, True, False], ["a", "b", "c", "c"])
    assert result["false_pass_rate"].value == 0.5
    assert math.isnan(result["false_pass_rate"].stderr)
    assert result["recall"].stderr > 0


def test_ones_and_zeros_and_other_levels() -> None:
    labels, verdicts = items(60, 9, 13, 18)
    wide, narrow = (scorers.judge_exam(labels, verdicts, range(100), level) for level in (0.99, 0.5))
    numbers = scorers.judge_exam([int(x) for x in labels], np.array(verdicts), range(100), 0.99)
    assert numbers == wide
    assert all(wide[name].high > narrow[name].high > narrow[name].value for name in scorers.JUDGE_METRICS)


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="labels has 1, verdicts has 2, clusters has 2"):
        scorers.judge_exam([True], [True, False], "ab")
    for entry in ("PASS", None, NAN, 2):
        with pytest.raises(BadInput, match=r"verdicts\[1\] is .*True or 1 \(PASS\)"):
            scorers.judge_exam([True, True], [True, entry], "ab")
    with pytest.raises(BadInput, match="level is 95"):
        scorers.judge_exam([True, True], [True, True], "ab", 95)
