"""The frozen lower part of an encoder, run once a row instead of once a row and epoch.

Frozen layers say the same of a row in every epoch (their dropout is off), so their states are kept, in half precision,
and the upper layers start from them. For encoders built as BERT's is: embeddings, then layers with nothing after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from humor_tasks.models.humicroedit.network import BATCH, Tokens, tensors

BUILT_ALIKE = ("bert", "roberta", "xlm-roberta", "electra", "camembert")


class Kept(nn.Module):
    """In the place of an encoder's embeddings: gives the states it was given."""

    states: torch.Tensor

    def forward(self, *_: Any, **__: Any) -> torch.Tensor:
        """[rows, tokens, size]."""
        return self.states


class LowerStates:
    """The states above the lowest layers, by row; from then on the encoder of `network` is its upper part."""

    def __init__(self, encoder: Any, layers: int, padding: int, device: Any) -> None:
        self.encoder, self.padding, self.device = encoder, padding, device
        self.embeddings, self.layers = encoder.embeddings, encoder.encoder.layer
        self.lower, self.upper = self.layers[:layers], self.layers[layers:]
        self.kept = Kept()
        self.states: dict[int, torch.Tensor] = {}

    def read(self, rows: Sequence[Tokens]) -> None:
        """Runs the lower part over `rows`."""
        self.encoder.to(self.device).eval()
        self.encoder.encoder.layer = self.lower
        order = sorted(rows, key=lambda row: len(row.ids))
        typed = getattr(self.encoder.config, "type_vocab_size", 0) > 1
        with torch.no_grad():
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                ids, types, _, mask = tensors(batch, self.padding, self.device)
                more = {"token_type_ids": types} if typed else {}
                states = self.encoder(input_ids=ids, attention_mask=mask, **more).last_hidden_state
                for row, state in zip(batch, states.half().cpu(), strict=True):
                    self.states[id(row)] = state[: len(row.ids)].clone()
        self.shrink()

    def give(self, rows: Sequence[Tokens]) -> None:
        """The next forward pass is over these rows, in this order."""
        kept = [self.states[id(row)] for row in rows]
        self.kept.states = nn.utils.rnn.pad_sequence(kept, batch_first=True).to(self.device).float()

    def shrink(self) -> None:
        """The encoder is its upper part."""
        self.encoder.embeddings, self.encoder.encoder.layer = self.kept, self.upper

    @contextmanager
    def whole(self) -> Iterator[None]:
        """The encoder is whole, to be saved."""
        self.encoder.embeddings, self.encoder.encoder.layer = self.embeddings, self.layers
        try:
            yield
        finally:
            self.shrink()
