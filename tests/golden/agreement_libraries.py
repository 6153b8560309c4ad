# /// script
# requires-python = ">=3.11"
# dependencies = ["irrCAC==0.4.4", "krippendorff==0.9.0", "statsmodels>=0.14"]
# [tool.uv]
# override-dependencies = ["scipy>=1.12"]  # irrCAC pins 1.12, which newer Pythons lack; it works with later ones
# ///
"""`uv run tests/golden/agreement_libraries.py` writes agreement_libraries.json: drawn tables, as other code rates them.

irrCAC wants another numpy, pandas and scipy than the package does, so that no test can import it.
"""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

Table = list[list[int | None]]


def drawn() -> list[tuple[Table, list[int] | None, float]]:
    """Ratings of 2-5 raters in 2-5 categories that agree more than chance, a fifth missing; categories; a level."""
    rng = random.Random(7)
    tables: list[tuple[Table, list[int] | None, float]] = []
    for i in range(15):
        raters, categories = 2 + i % 4, rng.randint(2, 5)
        rows: Table = []
        for _ in range(rng.choice([8, 30, 100])):
            truth = rng.randint(1, categories)
            row = [truth if rng.random() < 0.6 else rng.randint(1, categories) for _ in range(raters)]
            rows.append([None if i % 3 and rng.random() < 0.2 else rating for rating in row])
        tables.append((rows, list(range(1, 6)) if i % 5 == 0 else None, 0.9 if i % 2 else 0.95))
    return tables


def theirs(rows: Table, categories: list[int] | None, level: float) -> dict[str, Any]:
    frame = pd.DataFrame(rows, dtype=float)

    def by_irrcac(weights: str, name: str) -> list[float]:
        estimate = getattr(CAC(frame, weights, categories, level, digits=12), name)()["est"]
        return [float(x) for x in (estimate["coefficient_value"], estimate["se"], *estimate["confidence_interval"])]

    found: dict[str, Any] = {name: by_irrcac("identity", name) for name in ("gwet", "fleiss")}
    for metric, weights in (("nominal", "identity"), ("interval", "quadratic"), ("ratio", "ratio")):
        found[metric] = by_irrcac(weights, "krippendorff")  # its ordinal weights are something else
    for metric in ("nominal", "ordinal", "interval", "ratio"):
        found[f"value {metric}"] = float(krippendorff.alpha(frame.to_numpy().T, level_of_measurement=metric))
    if not frame.isna().any().any():
        found["statsmodels fleiss"] = float(fleiss_kappa(aggregate_raters(frame.to_numpy())[0]))
    pair = frame.dropna(subset=[0, 1])
    table = np.zeros((5, 5))
    np.add.at(table, (pair[0].astype(int) - 1, pair[1].astype(int) - 1), 1)
    for weighted in (None, "linear", "quadratic"):
        kappa = cohens_kappa(table, wt=weighted)
        found[f"cohen {weighted}"] = [float(kappa.kappa), float(kappa.std_kappa)]
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    entries = [
        {"ratings": rows, "categories": categories, "level": level, "found": theirs(rows, categories, level)}
        for rows, categories, level in drawn()
    ]
    Path(__file__).with_suffix(".json").write_text(
        "[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries) + "\n]\n"
    )
