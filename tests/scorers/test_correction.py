"""`prediction_powered`, `rogan_gladen`: by hand, against values of ppi_py, and the coverage of their intervals."""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import t
from standins.estimates import close

from humor_tasks import scorers
from humor_tasks.errors import BadInput

NAN = math.nan
bits = st.integers(0, 1)
# Verdicts without label; verdicts and labels of the others. Both verdicts occur, so that there is a lambda.
samples = st.tuples(
    st.lists(bits, min_size=2, max_size=30), st.lists(st.tuples(bits, bits), min_size=2, max_size=20)
).filter(lambda drawn: 0 < sum(drawn[0]) + sum(j for j, _ in drawn[1]) < len(drawn[0]) + len(drawn[1]))


def covers(estimate: scorers.Estimate, truth: float) -> bool:
    return estimate.low <= truth <= estimate.high


def a_sample(seed: int, rows: int = 60, labelled: int = 25) -> tuple[list[float], list[float], list[float]]:
    rng = np.random.default_rng(seed)
    labels = rng.random(rows) < 0.6
    verdicts = np.where(labels, rng.random(rows) < 0.9, rng.random(rows) < 0.3)
    return split(verdicts, labels, np.arange(rows) < labelled)


def split(verdicts: Any, labels: Any, labelled: Any) -> tuple[list[float], list[float], list[float]]:
    """judged, human_judged, human as 0 and 1."""
    parts = verdicts[~labelled], verdicts[labelled], labels[labelled]
    return tuple(part.astype(int).tolist() for part in parts)  # type: ignore[return-value]


# ---- prediction-powered -------------------------------------------------------------------------


def test_prediction_powered_by_hand() -> None:
    # cov(human, human_judged) = 3/6 - 1/2 * 2/3 = 1/6; var of 1 1 1 0 0 0 1 1 1 1 0 0 = 12/11 * 7/12 * 5/12 = 35/132
    # lambda = (1/6) / ((1 + 6/6) * 35/132) = 11/35; value = lambda * 1/2 + 1/2 - lambda * 2/3
    judged, human_judged, human = [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]
    estimate = scorers.prediction_powered(judged, human_judged, human)
    weight = 11 / 35
    assert estimate.value == pytest.approx(0.5 - weight / 6)
    residuals = [y - weight * f for y, f in zip(human, human_judged, strict=True)]
    assert estimate.stderr == pytest.approx(math.sqrt((weight**2 * np.var(judged) + np.var(residuals)) / 6))
    assert (estimate.n, estimate.clusters) == (12, 12)


# ppi_py 0.2.3's ppi_mean_pointestimate and ppi_mean_ci, with its default tuning, on `drawn`: seed, unlabelled and
# labelled rows, kind, level; value, low, high.
LIBRARY = [
    (0, 35, 25, "passes", 0.95, 0.4985649833147942, 0.3139733914786311, 0.6831565751509573),
    (10, 100, 20, "passes", 0.9, 0.5801562500000002, 0.4408801190774375, 0.7194323809225628),
    (20, 6, 40, "passes", 0.95, 0.6452731643356643, 0.5006897593995451, 0.7898565692717835),
    (30, 500, 50, "passes", 0.99, 0.647955181114485, 0.5319695832415746, 0.7639407789873954),
    (45, 2, 3, "passes", 0.95, 0.617283950617284, 0.18942180572858236, 1.0451460955059857),
    (50, 30, 30, "probabilities", 0.95, 0.5142202957607921, 0.34941072809020707, 0.6790298634313772),
    (60, 200, 15, "probabilities", 0.5, 0.39487081890638265, 0.3135721814046319, 0.4761694564081334),
    (70, 12, 9, "ratings", 0.95, 2.495931808979216, 1.8428032559338037, 3.1490603620246285),
    (80, 80, 3, "ratings", 0.8, 2.2999177400473663, 1.3564233379724533, 3.2434121421222795),
    (90, 2000, 400, "ratings", 0.95, 2.997682304968613, 2.8968724257856224, 3.098492184151604),
]


def drawn(seed: int, unlabelled: int, labelled: int, kind: str) -> list[list[float]]:
    """judged, human_judged, human: passes, a judge's probabilities of a pass, or ratings from 1 to 5."""
    u = np.random.default_rng(seed).random((3, unlabelled + labelled))
    labels = {"passes": u[0] < 0.6, "probabilities": u[0] < u[1], "ratings": np.floor(5 * u[0]) + 1}[kind].astype(float)
    passes = np.where(u[0] < 0.6, u[1] < 0.9, u[1] < 0.3).astype(float)
    verdicts = {"passes": passes, "probabilities": u[1].round(3), "ratings": (labels + 4 * u[2] - 2).round(2)}[kind]
    return [x.tolist() for x in (verdicts[labelled:], verdicts[:labelled], labels[:labelled])]


@pytest.mark.parametrize(("seed", "unlabelled", "labelled", "kind", "level", "value", "low", "high"), LIBRARY)
def test_equals_the_authors_library(
    seed: int, unlabelled: int, labelled: int, kind: str, level: float, value: float, low: float, high: float
) -> None:
    estimate = scorers.prediction_powered(*drawn(seed, unlabelled, labelled, kind), level)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((value, low, high), rel=1e-12)
    assert estimate.stderr * ndtri((1 + level) / 2) == pytest.approx((high - low) / 2, rel=1e-12)


@given(samples, st.sampled_from([0.5, 0.95]))
def test_its_interval_is_that_of_the_two_means_or_of_the_labels_alone(pairs: Any, level: float) -> None:
    judged, (human_judged, human) = pairs[0], zip(*pairs[1], strict=True)
    estimate = scorers.prediction_powered(judged, human_judged, human, level)
    covariance = len(human) * sum(y * f for f, y in pairs[1]) - sum(human) * sum(human_judged)
    if covariance <= 0:
        assert close(estimate, labels_alone(judged, human, level))
        return
    verdicts = [*judged, *human_judged]
    weight = covariance / len(human) ** 2 / ((1 + len(human) / len(judged)) * statistics.variance(verdicts))
    judge, residuals = ([min(weight, 1) * f for f in judged], [y - min(weight, 1) * f for f, y in pairs[1]])
    value = statistics.mean(judge) + statistics.mean(residuals)
    stderr = math.sqrt(statistics.pvariance(judge) / len(judge) + statistics.pvariance(residuals) / len(residuals))
    half = ndtri((1 + level) / 2) * stderr
    expected = (value, stderr, value - half, value + half)
    assert dataclasses.astuple(estimate)[:4] == pytest.approx(expected, abs=1e-9)


def labels_alone(judged: Any, human: Any, level: float = 0.95) -> scorers.Estimate:
    rows = len(judged) + len(human)
    return dataclasses.replace(scorers.clustered_mean(human, range(len(human)), level), n=rows, clusters=rows)


@pytest.mark.parametrize(
    ("judged", "human_judged", "human"),
    [
        ([1, 1, 1], [1, 1], [1, 0]),  # a judge that passes everything
        ([0, 1, 1], [0, 1, 0], [1, 0, 1]),  # one that is always wrong
        ([0, 1], [0, 1, 0], [1, 1, 1]),
        ([], [1, 0, 1], [1, 0, 0]),
        ([1], [1, 0, 1], [1, 0, 0]),
        ([1, 0], [1], [1]),
        ([1, 0], [], []),
        ([], [], []),
    ],
)
def test_where_the_judge_adds_nothing_the_labels_stand_alone(
    judged: list[float], human_judged: list[float], human: list[float]
) -> None:
    assert close(scorers.prediction_powered(judged, human_judged, human), labels_alone(judged, human))
    ids = range(len(judged)), range(100, 100 + len(human))
    clustered = scorers.prediction_powered(judged, human_judged, human, clusters=ids[0], human_clusters=ids[1])
    assert close(clustered, labels_alone(judged, human))


@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_one_row_have_the_unclustered_error(seed: int) -> None:
    """Apart from N - 1 and n - 1 for N and n, and t for the normal."""
    judged, human_judged, human = a_sample(seed)
    rows, labelled = len(judged), len(human)
    plain = scorers.prediction_powered(judged, human_judged, human)
    clustered = scorers.prediction_powered(
        judged, human_judged, human, clusters=range(rows), human_clusters=range(rows, rows + labelled)
    )
    weight = (plain.value - np.mean(human)) / (np.mean(judged) - np.mean(human_judged))
    residuals = np.array(human) - weight * np.array(human_judged)
    parts = weight**2 * np.var(judged, ddof=1) / rows, np.var(residuals, ddof=1) / labelled
    dof = sum(parts) ** 2 / (parts[0] ** 2 / (rows - 1) + parts[1] ** 2 / (labelled - 1))
    assert clustered.value == plain.value
    assert clustered.stderr == pytest.approx(math.sqrt(sum(parts)))
    assert clustered.high - clustered.value == pytest.approx(t.ppf(0.975, dof) * clustered.stderr)
    assert (clustered.n, clustered.clusters) == (plain.n, plain.clusters) == (rows + labelled, rows + labelled)


def test_clusters_of_either_kind_add_their_squared_errors() -> None:
    judged, human_judged, human = a_sample(3)
    ids, human_ids = [i // 5 for i in range(35)], [100 + i // 5 for i in range(25)]
    plain = scorers.prediction_powered(judged, human_judged, human)
    estimate = scorers.prediction_powered(judged, human_judged, human, clusters=ids, human_clusters=human_ids)
    weight = (plain.value - np.mean(human)) / (np.mean(judged) - np.mean(human_judged))
    of_verdicts = scorers.clustered_mean([weight * j for j in judged], ids)
    of_residuals = scorers.clustered_mean([y - weight * f for y, f in zip(human, human_judged, strict=True)], human_ids)
    assert estimate.stderr == pytest.approx(math.hypot(of_verdicts.stderr, of_residuals.stderr))
    assert (estimate.value, estimate.n, estimate.clusters) == (plain.value, 60, 12)


def test_a_cluster_with_both_kinds_of_rows_counts_once() -> None:
    """Its two deviations add before they are squared: (a + b)^2, not a^2 + b^2."""
    judged, human_judged, human = [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]
    apart, shared = (
        scorers.prediction_powered(judged, human_judged, human, clusters="aabb", human_clusters=ids)
        for ids in ("ccdd", "aabb")
    )
    # cov 1/4, var 2/7, lambda = (1/4) / (2 * 2/7) = 7/16: deviations of 7/16 * 1/4 and 9/16 * 1/4 with one sign
    a, b = 7 / 64, 9 / 64
    assert apart.stderr == pytest.approx(math.sqrt(2 * 2 * (a**2 + b**2)))
    assert shared.stderr == pytest.approx(math.sqrt(2 * 2 * (a + b) ** 2))
    assert (apart.clusters, shared.clusters) == (4, 2)


def test_one_cluster_has_no_error() -> None:
    judged, human_judged, human = a_sample(1)
    for ids, human_ids in (([0] * 35, range(25)), (range(35), [0] * 25)):
        estimate = scorers.prediction_powered(judged, human_judged, human, clusters=ids, human_clusters=human_ids)
        assert not math.isnan(estimate.value)
        assert math.isnan(estimate.stderr)


def test_without_any_spread_the_interval_is_a_point() -> None:
    # By cluster, judge and labels are the same everywhere.
    estimate = scorers.prediction_powered(
        [1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 1, 0], clusters="aabb", human_clusters="ccdd"
    )
    assert (estimate.value, estimate.stderr, estimate.low, estimate.high) == (0.5, 0, 0.5, 0.5)


def test_probabilities_are_values_too_and_nan_spreads() -> None:
    assert 0 < scorers.prediction_powered([0.2, 0.7, 0.9], [0.1, 0.8, 0.6], [0, 1, 1]).stderr < 1
    for clusters in ({}, {"clusters": "abc", "human_clusters": "xyz"}):
        estimate = scorers.prediction_powered([0.2, NAN, 0.9], [0.1, 0.8, 0.6], [0, 1, 1], **clusters)
        assert math.isnan(estimate.value)
        assert math.isnan(estimate.stderr)


# ---- Rogan-Gladen -------------------------------------------------------------------------------


def test_rogan_gladen_by_hand() -> None:
    # Labelled: sensitivity 3/4, specificity 1/2; p over all ten rows 6/10: (.6 + .5 - 1) / (.75 + .5 - 1)
    human_judged, human = [1, 1, 1, 0, 1, 0], [1, 1, 1, 1, 0, 0]
    estimate = scorers.rogan_gladen([1, 1, 0, 0], human_judged, human)
    assert estimate.value == pytest.approx(0.4)
    assert (estimate.n, estimate.clusters) == (10, 10)


def test_rogan_gladen_of_labelled_rows_alone_is_their_pass_rate() -> None:
    _, human_judged, human = a_sample(2)
    assert close(scorers.rogan_gladen([], human_judged, human), scorers.clustered_mean(human, range(25)))


def test_rogan_gladen_is_not_clipped() -> None:
    human_judged, human = [1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]
    assert scorers.rogan_gladen([1] * 50, human_judged, human).value > 1
    assert scorers.rogan_gladen([0] * 50, human_judged, human).value < 0


@pytest.mark.parametrize(
    ("human_judged", "human"),
    [
        ([1, 0, 1], [1, 1, 1]),  # no FAIL
        ([1, 0, 1], [0, 0, 0]),  # no PASS
        ([], []),
        ([1, 1, 1, 1], [1, 1, 0, 0]),  # passes everything: 1 + 0
        ([0, 0, 1, 1], [1, 1, 0, 0]),  # always wrong
        ([1] * 7 + [0] * 3 + [1] * 7 + [0] * 3, [1] * 10 + [0] * 10),  # .7 + .3 - 1 is not 0 in floating point
    ],
)
def test_rogan_gladen_of_a_judge_no_better_than_chance(human_judged: list[bool], human: list[bool]) -> None:
    estimate = scorers.rogan_gladen([True, False], human_judged, human)
    rows = 2 + len(human)
    assert close(estimate, scorers.Estimate(NAN, NAN, NAN, NAN, rows, rows))


@pytest.mark.parametrize("size", [1, 5])
def test_rogan_gladens_error_is_about_that_of_a_bootstrap_of_clusters(size: int) -> None:
    rng = np.random.default_rng(4)
    groups = 600 // size
    clusters = np.repeat(range(groups), size)
    labels = rng.random(600) < (0.6 if size == 1 else np.repeat(rng.beta(3, 2, groups), size))
    verdicts = np.where(labels, rng.random(600) < 0.95, rng.random(600) < 0.4)
    labelled = rng.random(600) < 0.4
    ids = {"clusters": clusters[~labelled].tolist(), "human_clusters": clusters[labelled].tolist()}
    estimate = scorers.rogan_gladen(*split(verdicts, labels, labelled), **ids)  # type: ignore[arg-type]

    columns = [verdicts, labelled & labels, labelled & labels & verdicts, labelled & ~labels]
    columns += [labelled & ~labels & ~verdicts, np.ones(600, dtype=bool)]
    by_cluster = np.stack([np.bincount(clusters, column, minlength=groups) for column in columns])
    p, passed, tp, failed, tn, rows = by_cluster @ rng.multinomial(groups, [1 / groups] * groups, size=4000).T
    values = (p / rows + tn / failed - 1) / (tp / passed + tn / failed - 1)
    assert estimate.stderr == pytest.approx(values.std(), rel=0.12)


# ---- coverage -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_the_clustered_intervals_cover_the_truth_where_the_unclustered_do_not(shared: bool) -> None:
    """80 clusters of 10 rows, each with a pass rate and a leniency of the judge of its own; 30 % of the rows labelled.

    `shared`: three rows of each cluster are labelled; otherwise all those of 24 clusters.
    """
    rng, covered = np.random.default_rng(0), np.zeros(4)
    clusters = np.repeat(range(80), 10)
    labelled = np.arange(800) % 10 < 3 if shared else clusters < 24
    ids = {"clusters": clusters[~labelled].tolist(), "human_clusters": clusters[labelled].tolist()}
    for _ in range(400):
        labels = rng.random(800) < np.repeat(rng.beta(3, 2, 80), 10)
        verdicts = np.where(labels, rng.random(800) < 0.95, rng.random(800) < np.repeat(rng.beta(2, 3, 80), 10))
        data = split(verdicts, labels, labelled)
        estimates = (
            scorers.prediction_powered(*data, **ids),
            scorers.rogan_gladen(*data, **ids),  # type: ignore[arg-type]
            scorers.prediction_powered(*data),
            scorers.clustered_mean(data[0], ids["clusters"]),
        )
        covered += [covers(estimate, 0.6) for estimate in estimates]
    powered, gladen, unclustered, naive = covered / 400
    assert 0.92 <= powered <= 0.98
    assert 0.92 <= gladen <= 0.98
    assert unclustered < 0.9
    assert naive < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p"), [(30, 0.97), (30, 0.05), (50, 0.9), (100, 0.5)])
def test_a_proportions_interval_covers_the_truth_where_the_t_interval_does_not(n: int, p: float) -> None:
    """500 draws of 400 rows of which `n` are labelled; sensitivity .9, specificity .8; t covers .58 at the first."""
    rng, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(500):
        labels = rng.random(400) < p
        verdicts = np.where(labels, rng.random(400) < 0.9, rng.random(400) < 0.2)
        data = split(verdicts, labels, np.arange(400) < n)
        found = [scorers.prediction_powered(*data, proportion=flag) for flag in (False, True)]
        assert (found[0].value, found[0].stderr) == (found[1].value, found[1].stderr)
        assert 0 <= found[1].low < found[1].high <= 1
        covered += [covers(estimate, p) for estimate in found]
    assert covered[1] / 500 >= max(0.925, covered[0] / 500)  # .97, .97, .93 and .95
    assert covered[0] / 500 < (0.65 if p == 0.97 else 0.96)


@pytest.mark.parametrize(("labels", "low", "high"), [([0.0] * 20, 0, 0.168), ([1.0] * 20, 0.832, 1)])
def test_labels_that_agree_leave_a_proportion_uncertain(labels: list[float], low: float, high: float) -> None:
    found = scorers.prediction_powered([0.0, 1.0] * 50, [0.0, 1.0] * 10, labels, proportion=True)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-3)
    assert scorers.prediction_powered([0.0, 1.0] * 50, [0.0, 1.0] * 10, labels).high == labels[0]


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("correct", [scorers.prediction_powered, scorers.rogan_gladen])
def test_bad_input_is_named(correct: Any) -> None:
    with pytest.raises(BadInput, match="human_judged has 2, human has 1, human_clusters has 1"):
        correct([1], [1, 0], [1])
    with pytest.raises(BadInput, match="judged has 1, clusters has 2"):
        correct([1], [1], [1], clusters="ab", human_clusters="a")
    for half in ({"clusters": "ab"}, {"human_clusters": "a"}):
        with pytest.raises(BadInput, match="give both or neither"):
            correct([1, 0], [1], [1], **half)
    with pytest.raises(BadInput, match=r"clusters\[2\] is None"):
        correct([1, 0], [1, 0], [1, 0], clusters="ab", human_clusters=[None, "c"])
    with pytest.raises(BadInput, match="level is 95"):
        correct([1, 0], [1, 0], [1, 0], 95)


def test_rogan_gladen_takes_passes_and_fails_only() -> None:
    with pytest.raises(BadInput, match=r"human\[1\] is None"):
        scorers.rogan_gladen([True], [True, False], [True, None])  # type: ignore[list-item]
