"""What OFA's encoder computes from weights and sizes alone: position vectors, and attention biases."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import torch

from humor_tasks.models.ofa.positions import table_bias

Grid = tuple[int, int]
"""Patches per column and per row; (0, 0) without a picture."""
MOST = 2**30  # bytes that `KnownPlaces` keeps: two grids of base at 480 pixels in fp32


def eights(length: int) -> int:
    """The next multiple of eight.

    torch's memory-efficient attention on CUDA takes biases whose rows begin at multiples of eight, and copies others.
    """
    return -(-length // 8) * 8


class Places:
    """The positions of a grid of patches, followed by those of tokens: S positions, and W = eights(S).

    vectors [1, S, d]: the normalised position vectors. shared [1, heads, S, W]: the bias of absolute positions. index
    [S, W]: rows of a layer's table. tables: each layer's table [rows, heads]. keep: whether to keep each layer's bias.
    """

    def __init__(
        self,
        vectors: torch.Tensor,
        shared: torch.Tensor,
        index: torch.Tensor,
        tables: Callable[[int], torch.Tensor],
        keep: bool,
    ) -> None:
        self.vectors, self._shared, self._index, self._tables = vectors, shared, index, tables
        self._kept: dict[int, torch.Tensor] | None = {} if keep else None

    def bias(self, layer: int, length: int) -> torch.Tensor:
        """The bias [1, heads, length, eights(length)] of a layer, for the first `length` positions."""
        kept = self._kept
        bias = None if kept is None else kept.get(layer)
        if bias is None:
            # In the dtype of activations: in mixed precision the tables have another.
            bias = (self._shared + table_bias(self._tables(layer), self._index)).to(self._shared.dtype)
            if kept is not None:
                kept[layer] = bias
        return bias[:, :, :length, : eights(length)]


class KnownPlaces:
    """The places of each grid, kept while weights are constant, up to `most` bytes.

    make: places for a grid and a number of tokens. size: the bytes that these will take. Those of a longer text serve
    shorter ones, because positions are counted from the text's first token.
    """

    def __init__(
        self,
        make: Callable[[Grid, int], Places],
        size: Callable[[Grid, int], int],
        most_words: int,
        most: int = MOST,
    ) -> None:
        self._make, self._size, self._most_words, self._most = make, size, most_words, most
        self._kept: OrderedDict[Grid, tuple[int, Places]] = OrderedDict()

    def of(self, grid: Grid, words: int) -> Places | None:
        """Places for this grid and at least so many tokens; None where they would be too large to keep."""
        known = self._kept.get(grid)
        if known is None or known[0] < words:
            # In steps of sixteen, so that slightly longer texts find them.
            words = max(words, min(-(-words // 16) * 16, self._most_words))
            self._kept.pop(grid, None)
            size = self._size(grid, words)
            if size > self._most:
                return None
            while self._kept and sum(self._size(g, n) for g, (n, _) in self._kept.items()) + size > self._most:
                self._kept.popitem(last=False)
            known = self._kept[grid] = (words, self._make(grid, words))
        self._kept.move_to_end(grid)
        return known[1]
