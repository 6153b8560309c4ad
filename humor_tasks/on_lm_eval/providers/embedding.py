"""`--model humor-embedding --model_args pretrained=<name or folder>`: an embedding model in lm-eval."""

from __future__ import annotations

from typing import Any

from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.local import batch_size_of, device_of


class EmbeddingLM(ChooserLM):
    """`--device` is lm-eval's; `batch_size` is that of sentence-transformers."""

    def __init__(self, pretrained: str, device: str | None = None, batch_size: Any = 64, **harness: Any) -> None:
        chooser = Embedding(pretrained, device_of(device, "humor-embedding"), batch_size_of(batch_size) or 64)
        super().__init__(chooser, harness, ("pretrained", "device", "batch_size"))
