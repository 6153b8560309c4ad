"""OFA in training: the loss of its answers, and activation checkpointing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from humor_tasks.models.ofa.config import PAD
from humor_tasks.models.ofa.network import OfaNetwork


def smoothed_loss(logits: torch.Tensor, targets: torch.Tensor, smoothing: float) -> torch.Tensor:
    """The sum, over the non-padding tokens of targets [B, L], of their label-smoothed cross-entropy, in nats.

    For token t of V with log-probabilities p: -(1 - s) p[t] - s / (V - 1) * (the sum of the other p), where s is the
    smoothing. This is the criterion of fairseq and OFA's code. torch distributes s over all V tokens including t, so it
    is called with s' = s V / (V - 1), which gives the same loss.
    """
    size = logits.shape[-1]
    flat, wanted = logits.flatten(0, 1).float(), targets.flatten()
    spread = smoothing * size / (size - 1)
    return cross_entropy(flat, wanted, ignore_index=PAD, reduction="sum", label_smoothing=spread)


def checkpoint_activations(network: OfaNetwork) -> None:
    """Enable activation checkpointing for the parts of all layers and the blocks of the backbone."""
    for layer in (*network.encoder.layers, *network.decoder.layers):
        for part in ("attend", "feed_forward", "cross_attend"):
            if hasattr(layer, part):
                setattr(layer, part, _checkpointed(getattr(layer, part)))
    for stage in network.encoder.embed_images.stages:
        for block in getattr(network.encoder.embed_images, stage):
            block.forward = _checkpointed(block.forward)


def _checkpointed(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def wrapper(*given: Any) -> torch.Tensor:
        if not torch.is_grad_enabled():
            return function(*given)
        found: torch.Tensor = checkpoint(function, *given, use_reentrant=False)
        return found

    return wrapper
