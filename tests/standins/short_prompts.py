"""Prompts of few words, so that a tiny model reads a row in no time."""

from __future__ import annotations

from pathlib import Path

TEMPLATES = {
    "scene.description.txt": "$location. $description",
    "scene.caption_only.txt": "Captions alone.",
    "matching.direct.txt": "== system ==\nMatch.\n== user ==\n$scene\n$choices",
    "ranking.direct.txt": "== system ==\nRank.\n== user ==\n$scene\n$choices",
    "explanation.direct.txt": "== user ==\n$scene\n$caption",
}


def short_prompts(folder: Path) -> str:
    """Writes the templates and returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TEMPLATES.items():
        (folder / name).write_text(text)
    return str(folder)
