"""CLIP in training: logits over each picture's captions, their loss, and the learning-rate schedule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize
from torch.nn.utils.rnn import pad_sequence

from humor_tasks.models.clip.captions import can_be_trimmed, lengths, trimmed


class Choices(nn.Module):
    """open_clip's CLIP with one forward pass for both encoders, so that gradients of several devices are averaged."""

    def __init__(self, clip: Any) -> None:
        super().__init__()
        self.clip = clip
        self._trim = can_be_trimmed(clip)
        self._encode_text = trimmed(clip) if self._trim else clip.encode_text

    def forward(self, pixels: torch.Tensor, tokens: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
        """Logits [captions]: exp(logit_scale) * cosine(caption, its picture). A bias would not change the choice."""
        if self._trim:
            tokens = tokens[:, : int(lengths(tokens).max())]
        pictures = normalize(self.clip.encode_image(pixels).float(), dim=-1)
        captions = normalize(self._encode_text(tokens).float(), dim=-1)
        cosines = (pictures[owners] * captions).sum(1)
        return torch.as_tensor(self.clip.logit_scale.exp() * cosines)


def choice_loss(logits: torch.Tensor, counts: Sequence[int], targets: torch.Tensor) -> torch.Tensor:
    """[2]: the sum over rows of -log softmax(the row's logits)[target], and the number of correct rows.

    logits: those of the first row's captions, then the second's, and so on; counts: the number of captions per row.
    """
    rows = pad_sequence(list(torch.split(logits, list(counts))), batch_first=True, padding_value=-torch.inf)
    return torch.stack((cross_entropy(rows, targets, reduction="sum"), (rows.argmax(1) == targets).sum()))


def share_of_rate(step: int, warmup: int) -> float:
    """min(1, step / warmup), as in the released code; the first step, 0, has a learning rate of 0."""
    return min(1.0, step / warmup) if warmup else 1.0


def hold_scale(clip: Any, most: float) -> None:
    """Limit the learned logit scale, exp(logit_scale), to `most`; 0 is no limit."""
    if most:
        with torch.no_grad():
            clip.logit_scale.clamp_(max=math.log(most))
