"""The frame of a page, and parts of pages. Every text is escaped by `shown`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from humor_tasks.data.pages.texts import shown

FOLDER = Path(__file__).parent
MOST_OF_A_NAME = 120  # characters
_SEPARATOR = re.compile(r"([/_=:-])(?=\w)")
_SLOT = re.compile(r"\[\[([a-z]+)\]\]")


def section(identity: str, title: str, body: str) -> str:
    """One section with its heading."""
    head = f'<h2 id="{identity}-title">{title}</h2>'
    return f'<section id="{identity}" aria-labelledby="{identity}-title">{head}{body}</section>'


def name(text: object) -> str:
    """A name, cut where it is very long, that does not change the direction of its surroundings.

    Lines may break after its separators.
    """
    broken = _SEPARATOR.sub(r"\1<wbr>", shown(text, MOST_OF_A_NAME))
    return f"<bdi>{broken}</bdi>"


def bullets(texts: Iterable[str]) -> str:
    """A list of sentences; nothing where there is none."""
    found = "".join(f"<li>{shown(text)}</li>" for text in texts)
    return f"<ul>{found}</ul>" if found else ""


def scrolling(label: str, table: str) -> str:
    """A table that scrolls inside its own frame, also by keyboard."""
    return f'<div class="scroll" role="region" aria-label="{shown(label)}" tabindex="0">{table}</div>'


def page(slots: Mapping[str, str]) -> str:
    """The frame page.html with its slots filled."""
    return filled(FOLDER / "page.html", slots)


def style() -> str:
    """The style sheet of every page."""
    return (FOLDER / "page.css").read_text(encoding="utf-8")


def filled(template: Path, slots: Mapping[str, str]) -> str:
    """The template with its slots filled; what fills a slot is not read again."""
    return _SLOT.sub(lambda found: slots[found[1]], template.read_text(encoding="utf-8"))
