"""The frozen lower layers of an encoder, computed once per row instead of once per row and epoch.

Frozen layers give the same states for a row in every epoch (their dropout is off). The states are cached in half
precision, and the upper layers start from them. This works for encoders with BERT's architecture: embeddings, then
layers with nothing after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from humor_tasks.models.humicroedit.network import BATCH, Tokens, tensors

SUPPORTED = ("bert", "roberta", "xlm-roberta", "electra", "camembert")


class CachedStates(nn.Module):
    """Replaces an encoder's embeddings and returns cached states."""

    states: torch.Tensor

    def forward(self, *_: Any, **__: Any) -> torch.Tensor:
        """[rows, tokens, size]."""
        return self.states


class FrozenStates:
    """The states above the frozen layers, by row; after `compute` the encoder consists of its upper layers."""

    def __init__(self, encoder: Any, layers: int, padding: int, device: Any) -> None:
        self.encoder, self.padding, self.device = encoder, padding, device
        self.embeddings, self.layers = encoder.embeddings, encoder.encoder.layer
        self.lower, self.upper = self.layers[:layers], self.layers[layers:]
        self.cached = CachedStates()
        self.states: dict[int, torch.Tensor] = {}

    def compute(self, rows: Sequence[Tokens]) -> None:
        """Compute the states of `rows`."""
        self.encoder.to(self.device).eval()
        self.encoder.encoder.layer = self.lower
        order = sorted(rows, key=lambda row: len(row.ids))
        has_types = getattr(self.encoder.config, "type_vocab_size", 0) > 1
        with torch.no_grad():
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                ids, types, _, mask = tensors(batch, self.padding, self.device)
                type_ids = {"token_type_ids": types} if has_types else {}
                states = self.encoder(input_ids=ids, attention_mask=mask, **type_ids).last_hidden_state
                for row, state in zip(batch, states.half().cpu(), strict=True):
                    self.states[id(row)] = state[: len(row.ids)].clone()
        self.shrink()

    def select(self, rows: Sequence[Tokens]) -> None:
        """Select the rows of the next forward pass, in this order."""
        cached = [self.states[id(row)] for row in rows]
        self.cached.states = nn.utils.rnn.pad_sequence(cached, batch_first=True).to(self.device).float()

    def shrink(self) -> None:
        """Reduce the encoder to its upper layers."""
        self.encoder.embeddings, self.encoder.encoder.layer = self.cached, self.upper

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the complete encoder within the context, for saving."""
        self.encoder.embeddings, self.encoder.encoder.layer = self.embeddings, self.layers
        try:
            yield
        finally:
            self.shrink()
