"""`panel_errors` by hand, against enumeration and the module's other estimators, and in the simulation."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import fmean

import numpy as np
import panel_coverage
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers import Estimate, PanelErrors

Verdict = bool | None


def of_errors(rows: list[list[Verdict]], clusters=None) -> PanelErrors:
    """The panel of judges a, b, ... with these errors; every other label is PASS."""
    labels = [i % 2 == 0 for i in range(len(rows[0]))]
    verdicts = {
        name: [None if wrong is None else label != wrong for wrong, label in zip(row, labels, strict=True)]
        for name, row in zip("abcdefg", rows, strict=False)
    }
    return scorers.panel_errors(labels, verdicts, range(len(labels)) if clusters is None else clusters)


def flags(text: str) -> list[Verdict]:
    return [None if letter == "?" else letter == "x" for letter in text]


def bounds(e: Estimate) -> list[float]:
    return [e.low, e.high]


# An x is an error, ? a missing verdict.
@pytest.mark.parametrize(
    ("rows", "correlations", "effective"),
    [
        (["xx......", "x.x....."], [1 / 3], 1.5),  # (1/8 - 1/16) / (3/16)
        (["xx..", "x.x."], [0], 2),
        (["xx..", "..xx"], [-1], 2),  # errors that offset each other count as independent
        (["xx..", "xx..", "x.x."], [1, 0, 0], 3 / (1 + 2 / 3)),
        # b and c have four items in common: (1/2 - 3/4 * 1/2) / sqrt(3/16 * 1/4)
        (["x.x.??", "x.x.xx", "??x.x."], [1, 1, 1 / math.sqrt(3)], 3 / (1 + 2 * (2 + 1 / math.sqrt(3)) / 3)),
        (["xx..", "...."], [math.nan], math.nan),
        (["xx..", "xxxx"], [math.nan], math.nan),
        (["xx??", "??xx"], [math.nan], math.nan),
    ],
)
def test_correlations_by_hand(rows: list[str], correlations: list[float], effective: float) -> None:
    found = of_errors([flags(row) for row in rows])
    assert list(found.correlations) == list(combinations("abc"[: len(rows)], 2))
    values = [e.value for e in found.correlations.values()]
    assert values == pytest.approx(correlations, abs=1e-12, nan_ok=True)
    assert found.mean_correlation.value == pytest.approx(fmean(correlations), abs=1e-12, nan_ok=True)
    assert found.effective_judges.value == pytest.approx(effective, nan_ok=True)


@pytest.mark.parametrize(
    ("rows", "gains", "independent", "left_out"),
    [
        # accuracies .5 .75 .75; independent: both of the better are right, or one of them and the first
        (["xx..", "x...", "..x."], {3: 0.75 - 2 / 3}, 0.75 * 0.75 + 0.5 * 2 * 0.75 * 0.25 - 2 / 3, 0),
        (["xx..?x", "x...x?", "..x.xx"], {3: 0.75 - 2 / 3}, 0.75 * 0.75 + 0.5 * 2 * 0.75 * 0.25 - 2 / 3, 2),
        (["x...", "x..."], {}, None, 0),
        (["x...", "x...", "x..."], {3: 0}, 0.75**3 + 3 * 0.75**2 * 0.25 - 0.75, 0),
        (["x.", ".x", "??"], {3: math.nan}, math.nan, 2),
    ],
)
def test_gains_by_hand(rows: list[str], gains: dict[int, float], independent: float | None, left_out: int) -> None:
    found = of_errors([flags(row) for row in rows])
    observed = {m: majority.gain.value for m, majority in found.majorities.items()}
    assert observed == pytest.approx(gains, abs=1e-12, nan_ok=True)
    assert [majority.independent for majority in found.majorities.values()] == pytest.approx(
        [] if independent is None else [independent], nan_ok=True
    )
    assert found.left_out == left_out
    assert all(majority.gain.n == len(rows[0]) - left_out for majority in found.majorities.values())


def test_the_interval_of_a_gain_by_hand() -> None:
    """Gains of 1/3 1/3 0 0 in four clusters, and of twice nothing, with 2 (1/3 / 6)^2 added to the variance."""
    found = of_errors([flags("x..."), flags(".x.."), flags("....")]).majorities[3].gain
    stderr = math.sqrt(4 * (1 / 6) ** 2 / 3 / 4 + 2 / 18**2)
    assert found.stderr == pytest.approx(stderr)
    assert bounds(found) == pytest.approx([1 / 6 - 3.18245 * stderr, 1 / 6 + 3.18245 * stderr], rel=1e-5)


# ---- against others -----------------------------------------------------------------------------

judges = st.integers(4, 20).flatmap(
    lambda items: st.lists(
        st.lists(st.sampled_from([True, False, False, None]), min_size=items, max_size=items), min_size=2, max_size=5
    )
)


@given(judges)
def test_gains_against_enumeration(rows: list[list[Verdict]]) -> None:
    found = of_errors(rows)
    whole = [item for item in zip(*rows, strict=True) if None not in item]
    assert list(found.majorities) == list(range(3, len(rows) + 1, 2))
    assert found.left_out == len(rows[0]) - len(whole)
    for m, majority in found.majorities.items() if whole else ():
        subsets = list(combinations(range(len(rows)), m))
        rates = [fmean(item[j] for item in whole) for j in range(len(rows))]
        right = fmean(2 * sum(item[j] for j in subset) < m for subset in subsets for item in whole)
        assert majority.gain.value == pytest.approx(right - 1 + fmean(rates), abs=1e-12)
        chances = [
            math.prod(rates[j] if wrong else 1 - rates[j] for j, wrong in zip(subset, pattern, strict=True))
            for subset in subsets
            for pattern in product((0, 1), repeat=m)
            if 2 * sum(pattern) < m
        ]
        assert majority.independent == pytest.approx(sum(chances) / len(subsets) - 1 + fmean(rates), abs=1e-12)


@given(judges, st.integers(2, 9))
def test_intervals_hold_their_value_and_stay_in_range(rows: list[list[Verdict]], clusters: int) -> None:
    found = of_errors(rows, [i % clusters for i in range(len(rows[0]))])
    for e in (*found.correlations.values(), found.mean_correlation):
        assert math.isnan(e.low) or -1 <= e.low <= e.value <= e.high <= 1
    e = found.effective_judges
    assert math.isnan(e.low) or 1 - 1e-9 <= e.low <= e.value <= e.high <= len(rows)
    before = [found.mean_correlation, found.effective_judges, *(m.gain for m in found.majorities.values())]
    found = of_errors(rows[::-1], [f"c{i % clusters}" for i in range(len(rows[0]))])
    after = [found.mean_correlation, found.effective_judges, *(m.gain for m in found.majorities.values())]
    for one, other in zip(before, after, strict=True):
        assert bounds(one) == pytest.approx(bounds(other), nan_ok=True, abs=1e-9)


def clustered_errors(judges: int, items: int, missing: float = 0.0) -> tuple[list[list[Verdict]], list[int]]:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(items // 4), 4)
    difficulty = rng.beta(1, 3, items // 4)[clusters]
    wrong, absent = rng.random((judges, items)) < difficulty, rng.random((judges, items)) < missing
    rows = [[None if a else bool(w) for w, a in zip(*row, strict=True)] for row in zip(wrong, absent, strict=True)]
    return rows, clusters.tolist()


def test_a_correlation_is_pearsons_and_its_stderr() -> None:
    rows, clusters = clustered_errors(2, 80)
    found = of_errors(rows, clusters)
    expected = scorers.pearson(*([float(wrong) for wrong in row] for row in rows), clusters)
    assert found.mean_correlation == found.correlations["a", "b"]
    assert found.mean_correlation.value == pytest.approx(expected.value)
    assert found.mean_correlation.stderr == pytest.approx(expected.stderr)


def test_the_error_of_the_mean_is_that_of_a_function_of_means() -> None:
    """Of four means a pair, over all items, also where verdicts are missing."""
    rows, clusters = clustered_errors(3, 120, missing=0.2)
    pairs = list(combinations(rows, 2))
    both = [[(a, b) if None not in (a, b) else (0, 0) for a, b in zip(*pair, strict=True)] for pair in pairs]
    columns = []
    for pair, shown in zip(pairs, both, strict=True):
        columns.append([float(None not in item) for item in zip(*pair, strict=True)])
        columns += [[float(f(a, b)) for a, b in shown] for f in (lambda a, b: a, lambda a, b: b, lambda a, b: a * b)]

    def mean_phi(*means: complex) -> complex:
        phis = []
        for judged, a, b, ab in zip(*(means[i::4] for i in range(4)), strict=True):
            a, b, ab = a / judged, b / judged, ab / judged
            phis.append((ab - a * b) / (a * (1 - a) * b * (1 - b)) ** 0.5)
        return sum(phis) / 3

    expected = scorers.linearised(mean_phi, columns, clusters)
    found = of_errors(rows, clusters)
    assert found.mean_correlation.value == pytest.approx(expected.value)
    assert found.mean_correlation.stderr == pytest.approx(expected.stderr)
    ratio = found.effective_judges.value**2 * 2 / 3
    assert found.effective_judges.stderr == pytest.approx(ratio * expected.stderr)


def test_judges_that_err_equally_often_have_the_interval_of_the_share_of_errors_in_common() -> None:
    rows = [flags("xx.x..........x."), flags("x..xx....x......"), flags("..xxx...........")]
    rows[2][9] = True
    found = of_errors(rows)
    wrong = [sum(item) for item in zip(*rows, strict=True)]
    share = scorers.clustered_share([w * (w - 1) / 2 for w in wrong], wrong, range(16))
    rate = 4 / 16
    assert sum(wrong) == 12
    assert found.mean_correlation.value == pytest.approx((share.value - rate) / (1 - rate))
    assert bounds(found.mean_correlation) == pytest.approx([(x - rate) / (1 - rate) for x in bounds(share)])
    low, high = bounds(found.mean_correlation)
    assert bounds(found.effective_judges) == pytest.approx([3 / (1 + 2 * high), 3 / (1 + 2 * max(low, 0))])


# ---- what must hold -----------------------------------------------------------------------------


@given(st.integers(2, 7), st.lists(st.booleans(), min_size=3, max_size=30).filter(lambda row: len(set(row)) == 2))
def test_judges_that_are_one_judge(judges: int, row: list[Verdict]) -> None:
    found = of_errors([row] * judges)
    assert found.effective_judges.value == pytest.approx(1)
    assert all(majority.gain.value == pytest.approx(0) for majority in found.majorities.values())
    assert all(majority.gain.low < 0 < majority.gain.high for majority in found.majorities.values())
    if sum(bool(wrong) for wrong in row) > 1:
        assert found.effective_judges.high > 1


def test_planted_independence() -> None:
    rng = np.random.default_rng(1)
    found = of_errors((rng.random((5, 1_000)) < 0.25).tolist())
    assert found.effective_judges.high == 5
    assert found.effective_judges.low > 4
    for majority in found.majorities.values():
        assert majority.gain.low < majority.independent < majority.gain.high


def test_one_cluster_with_errors_has_no_interval() -> None:
    found = of_errors([flags("x..."), flags("xx..")], "aabb")
    for e in (found.mean_correlation, found.effective_judges):
        assert e.value > 0
        assert all(math.isnan(part) for part in (e.stderr, e.low, e.high))
        assert (e.n, e.clusters) == (4, 2)


def test_bad_input_is_named() -> None:
    for labels, verdicts, clusters, message in (
        ([1, 0], {"a": [1, 0]}, "ab", "verdicts has 1 judges"),
        ([1, 0], {"a": [1, 0], "b": [1]}, "ab", r"verdicts\['b'\] has 1"),
        ([1, 0], {"a": [1, 0], "b": [1, 0]}, "a", "clusters has 1"),
        ([1, None], {"a": [1, 0], "b": [1, 0]}, "ab", r"labels\[1\] is None"),
        ([1, 0], {"a": [1, 0], "b": [None, "PASS"]}, "ab", r"verdicts\['b'\]\[1\] is 'PASS'"),
        ([1, 0], {"a": [1, 0], "b": [1, 0]}, ["a", None], r"clusters\[1\] is None"),
    ):
        with pytest.raises(BadInput, match=message):
            scorers.panel_errors(labels, verdicts, clusters)


# ---- coverage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_simulation_draws_what_it_says(correlation: float) -> None:
    cell = panel_coverage.Cell(5, 5_000, 4, 0.7, correlation)
    found = of_errors(panel_coverage.errors(cell, np.random.default_rng(0)).tolist())
    assert found.effective_judges.value == pytest.approx(cell.effective, rel=0.05)
    for m, majority in found.majorities.items():
        assert majority.gain.value == pytest.approx(panel_coverage.true_gain(cell, m), abs=0.01)


@pytest.mark.parametrize(
    ("cell", "by_t"),
    [
        (panel_coverage.Cell(5, 50, 1, 0.9, 0.2), 0.9),
        (panel_coverage.Cell(3, 50, 1, 0.9, 0.95), 0.65),
        (panel_coverage.Cell(3, 50, 1, 0.9, 0.6), 0.95),
    ],
)
def test_hard_cells_hold_where_t_intervals_do_not(cell: panel_coverage.Cell, by_t: float) -> None:
    """Of 300 samples the standard error of a coverage of .95 is .0126; one may be two of them below."""
    found = panel_coverage.measured(cell, 300)
    assert min(found.coverage.values()) >= panel_coverage.GOAL - 0.025
    assert found.by_t["effective"] < by_t
