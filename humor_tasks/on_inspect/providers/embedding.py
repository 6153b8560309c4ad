"""`--model embedding/<name or folder>`: a sentence embedding model as an Inspect provider."""

from __future__ import annotations

from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.on_inspect.providers.chooser import ChooserAPI


class EmbeddingAPI(ChooserAPI):
    """`-M device=cuda` and `-M batch_size=N` are those of sentence-transformers."""

    trained = False

    def make(self, model_name: str, device: str | None = None, batch_size: int = 64) -> Embedding:
        """The model of this name, from the hub or a folder."""
        return Embedding(model_name, device, batch_size)
