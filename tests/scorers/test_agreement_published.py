"""Coefficients of agreement as their sources print them, to the last digit printed."""

from __future__ import annotations

import math

import pytest
from standins.rated import (
    ABSTRACTORS,
    DIAGNOSES,
    FIVE_OBSERVERS,
    FOUR_RATERS,
    NEWS,
    PSYCHIATRISTS_15,
    PSYCHIATRISTS_30,
    TWO_OBSERVERS,
    Table,
    crossed,
)

from humor_tasks import scorers


def assert_prints(value: float, printed: str) -> None:
    assert f"{value:.{len(printed.partition('.')[2])}f}" == printed


# irrCAC: the Python package's documentation and tests, and the R package's README and vignettes. Where R has a
# formula of its own for tables of two raters, its errors have n for n - 1: see the last test.
@pytest.mark.parametrize(
    ("ratings", "value", "stderr", "low"),
    [
        (FOUR_RATERS, "0.77544", "0.14295", "0.46081"),
        (PSYCHIATRISTS_15, "0.4448007", "0.08418757", "0.264"),
        (ABSTRACTORS, "0.8493305", None, None),
        (DIAGNOSES, "0.456", None, None),
        (FIVE_OBSERVERS, "0.497", "0.122", None),
    ],
)
def test_gwet_ac1(ratings: Table, value: str, stderr: str | None, low: str | None) -> None:
    estimate = scorers.gwet_ac1(ratings)
    assert_prints(estimate.value, value)
    if stderr:
        assert_prints(estimate.stderr, stderr)
    if low:
        assert_prints(estimate.low, low)


@pytest.mark.parametrize(
    ("ratings", "value", "stderr"),
    [
        (PSYCHIATRISTS_30, "0.430", None),  # Fleiss 1971
        (FOUR_RATERS, "0.76117", "0.15302"),  # irrCAC, from here on
        (PSYCHIATRISTS_15, "0.4139265", "0.08119291"),
        (FIVE_OBSERVERS, "0.458", "0.120"),
        (ABSTRACTORS, "0.7962397", None),  # Scott's pi
    ],
)
def test_fleiss_kappa(ratings: Table, value: str, stderr: str | None) -> None:
    estimate = scorers.fleiss_kappa(ratings)
    assert_prints(estimate.value, value)
    if stderr:
        assert_prints(estimate.stderr, stderr)


@pytest.mark.parametrize(
    ("ratings", "metric", "value", "stderr"),
    [
        (TWO_OBSERVERS, "nominal", "0.692", None),
        (FOUR_RATERS, "ordinal", "0.815", None),
        (NEWS, "ordinal", "0.7598", None),  # Hayes and Krippendorff 2007
        (NEWS, "interval", "0.757", None),
        (NEWS, "nominal", "0.477", None),
        (FOUR_RATERS, "nominal", "0.743", "0.146"),  # irrCAC, from here on
        (FOUR_RATERS, "interval", "0.84911", "0.12913"),
        (FOUR_RATERS, "ratio", "0.797", "0.140"),
        (PSYCHIATRISTS_15, "nominal", "0.4204384", None),
        (ABSTRACTORS, "nominal", "0.7972585", None),
        (ABSTRACTORS, "interval", "0.8926487", None),
        (FIVE_OBSERVERS, "nominal", "0.481", "0.114"),
    ],
)
def test_krippendorff_alpha(ratings: Table, metric: str, value: str, stderr: str | None) -> None:
    estimate = scorers.krippendorff_alpha(ratings, metric=metric)
    assert_prints(estimate.value, value)
    if stderr:
        assert_prints(estimate.stderr, stderr)


@pytest.mark.parametrize(
    ("ratings", "weights", "value"),
    [
        (crossed([[20, 5], [10, 15]]), None, "0.4"),  # Wikipedia
        (crossed([[88, 14, 18], [10, 40, 10], [2, 6, 12]]), None, "0.492"),  # Cohen 1968
        (crossed([[106, 10, 4], [22, 28, 10], [2, 12, 6]]), None, "0.429"),  # Fleiss, Cohen and Everitt 1969
        (crossed([[0, 4, 1], [0, 8, 0], [0, 1, 5]]), None, "0.4842"),  # SAS, as in statsmodels' tests
        (crossed([[0, 4, 1], [0, 8, 0], [0, 1, 5]]), "linear", "0.4701"),
        (ABSTRACTORS, None, "0.7964094"),  # irrCAC
        (ABSTRACTORS, "linear", "0.843"),
        (ABSTRACTORS, "quadratic", "0.8921569"),
        (DIAGNOSES, None, "0.432"),
        (DIAGNOSES, "linear", "0.407"),
        (DIAGNOSES, "quadratic", "0.383"),
    ],
)
def test_cohen_kappa(ratings: Table, weights: str | None, value: str) -> None:
    assert len(ratings) >= 19
    assert_prints(scorers.cohen_kappa(*zip(*ratings, strict=True), weights=weights).value, value)


def test_raw_agreement() -> None:
    """irrCAC's pa, and its error where every item has all ratings."""
    assert_prints(scorers.raw_agreement(FOUR_RATERS).value, "0.8181818")
    assert_prints(scorers.raw_agreement(PSYCHIATRISTS_15).value, "0.5511111")
    abstractors = scorers.raw_agreement(ABSTRACTORS)
    assert_prints(abstractors.value, "0.89")
    assert_prints(abstractors.stderr * math.sqrt(99 / 100), "0.03128898")


@pytest.mark.parametrize(
    ("ratings", "name", "weights", "stderr"),
    [
        (ABSTRACTORS, "gwet_ac1", None, "0.04321747"),  # irrCAC
        (ABSTRACTORS, "fleiss_kappa", None, "0.05905473"),
        (ABSTRACTORS, "krippendorff_alpha", None, "0.05905473"),
        (ABSTRACTORS, "cohen_kappa", None, "0.05891072"),
        (ABSTRACTORS, "cohen_kappa", "quadratic", "0.03535151"),
        (DIAGNOSES, "gwet_ac1", None, "0.043"),
        (DIAGNOSES, "cohen_kappa", None, "0.046"),
        (DIAGNOSES, "cohen_kappa", "linear", "0.053"),
        (DIAGNOSES, "cohen_kappa", "quadratic", "0.066"),
        (crossed([[0, 4, 1], [0, 8, 0], [0, 1, 5]]), "cohen_kappa", None, "0.1380"),  # SAS
        (crossed([[0, 4, 1], [0, 8, 0], [0, 1, 5]]), "cohen_kappa", "linear", "0.1457"),
        # Fleiss, Cohen and Everitt 1969: a variance of .002885
        (crossed([[106, 10, 4], [22, 28, 10], [2, 12, 6]]), "cohen_kappa", None, f"{math.sqrt(0.002885):.4f}"),
    ],
)
def test_errors_of_two_raters_but_for_n_less_one(ratings: Table, name: str, weights: str | None, stderr: str) -> None:
    if name == "cohen_kappa":
        estimate = scorers.cohen_kappa(*zip(*ratings, strict=True), weights=weights)
    else:
        estimate = scorers.agreement(ratings)[name]
    assert_prints(estimate.stderr * math.sqrt((estimate.n - 1) / estimate.n), stderr)
