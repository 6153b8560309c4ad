"""Small dataset folders in the corpus's schema, with one thing wrong at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MATCHING = {
    "contest_number": 1,
    "image_location": "a kitchen",
    "image_description": "A whale stands at a stove.",
    "image_uncanny_description": "Whales do not cook.",
    "entities": ["https://en.wikipedia.org/wiki/Whale"],
    "caption_choices": ["one", "two", "three", "four", "five"],
    "label": "B",
    "instance_id": "m1",
}


def row(task: str = "matching", **changes: Any) -> dict[str, Any]:
    """One row; a change to ... drops the column."""
    made = dict(MATCHING)
    if task == "ranking":
        made |= {"caption_choices": ["one", "two"], "winner_source": "crowd_winner", "instance_id": "r1"}
    if task == "explanation":
        made |= {"caption_choices": "one", "label": "It is funny because.", "instance_id": "e1"}
    made |= changes
    return {name: value for name, value in made.items() if value is not ...}


def dataset_folder(folder: Path, rows: list[dict[str, Any]], task: str = "matching", split: str = "test") -> str:
    """A dataset folder with one configuration and one split."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{task}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (folder / "README.md").write_text(
        f"---\nconfigs:\n- config_name: {task}\n  data_files:\n  - split: {split}\n    path: {task}.jsonl\n---\n"
    )
    return str(folder)
