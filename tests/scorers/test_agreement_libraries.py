"""Coefficients of agreement and their errors as other implementations have them, on drawn tables."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from standins.rated import FOUR_RATERS
from standins.waiting import LIMIT

from humor_tasks import scorers

# IrrCAC pins scipy 1.12, which has no wheels for Python 3.13 and later; it works with later ones.
LIBRARIES, OVERRIDE = ("irrCAC==0.4.4", "krippendorff==0.9.0", "statsmodels>=0.14"), "scipy>=1.12"
THEIR_SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import krippendorff, numpy, pandas
from irrCAC.raw import CAC
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

def irrcac(frame, weights, name, categories, level):
    found = getattr(CAC(frame, weights, categories, level, digits=12), name)()["est"]
    return [float(x) for x in (found["coefficient_value"], found["se"], *found["confidence_interval"])]

results = []
for rows, categories, level in json.load(open(sys.argv[1])):
    frame = pandas.DataFrame(rows, dtype=float)
    result = {name: irrcac(frame, "identity", name, categories, level) for name in ("gwet", "fleiss")}
    for metric, weights in (("nominal", "identity"), ("interval", "quadratic"), ("ratio", "ratio")):
        result[metric] = irrcac(frame, weights, "krippendorff", categories, level)
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        result["value " + metric] = float(krippendorff.alpha(frame.to_numpy().T, level_of_measurement=metric))
    if not frame.isna().any().any():
        result["statsmodels fleiss"] = float(fleiss_kappa(aggregate_raters(frame.to_numpy())[0]))
    pair = frame.dropna(subset=[0, 1])
    table = numpy.zeros((5, 5))
    numpy.add.at(table, (pair[0].astype(int) - 1, pair[1].astype(int) - 1), 1)
    for wt in (None, "linear", "quadratic"):
        found = cohens_kappa(table, wt=wt)
        result[f"cohen {wt}"] = [float(found.kappa), float(found.std_kappa)]
    results.append(result)
json.dump(results, open(sys.argv[2], "w"))
"""

Drawn = list[tuple[list[list[int | None]], list[int] | None, float]]


def random_tables() -> Drawn:
    """Ratings of 2-5 raters in 2-5 categories that agree more than chance, a fifth missing; categories; a level."""
    rng = random.Random(7)
    drawn: Drawn = [(FOUR_RATERS, None, 0.95)]
    for i in range(15):
        raters, categories = 2 + i % 4, rng.randint(2, 5)
        rows: list[list[int | None]] = []
        for _ in range(rng.choice([8, 30, 100])):
            truth = rng.randint(1, categories)
            row = [truth if rng.random() < 0.6 else rng.randint(1, categories) for _ in range(raters)]
            rows.append([None if i % 3 and rng.random() < 0.2 else rating for rating in row])
        drawn.append((rows, list(range(1, 6)) if i % 5 == 0 else None, 0.9 if i % 2 else 0.95))
    return drawn


def uv() -> str:
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except ImportError:
        return shutil.which("uv") or pytest.fail("uv is missing: pip install 'humor-tasks[test]'")


def run(*command: str | Path) -> None:
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")}
    done = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def four(estimate: scorers.Estimate) -> list[float]:
    return [estimate.value, estimate.stderr, estimate.low, min(estimate.high, 1)]  # irrCAC's is clipped


@pytest.mark.slow
def test_equals_irrcac_statsmodels_and_krippendorff(tmp_path: Path) -> None:
    """In an environment of their own: irrCAC wants another numpy, pandas and scipy than we do."""
    drawn = random_tables()
    assert any(all(rating is None for rating in row) for rows, _, _ in drawn for row in rows)
    for name, content in (
        ("tables.json", json.dumps(drawn)),
        ("script.py", THEIR_SCRIPT),
        ("override.txt", OVERRIDE),
    ):
        (tmp_path / name).write_text(content)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(uv(), "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    run(uv(), "pip", "install", "--quiet", "--override", tmp_path / "override.txt", "--python", python, *LIBRARIES)
    run(python, tmp_path / "script.py", tmp_path / "tables.json", tmp_path / "results.json")

    theirs = json.loads((tmp_path / "results.json").read_text())
    assert len(theirs) == len(drawn) > 12
    assert sum("statsmodels fleiss" in result for result in theirs) > 3
    for (rows, categories, level), expected in zip(drawn, theirs, strict=True):
        for name, found in ours(rows, categories, level, expected).items():
            assert found == pytest.approx(expected[name], abs=1e-9), name


def ours(
    rows: list[list[int | None]], categories: list[int] | None, level: float, expected: dict[str, Any]
) -> dict[str, Any]:
    fleiss = scorers.fleiss_kappa(rows, level=level)
    found: dict[str, Any] = {"gwet": four(scorers.gwet_ac1(rows, categories=categories, level=level))}
    found["fleiss"] = four(fleiss)
    if "statsmodels fleiss" in expected:
        found["statsmodels fleiss"] = fleiss.value
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        alpha = scorers.krippendorff_alpha(rows, metric=metric, categories=categories, level=level)
        found[f"value {metric}"] = alpha.value
        if metric != "ordinal":  # irrCAC's ordinal weights are something else
            found[metric] = four(alpha)
    for weights in (None, "linear", "quadratic"):
        kappa = scorers.cohen_kappa(*list(zip(*rows, strict=True))[:2], weights=weights)
        found[f"cohen {weights}"] = [kappa.value, kappa.stderr * math.sqrt((kappa.n - 1) / kappa.n)]
    assert found.keys() == expected.keys()
    return found
