"""Coefficients of agreement and their errors as irrCAC, krippendorff and statsmodels have them, on drawn tables."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from standins.paths import GOLDEN

from humor_tasks import scorers

# `uv run tests/golden/agreement_libraries.py` writes it anew.
DRAWN = json.loads((GOLDEN / "agreement_libraries.json").read_text())


def four(estimate: scorers.Estimate) -> list[float]:
    return [estimate.value, estimate.stderr, estimate.low, min(estimate.high, 1)]  # irrCAC's is clipped


def ours(rows: list[list[int | None]], categories: list[int] | None, level: float) -> dict[str, Any]:
    fleiss = scorers.fleiss_kappa(rows, level=level)
    found: dict[str, Any] = {"gwet": four(scorers.gwet_ac1(rows, categories=categories, level=level))}
    found |= {"fleiss": four(fleiss), "statsmodels fleiss": fleiss.value}
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        alpha = scorers.krippendorff_alpha(rows, metric=metric, categories=categories, level=level)
        found |= {metric: four(alpha), f"value {metric}": alpha.value}
    for weights in (None, "linear", "quadratic"):
        kappa = scorers.cohen_kappa(*list(zip(*rows, strict=True))[:2], weights=weights)
        found[f"cohen {weights}"] = [kappa.value, kappa.stderr * math.sqrt((kappa.n - 1) / kappa.n)]
    return found


@pytest.mark.parametrize("table", DRAWN, ids=range(len(DRAWN)))
def test_equals_irrcac_statsmodels_and_krippendorff(table: dict[str, Any]) -> None:
    found = ours(table["ratings"], table["categories"], table["level"])
    for name, expected in table["found"].items():
        assert found[name] == pytest.approx(expected, abs=1e-9), name


def test_the_tables_have_every_kind_of_gap() -> None:
    assert any(all(rating is None for rating in row) for table in DRAWN for row in table["ratings"])
    assert sum("statsmodels fleiss" in table["found"] for table in DRAWN) > 3
