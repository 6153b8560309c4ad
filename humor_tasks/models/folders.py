"""Files that folders of models and of trainings have in common, and how they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput

CONFIG, METRICS = "config.json", "metrics.json"


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object from a file of a folder."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise BadInput(f"{path}: cannot be read ({problem}); the folder is not whole.") from None
    if not isinstance(value, dict):
        raise BadInput(f"{path}: holds no object; the folder is not whole.")
    return value
