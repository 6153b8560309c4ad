"""The canary of this project: a text that belongs in no training corpus, in all data that the package has or builds.

The practice is BIG-bench's (Srivastava et al. 2022, arXiv 2206.04615): whoever collects training data can leave
out documents with the GUID, and a model that completes it has been trained on them. It stands in cards, in a column of
rows in JSON lines and Parquet, and in JSON files. Files in the CSV layouts of others have no place for it. Columns are
read by name, so that it is in no record, no prompt and no training text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GUID = "792c57f8-dd04-46f5-90d4-d54a642e05cd"
TEXT = f"Benchmark data: keep it out of training corpora. humor-tasks canary GUID {GUID}"
COLUMN = "canary"
NOTE = f"**Canary.** {TEXT}"
"""The paragraph of a card."""


def marked(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the canary as its last column."""
    return {**{name: value for name, value in row.items() if name != COLUMN}, COLUMN: TEXT}
