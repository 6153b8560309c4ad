"""Descriptions of cartoons by a model, as in `gpt4o_description/*.jsonl` of yguooo/newyorker_caption_ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humor_tasks.data.contests.annotations import Scene
from humor_tasks.data.reading import json_lines
from humor_tasks.data.text import check_text
from humor_tasks.errors import BadInput


def read_descriptions(folder: Path) -> dict[int, Scene]:
    """Contest number -> description; {} without the folder. Raises BadInput naming file, line and field."""
    found: dict[int, Scene] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for where, row in json_lines(path):
            number, scene = _scene(row, where)
            if found.setdefault(number, scene) != scene:
                raise BadInput(f"{where}: contest {number} is described twice; keep one description.")
    return found


def _scene(row: Any, where: str) -> tuple[int, Scene]:
    if not isinstance(row, dict):
        raise BadInput(f"{where}: must be an object with contest_number, location, canny, uncanny and entities.")
    number = row.get("contest_number")
    if isinstance(number, bool) or not isinstance(number, int | str) or not str(number).isdecimal():
        raise BadInput(f"{where}: contest_number is {number!r:.40}; it must be a whole number.")
    texts = {name: check_text(row.get(name), f"{where}: {name}") for name in ("location", "canny", "uncanny")}
    entities = row.get("entities")
    if isinstance(entities, str):
        entities = [entity.strip() for entity in entities.split(",") if entity.strip()]
    if not isinstance(entities, list) or not all(isinstance(entity, str) for entity in entities):
        raise BadInput(f"{where}: entities is {entities!r:.40}; it must be a list of texts.")
    return int(number), Scene(texts["location"], texts["canny"], texts["uncanny"], tuple(entities), ())
