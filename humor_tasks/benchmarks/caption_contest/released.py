"""The corpus's own text of an instance, its column `from_description`: scene and captions on one line.

The released trainer (llama2/make_dataset.py of the code of Hessel et al. 2023) feeds it; section 3 says of T5 that the
description is concatenated with the choices. A template of a user's folder shows it as `$from_description`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FIELD = "from_description"
"""The column, and the field of templates."""
SCENE = "released_scene"
"""The field of a record with the text up to the captions; only where a template shows the whole."""
PROMPTS = Path(__file__).parent / "prompts_released"
"""Templates that show this text and nothing else."""


def scene_line(row: Mapping[str, Any]) -> str:
    """The scene of a row; the names of entities are the ends of their links as they are."""
    names = ", ".join(link.split("/wiki/", 1)[-1] for link in row["entities"])
    return (
        f"scene: {row['image_location']} description: {row['image_description']} "
        f"uncanny: {row['image_uncanny_description']} entities: {names}."
    )


def captions_line(captions: str | Sequence[str]) -> str:
    """The caption, or the choices with their letters."""
    if isinstance(captions, str):
        return f"caption: {captions}"
    return f"choices {' '.join(f'{a}: {c}' for a, c in zip('ABCDEFGHIJ', captions, strict=False))}"


def from_description(row: Mapping[str, Any], captions: str | Sequence[str] | None) -> str:
    """The column of a row."""
    return f"{scene_line(row)} {captions_line(captions or ())}"


def line_of(fields: Mapping[str, str], choices: Sequence[str]) -> str:
    """The text of a record with these fields and choices; without the scene in setting=caption_only."""
    captions = captions_line(choices or fields["caption"])
    return " ".join(part for part in (fields[SCENE], captions) if part)


def stands_alone(templates: Mapping[str, str]) -> bool:
    """Whether a run with these templates shows this text and nothing else."""
    own = (PROMPTS / name for name in templates)
    return any(path.is_file() and templates[path.name] == path.read_text("utf-8").strip() for path in own)
