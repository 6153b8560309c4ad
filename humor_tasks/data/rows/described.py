"""Metadata in the card of a folder made by `humor-tasks describe`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput


def described_by(dataset: str) -> dict[str, Any] | None:
    """The section `described` of a folder's card: source, model, questions. None where the descriptions are
    human-written.

    Raises BadInput where the card's front matter is not YAML.
    """
    card = Path(dataset).expanduser() / "README.md"
    if not card.is_file():
        return None
    text = card.read_text(encoding="utf-8", errors="replace")
    if not text.startswith("---\n") or "\ndescribed:" not in text:
        return None
    import yaml

    try:
        front = yaml.safe_load(text[4:].split("\n---", 1)[0])
    except yaml.YAMLError as problem:
        raise BadInput(f"{card}: its front matter is not YAML ({problem}).") from None
    section = front.get("described") if isinstance(front, dict) else None
    return section if isinstance(section, dict) else None
