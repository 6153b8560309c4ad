"""Sentence embeddings of captions, in batches that their content alone decides.

Captions of similar length in tokens share a batch, so that little of it is padding, and batches hold a bounded number
of tokens. Which captions share a batch decides the last bits of their vectors; since it does not depend on the number
of workers, neither do the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.models.choosers.embedding import open_model

TOKENS = 1024
"""Tokens of a batch with its padding, on a CPU; a GPU takes 64 times as many."""


def embed(texts: Sequence[str], name: str, device: str | None = None) -> NDArray[np.float16]:
    """Unit vectors [texts, dimensions] of the model called `name`; each distinct text is embedded once.

    name: a sentence-transformers model, from the hub or a folder. Raises BadInput where it cannot be loaded.
    """
    model = _model(name, device)
    distinct = list(dict.fromkeys(texts))
    lengths = _lengths(model, distinct)
    order = sorted(range(len(distinct)), key=lambda i: (lengths[i], distinct[i]))
    found = np.zeros((len(distinct), model.get_embedding_dimension()), dtype=np.float16)
    budget = TOKENS * (1 if model.device.type == "cpu" else 64)
    for batch in batches([lengths[i] for i in order], budget):
        places = [order[i] for i in batch]
        found[places] = model.encode(
            [distinct[i] for i in places], batch_size=len(places), normalize_embeddings=True, show_progress_bar=False
        )
    where = {text: i for i, text in enumerate(distinct)}
    return found[[where[text] for text in texts]]


def batches(lengths: Sequence[int], budget: int) -> Iterator[range]:
    """Runs of texts in order of length, of at most `budget` tokens with padding, and of at least one text."""
    start = 0
    for end, length in enumerate(lengths):
        if end > start and (end + 1 - start) * length > budget:
            yield range(start, end)
            start = end
    if start < len(lengths):
        yield range(start, len(lengths))


def _lengths(model: Any, texts: list[str]) -> list[int]:
    if not texts:
        return []
    most = model.max_seq_length or 512
    return [min(len(ids), most) for ids in model.tokenizer(texts, truncation=False, verbose=False)["input_ids"]]


@lru_cache(maxsize=1)
def _model(name: str, device: str | None) -> Any:
    return open_model(name, device)
