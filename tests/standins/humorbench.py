"""The files of HumorBench's sample, and others like them."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.datasets_cards import folder

CARD = Path(folder("humorbench"))
ELEMENTS, RUBRIC = CARD / "comprehensive_annotations.csv", CARD / "sample_rubric.csv"
REAL_RUBRICS = {"gpt_4o_rubric.csv": 73, "gemini_2.5_pro_rubric.csv": 80}


def key(row: dict[str, str]) -> str:
    return f"{row['idx']}-{hashlib.sha256(row['element'].encode()).hexdigest()[:8]}"


def write_rows(path: Path, rows: Sequence[dict[str, str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def short(value: Any) -> str:
    return ascii(value[0] if isinstance(value, list) else value)[:40]
