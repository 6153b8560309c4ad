"""One Hugging Face dataset folder per corpus: its card (README.md) beside a small original sample in its schema."""

from __future__ import annotations

from pathlib import Path

from humor_tasks.errors import check_choice

_HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    """The corpora that have a card here."""
    return sorted(card.parent.name for card in _HERE.glob("*/README.md"))


def folder(name: str) -> Path:
    """The dataset folder of the corpus `name`, in a wheel as in a source checkout."""
    return _HERE / check_choice("dataset card", name, names())
