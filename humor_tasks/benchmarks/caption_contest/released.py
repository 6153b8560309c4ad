"""The corpus's own texts, which templates of a user's folder may show, and its column `from_description` above all.

The released trainer (llama2/make_dataset.py of the code of Hessel et al. 2023) feeds it; section 3 says of T5 that the
description is concatenated with the choices. A template of a user's folder shows it as `$from_description`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.contract.prompts import shows

FIELD = "from_description"
"""The column, and the field of templates."""
SCENE = "released_scene"
"""The field of a record with the text up to the captions; only where a template shows the whole."""
COLUMNS = ("image_location", "image_description", "image_uncanny_description")
"""Columns that templates show as they are: `$location` and others have their blanks collapsed."""
LINKS, NAMES = "entity_links", "entity_names"
"""Fields with the entities: the ends of their links, and their names by the released script."""
PROMPTS = Path(__file__).parent / "prompts_released"
"""Templates that show this text and nothing else."""


def shown_by(templates: Iterable[str]) -> set[str]:
    """The fields of this module that these templates show."""
    known = {FIELD, *COLUMNS, LINKS, NAMES}
    return {field for template in templates for field in known if shows(template, field)}


def fields_of(row: Mapping[str, Any], shown: set[str]) -> dict[str, str]:
    """The fields for templates that show these; without the columns of the scene only that of FIELD."""
    described = all(name in row for name in COLUMNS)
    fields = {SCENE: scene_line(row) if described else ""} if FIELD in shown else {}
    if described:
        fields |= {name: row[name] for name in COLUMNS if name in shown}
        fields |= {LINKS: ", ".join(map(link_end, row["entities"]))} if LINKS in shown else {}
        fields |= {NAMES: ", ".join(map(script_name, row["entities"]))} if NAMES in shown else {}
    return fields


def link_end(link: str) -> str:
    """The end of a link as it is, with its underscores."""
    return link.split("/wiki/", 1)[-1]


def script_name(link: str) -> str:
    """The name of an entity by the rule of gpt4/gpt4_from_description.py, which decodes only one sequence: `%27s`.

    The script leaves an apostrophe of it. For other names see `rows.entity_name`.
    """
    end = link.split("#")[0].replace("&redirect=no", "").replace("https://en.wikipedia.org/?title=", "/wiki/")
    end = end.split("/wiki/")[1] if "/wiki/" in end else end  # where the script ends with an error
    return " ".join(end.replace("%27s", "'").replace("(disambiguation)", "").replace("_", " ").split())


def scene_line(row: Mapping[str, Any]) -> str:
    """The scene of a row; the names of entities are the ends of their links as they are."""
    names = ", ".join(map(link_end, row["entities"]))
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
