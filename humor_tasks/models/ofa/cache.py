"""The keys, values and biases that one position of OFA's decoder reads: tensors whose shapes do not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from humor_tasks.models.ofa.attention import KeyValues, masked
from humor_tasks.models.ofa.places import eights


@dataclass
class Cache:
    """What `Decoder.step` reads and writes for n inputs with at most k beams and P positions.

    Keys and values stay in the slot of the beam that computed them. Each beam stores the slot of its ancestor at each
    position, and the other slots are masked for it. Reordering beams therefore moves a few indices instead of all keys
    and values. Every change is in place, as a captured CUDA graph requires.
    """

    own: torch.Tensor
    """Keys and values of the tokens, [layers, 2, n, heads, P, k, d / heads]; zero at positions to come."""
    slots: torch.Tensor
    """[n, k, P], the ancestors' slots."""
    at: torch.Tensor
    """[1], the current position."""
    bias: torch.Tensor
    """Biases between tokens, including the causal mask, [layers, 1 or n, heads, P, P]."""
    cross: torch.Tensor
    """Biases of the encoder's states, [1 or n, heads, P, S]."""
    padding: torch.Tensor | None
    """[n, S], true at padded states."""
    codes: torch.Tensor | None
    """[n], true for rows of image codes."""
    pairs: list[KeyValues]
    """Keys and values of the encoder's states, [n, heads, S, d / heads] each, for each layer."""
    written: int = 0
    """The number of positions written; `at`, known without reading the device."""

    @property
    def width(self) -> int:
        """The number of positions that the current step reads: the written ones and its own, as a multiple of eight.

        Eight steps in a row have the same shapes.
        """
        return eights(self.written + 1)

    def layers(self, beams: int, width: int) -> list[Callable[[KeyValues], KeyValues]]:
        """For each layer: store the keys and values of the current position, and return those of all slots of `width`
        positions.
        """
        own = self.own.flatten(0, 1)  # one operation divides it for all layers
        written, read = own[:, :, :, :, :beams].unbind(), own[:, :, :, :width].flatten(3, 4).unbind()

        def put(pair: KeyValues, layer: int) -> KeyValues:
            for i, new in enumerate(pair, 2 * layer):
                written[i].index_copy_(2, self.at, new.unsqueeze(2))
            return read[2 * layer], read[2 * layer + 1]

        return [partial(put, layer=layer) for layer in range(len(self.pairs))]

    def biases(self, beams: int, width: int) -> torch.Tensor:
        """The biases of the current position, [layers, n, heads, beams, width * k]; other beams' slots are masked."""
        n, slots, _ = self.slots.shape
        each = torch.arange(slots, device=self.slots.device)
        self.slots[:, :beams].index_copy_(2, self.at, each[:beams, None].expand(n, -1, 1))
        others = self.slots[:, :beams, :width, None] != each
        bias = self.bias.index_select(3, self.at)[..., :width, None].expand(*[-1] * 5, slots).flatten(4)
        return masked(bias, others.flatten(2)[:, None])

    def crossed(self) -> torch.Tensor:
        """The biases of the encoder's states at the current position, [1 or n, heads, 1, S]."""
        bias = self.cross.index_select(2, self.at)
        return bias if self.padding is None else masked(bias, self.padding[:, None, None, :])

    def advance(self) -> None:
        """Go to the next position."""
        self.at += 1
        self.written += 1

    def pick(self, beams: torch.Tensor) -> None:
        """Select the beams [n, k] to continue with."""
        self.slots.copy_(self.slots.gather(1, beams[:, :, None].expand(-1, -1, self.slots.shape[2])))

    def refill(self, other: Cache) -> None:
        """Take the contents of another cache of the same shape, whose `own` may be this cache's, in this memory."""
        mine, others = self._tensors(), other._tensors()
        for tensor, new in zip(mine, others, strict=True):
            tensor.copy_(new)
        self.written = other.written

    def _tensors(self) -> list[torch.Tensor]:
        single = [self.own, self.slots, self.at, self.bias, self.cross, self.padding, self.codes]
        return [tensor for tensor in (*single, *(part for pair in self.pairs for part in pair)) if tensor is not None]

    def rows(self, inputs: torch.Tensor) -> Cache:
        """A cache of the inputs with these indices."""

        def some(tensor: torch.Tensor, dim: int) -> torch.Tensor:
            return tensor if tensor.shape[dim] == 1 < len(self.slots) else tensor.index_select(dim, inputs)

        return Cache(
            self.own.index_select(2, inputs),
            self.slots[inputs],
            self.at,
            some(self.bias, 1),
            some(self.cross, 0),
            None if self.padding is None else self.padding[inputs],
            None if self.codes is None else self.codes[inputs],
            [(keys[inputs], values[inputs]) for keys, values in self.pairs],
            self.written,
        )
