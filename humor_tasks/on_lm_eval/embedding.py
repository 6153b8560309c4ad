"""`--model humor-embedding --model_args pretrained=<name or folder>`: an embedding model in lm-eval."""

from __future__ import annotations

from typing import Any

from humor_tasks.models.embedding import Embedding
from humor_tasks.on_lm_eval.chooser import ChooserLM


class EmbeddingLM(ChooserLM):
    """Takes lm-eval's `--device`; `batch_size` is sentence-transformers'."""

    def __init__(self, pretrained: str, device: str | None = None, batch_size: Any = 64, **harness: Any) -> None:
        size = int(batch_size) if str(batch_size).isdigit() and int(batch_size) > 1 else 64
        super().__init__(Embedding(pretrained, device, size), harness, ("pretrained", "device", "batch_size"))
