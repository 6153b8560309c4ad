"""RMSE, its ends and correlations: by hand, against plain loops and derivatives, and the organisers' baseline."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from standins.corpus import rows_of

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers.arrays import Floats

Row = tuple[float, float, int]  # prediction, gold, cluster
GOLD = st.integers(0, 15).map(lambda i: i / 5)
ROWS = st.lists(st.tuples(st.sampled_from([0.5, 1.0, 1.1, 1.25, 2.0, 3.5]), GOLD, st.integers(0, 4)), min_size=2)


def columns(rows: list[Row]) -> tuple[list[float], list[float], list[int]]:
    pred, gold, clusters = zip(*rows, strict=True)
    return list(pred), list(gold), list(clusters)


def sampled(n: int = 240, groups: int = 90, seed: int = 0) -> tuple[list[float], list[float], list[int]]:
    """Rows as the corpus has them: gold of five judges, headlines whose edits are alike."""
    rng = random.Random(seed)
    shared = [rng.gauss(0, 0.4) for _ in range(groups)]
    rows = []
    for i in range(n):
        true = 1 + shared[i % groups] + rng.gauss(0, 0.3)
        gold = round(statistics.mean(min(3, max(0, round(rng.gauss(true, 0.9)))) for _ in range(5)), 1)
        rows.append((0.5 + 0.5 * true + rng.gauss(0, 0.2), gold, i % groups))
    return columns(rows)


def naive_correlation(x: Floats, y: Floats, times: Floats) -> float:
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    x, y = x - np.average(x, weights=times), y - np.average(y, weights=times)
    return float(times @ (x * y) / math.sqrt((times @ (x * x)) * (times @ (y * y))))


def naive_ranks(x: Floats, times: Floats) -> Floats:
    return np.array([times @ (x < a) + times @ (x == a) / 2 for a in x])


def naive_rmse_at(squares: Floats, gold: Floats, percent: float, times: Floats) -> float:
    """The k rows of each end one grade after the other; equals share the places that are left."""
    k = min(round(percent * len(gold) / 100), len(gold) // 2)
    if k == 0:
        return math.nan
    total = 0.0
    for grades in (sorted(set(gold)), sorted(set(gold), reverse=True)):
        left = float(k)
        for grade in grades:
            at = times * (gold == grade)
            total += min(left, at.sum()) * np.average(squares, weights=at)
            left -= min(left, at.sum())
    return math.sqrt(total / (2 * k))


def naive(pred: Sequence[float], gold: Sequence[float], times: Floats | None = None) -> dict[str, float]:
    """Every metric, of rows that each stand `times` times; their number is held, for with it changes k."""
    x, y, times = np.array(pred), np.array(gold), np.ones(len(pred)) if times is None else times
    found = {"rmse": math.sqrt(np.average((x - y) ** 2, weights=times))}
    found |= {f"rmse@{percent}": naive_rmse_at((x - y) ** 2, y, percent, times) for percent in (10, 20, 30, 40)}
    found["pearson"] = naive_correlation(x, y, times)
    found["spearman"] = naive_correlation(naive_ranks(x, times), naive_ranks(y, times), times)
    for i in range(15):
        low, high = i / 5, (i + 1) / 5
        name = f"mae[{low:.1f},{high:.1f}{']' if i == 14 else ')'}"
        errors = [abs(p - g) for p, g in zip(pred, gold, strict=True) if min(int(g * 5 + 1e-6), 14) == i]
        found[name] = statistics.fmean(errors) if errors else math.nan
    return found


def same(a: dict[str, float], b: dict[str, float]) -> bool:
    return list(a) == list(b) and all(a[k] == pytest.approx(b[k], rel=1e-9, abs=1e-9, nan_ok=True) for k in a)


def values(found: dict[str, scorers.Estimate]) -> dict[str, float]:
    return {name: estimate.value for name, estimate in found.items()}


# ---- by hand --------------------------------------------------------------------------------------


def test_rmse_by_hand() -> None:
    # Squared errors 1, 0, 1, 9, mean 2.75; deviation sums of the clusters -4.5 and 4.5: sqrt(2 * 40.5) / 4 = 2.25
    found = scorers.rmse([1, 2, 2, 0], [0, 2, 1, 3], "aabb")
    assert found.value == pytest.approx(math.sqrt(2.75))
    assert found.stderr == pytest.approx(2.25 / (2 * math.sqrt(2.75)))
    # two clusters of equal size: one degree of freedom, and the factor sqrt(2 / 1)
    log = scipy.stats.t.ppf(0.975, 1) * math.sqrt(2) * found.stderr / found.value
    assert (found.low, found.high) == pytest.approx((found.value / math.exp(log), found.value * math.exp(log)))
    assert (found.n, found.clusters) == (4, 2)


def test_a_perfect_system() -> None:
    gold = [0, 1, 2, 3, 0.2]
    perfect = scorers.rating_metrics(gold, gold, range(5))
    assert perfect["rmse"] == scorers.Estimate(0.0, 0.0, 0.0, 0.0, 5, 5)
    assert perfect["rmse@40"].value == 0
    for name in ("pearson", "spearman"):
        assert dataclasses.astuple(perfect[name]) == pytest.approx((1, 0, 1, 1, 5, 5), abs=1e-7)


@pytest.mark.parametrize(
    ("pred", "gold", "percent", "square"),
    [
        # k = 1: the errors at 3 and at 0
        ([1, 1, 1, 1, 1], [0, 1, 2, 3, 1.5], 20, (1 + 4) / 2),
        # k = 2: the one at 3, and half of each of the two at 2; below, 0 and 0.2
        ([1, 1, 2, 0, 0], [3, 2, 2, 0.2, 0], 40, (4 + 0.5 + 0.04 + 0) / 4),
        # k = round(2.5) = 2, a half to even
        ([0] * 5, [0, 0, 0, 3, 1], 50, (0 + 0 + 9 + 1) / 4),
        # k = round(1.5) = 2, but at most half of three rows
        ([0] * 3, [1, 2, 3], 50, (1 + 9) / 2),
    ],
)
def test_rmse_at_by_hand(pred: list[float], gold: list[float], percent: float, square: float) -> None:
    assert scorers.rmse_at(pred, gold, range(len(gold)), percent).value == pytest.approx(math.sqrt(square))


def test_equals_share_what_every_order_among_them_would_give() -> None:
    pred, gold = [1.0, 0.0, 2.0, 0.5, 3.0, 1.5], [2.0, 2.0, 2.0, 1.0, 1.0, 0.0]
    squares = []
    for order in itertools.permutations(range(6)):
        ranked = sorted(order, key=lambda i: gold[i])
        squares.append(statistics.fmean((pred[i] - gold[i]) ** 2 for i in (*ranked[:2], *ranked[-2:])))
    expected = math.sqrt(statistics.fmean(squares))
    assert scorers.rmse_at(pred, gold, range(6), 30).value == pytest.approx(expected)


def test_no_rows_at_the_ends() -> None:
    assert math.isnan(scorers.rmse_at([1, 2, 3, 1], [1, 2, 3, 0], "abcd", 10).value)
    assert scorers.rmse_at([1, 2, 3, 1], [1, 2, 3, 0], "abcd", 10).n == 4


def test_bins() -> None:
    gold = [0, 0.1, 0.2, 0.6, 0.6000001, 2.8, 3, 3]
    bins = scorers.mae_by_bin([1] * 8, gold, "aabbccdd")
    assert [b.name for b in bins[:2]] + [bins[-1].name] == ["mae[0.0,0.2)", "mae[0.2,0.4)", "mae[2.8,3.0]"]
    assert {round(b.low, 1): b.mae.n for b in bins if b.mae.n} == {0: 2, 0.2: 1, 0.6: 2, 2.8: 3}
    assert bins[0].mae.value == pytest.approx(0.95)
    assert bins[-1].mae.value == pytest.approx((1.8 + 2 + 2) / 3)
    assert bins[-1].mae == scorers.clustered_mean([1.7999999999999998, 2, 2], "cdd")
    assert math.isnan(bins[2].mae.value)
    assert [(b.low, b.high) for b in scorers.mae_by_bin([1], [2], "a", 1.5)] == [(0, 1.5), (1.5, 3)]


def test_fishers_interval() -> None:
    pred, gold, clusters = sampled()
    for metric in (scorers.pearson, scorers.spearman):
        r = metric(pred, gold, clusters, 0.9)
        half = scipy.stats.t.ppf(0.95, r.clusters - 1) * r.stderr / (1 - r.value**2)
        assert r.low == pytest.approx(math.tanh(math.atanh(r.value) - half))
        assert r.high == pytest.approx(math.tanh(math.atanh(r.value) + half))


@pytest.mark.parametrize("metric", [scorers.pearson, scorers.spearman])
def test_correlations_that_are_unknown(metric: object) -> None:
    assert callable(metric)
    for pred, gold in (([], []), ([1, 1], [1, 2]), ([1, 2], [1, 1])):
        assert math.isnan(metric(pred, gold, range(len(pred))).value)
    one = metric([1, 2, 4], [1, 3, 2], "aaa")
    assert one.value > 0
    assert math.isnan(one.low)


def test_nothing_to_score() -> None:
    empty = scorers.rating_metrics([], [], [])
    assert len(empty) == 22
    assert all(math.isnan(e.value) and e.n == 0 for e in empty.values())


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="pred has 1, gold has 2, clusters has 2"):
        scorers.rmse([1], [1, 2], "ab")
    for wrong in (math.nan, math.inf):
        with pytest.raises(BadInput, match=rf"pred\[1\] is {wrong}"):
            scorers.rating_metrics([1, wrong], [1, 2], "ab")
        with pytest.raises(BadInput, match=rf"gold\[0\] is {wrong}"):
            scorers.spearman([1, 2], [wrong, 2], "ab")
    for percent in (0, -10, 51, math.nan):
        with pytest.raises(BadInput, match="percent is"):
            scorers.rmse_at([1, 2], [1, 2], "ab", percent)
    with pytest.raises(BadInput, match=r"gold\[1\] is 3.2"):
        scorers.mae_by_bin([1, 2], [1, 3.2], "ab")
    for width in (0, -0.2, 0.7, 4, math.nan):
        with pytest.raises(BadInput, match="width is"):
            scorers.mae_by_bin([1, 2], [1, 2], "ab", width)
    with pytest.raises(BadInput, match="level is 95"):
        scorers.rating_metrics([1, 2], [1, 2], "ab", level=95)


# ---- against plain loops ---------------------------------------------------------------------------


@given(ROWS)
def test_equals_the_plain_loops(rows: list[Row]) -> None:
    pred, gold, clusters = columns(rows)
    assert same(values(scorers.rating_metrics(pred, gold, clusters)), naive(pred, gold))


# ---- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_linearised_errors_are_those_of_the_derivative_by_clusters(seed: int) -> None:
    """stderr^2 = G/(G-1) times the sum over clusters of (the metric's derivative by the cluster's weight)^2."""
    pred, gold, clusters = sampled(131, 40, seed)
    pred = [round(p, 1) for p in pred]  # ties among the predictions, too
    # Where a cut falls between two grades, the derivatives to either side differ.
    between = {sum(g < grade for g in gold) for grade in gold} | {sum(g > grade for g in gold) for grade in gold}
    smooth = [name for name, k in zip((10, 20, 30, 40), (13, 26, 39, 52), strict=True) if k not in between]
    assert len(smooth) > 1
    count, of, step = len(set(clusters)), np.array(clusters), 1e-5
    derivatives = []
    for cluster in sorted(set(clusters)):
        towards = step * ((of == cluster) - (of == cluster).mean())
        up, down = naive(pred, gold, 1 + towards), naive(pred, gold, 1 - towards)
        derivatives.append({name: (up[name] - down[name]) / (2 * step) for name in up})
    found = scorers.rating_metrics(pred, gold, clusters)
    for name in ("rmse", "pearson", "spearman", *(f"rmse@{percent}" for percent in smooth)):
        expected = math.sqrt(count / (count - 1) * sum(derivative[name] ** 2 for derivative in derivatives))
        assert found[name].stderr == pytest.approx(expected, rel=1e-4), name


# ---- real rows ------------------------------------------------------------------------------------


def test_the_organisers_baseline_on_dev(real_data: Path) -> None:
    folder = real_data / "humicroedit"
    rows = rows_of(folder / "task-1" / "dev.csv")
    headlines = [" ".join(row["original"].replace("<", "").replace("/>", "").split()) for row in rows]
    submitted = {row["id"]: float(row["pred"]) for row in rows_of(folder / "official_task-1-output.csv")}
    mean = statistics.fmean(float(row["meanGrade"]) for row in rows_of(folder / "task-1" / "train.csv"))
    assert {round(pred, 12) for pred in submitted.values()} == {round(mean, 12)}
    pred, gold = [submitted[row["id"]] for row in rows], [float(row["meanGrade"]) for row in rows]
    found = scorers.rating_metrics(pred, gold, headlines)
    assert (found["rmse"].n, found["rmse"].clusters) == (2419, 828)
    assert f"{found['rmse'].value:.5f}" == "0.57840"
    ends = {percent: f"{found[f'rmse@{percent}'].value:.5f}" for percent in (10, 20, 30, 40)}
    assert ends == {10: "1.00394", 20: "0.83760", 30: "0.72726", 40: "0.64419"}
    assert math.isnan(found["pearson"].value)
    assert sum(e.n for name, e in found.items() if name.startswith("mae")) == 2419
