"""A sentence-embedding model as a Chooser: the caption with the highest cosine to the scene.

It needs the extra `embedding` (sentence-transformers) and accepts any of its models, from the hub or a folder.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Chooser, Question, check_words
from humor_tasks.models.folders import not_loaded
from humor_tasks.rows.pins import WEIGHTS

CACHE_SIZE = 100_000  # maximum number of cached vectors; with 384 floats each about 150 MB


def open_model(name: str, device: str | None = None) -> Any:
    """A sentence-transformers model, from the hub or a folder; its code is not executed.

    Raises BadInput when the library or the model is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise BadInput("embedding models need sentence-transformers (the extra 'embedding').") from None
    try:
        return SentenceTransformer(name, device=device, revision=WEIGHTS.get(name), trust_remote_code=False)
    except Exception as problem:  # sentence-transformers, transformers and pickle raise different classes
        raise not_loaded(f"embedding/{name}", name, problem) from None


class Embedding(Chooser):
    """Scores are cosines in [-1, 1].

    model: a hub id or folder. Raises BadInput when the library or the model is missing.
    """

    def __init__(self, model: str, device: str | None = None, batch_size: int = 64) -> None:
        self._model = open_model(model, device)
        self.name = f"embedding/{model}"
        self.batch_size = batch_size
        self._vectors: OrderedDict[str, Any] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors [n_texts, dimensions] as a numpy array; each distinct text is embedded once."""
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = self._model.encode(
                new, batch_size=self.batch_size, normalize_embeddings=True, show_progress_bar=False
            )
            self._vectors.update(zip(new, vectors, strict=True))
        result = np.stack([self._vectors[text] for text in texts])
        while len(self._vectors) > CACHE_SIZE:
            self._vectors.popitem(last=False)
        return result

    def check(self, question: Question) -> None:
        """Raise BadInput where the scene has no text to compare choices with; it would answer A everywhere."""
        check_words(question, self.name)

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`."""
        if not questions:
            return []
        vectors = self.embed([text for q in questions for text in (q.context, *q.choices)])
        scores, start = [], 0
        for question in questions:
            scene, choices = vectors[start], vectors[start + 1 : start + 1 + len(question.choices)]
            cosines = [float(c) for c in choices @ scene]
            scores.append(cosines if question.context.strip() else [0.0] * len(cosines))
            start += 1 + len(question.choices)
        return scores
