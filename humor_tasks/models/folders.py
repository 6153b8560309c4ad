"""File names and reading shared by model folders and training folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput

CONFIG, METRICS = "config.json", "metrics.json"


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a folder. Raises BadInput where it cannot be read or is not an object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise BadInput(f"{path}: cannot be read ({problem}); the folder is incomplete.") from None
    if not isinstance(value, dict):
        raise BadInput(f"{path}: holds no JSON object; the folder is incomplete.")
    return value


def not_loaded(who: str, name: str, problem: Exception) -> BadInput:
    """The error for weights, in a folder or on the hub, that a library could not load."""
    message = " ".join(str(problem).split())[:300]
    if Path(name).is_dir():
        return BadInput(f"{who}: the folder's model cannot be loaded ({message}).")
    return BadInput(f"{who}: no such folder, and it cannot be loaded from the hub ({message}).")
