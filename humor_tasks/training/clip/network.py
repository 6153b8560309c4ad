"""CLIP in training: logits over each picture's captions, and the limit of their scale."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn.functional import normalize

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


def hold_scale(clip: Any, most: float) -> None:
    """Limit the learned logit scale, exp(logit_scale), to `most`; 0 is no limit."""
    if most:
        with torch.no_grad():
            clip.logit_scale.clamp_(max=math.log(most))
