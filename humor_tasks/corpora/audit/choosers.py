"""The models that are measured as shortcuts."""

from __future__ import annotations

from humor_tasks.models.choosers.chooser import Chooser
from humor_tasks.models.choosers.embedding import Embedding


def open_choosers(embedding: str | None, quality: str | None) -> list[Chooser]:
    """A sentence-embedding model, and the caption-only quality model. Raises BadInput where one cannot be loaded."""
    found: list[Chooser] = []
    if embedding:
        found.append(Embedding(embedding))
    if quality:
        from humor_tasks.models.quality.model import QualityChooser

        found.append(QualityChooser(quality))
    return found
