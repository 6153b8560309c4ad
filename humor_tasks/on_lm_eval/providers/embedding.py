"""`--model humor-embedding --model_args pretrained=<name or folder>`: an embedding model in lm-eval."""

from __future__ import annotations

import logging
from typing import Any

from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM

logger = logging.getLogger(__name__)


class EmbeddingLM(ChooserLM):
    """`--device` is lm-eval's; `batch_size` is that of sentence-transformers."""

    def __init__(self, pretrained: str, device: str | None = None, batch_size: Any = 64, **harness: Any) -> None:
        device = device_of(device, "humor-embedding")
        size = int(batch_size) if str(batch_size).isdigit() and int(batch_size) > 1 else 64
        super().__init__(Embedding(pretrained, device, size), harness, ("pretrained", "device", "batch_size"))


def device_of(device: str | None, model: str) -> str | None:
    """The device for a model: the CPU in the place of "cuda", lm-eval's default, where there is none, as in hf."""
    if device is not None and device.startswith("cuda") and not _cuda():
        logger.info("No CUDA device: %s runs on the CPU.", model)
        return "cpu"
    return device


def _cuda() -> bool:
    try:
        import torch
    except ImportError:  # Embedding raises the error that names the package to install
        return False
    return bool(torch.cuda.is_available())
