"""What OFA's encoder and decoder are built of: attention layers, and positions as attention biases."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

# ---- a linear layer for token-by-token decoding on a CPU ------------------------------------------

BLOCK = 32  # rows of the weight
FEWEST, MOST_ROWS = 4, 15


class FewRowsLinear(nn.Linear):
    """nn.Linear that, on a CPU, multiplies 4 to 15 rows by blocks of its weight.

    A step of decoding reads every weight of the decoder for one row per beam, so the time is dominated by memory
    access. For 4 to 15 rows the CPU's kernel of one large product reaches half of the memory bandwidth; its kernel of
    many small products, one for each 32 rows of the weight, reaches all of it. The blocks are views: there is no copy
    of the weight.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x [..., in] -> [..., out]."""
        blocks, rows = self.out_features // BLOCK, x.numel() // self.in_features
        if (
            not blocks
            or not FEWEST <= rows <= MOST_ROWS
            or x.device.type != "cpu"
            or not x.dtype == self.weight.dtype == torch.float32
            or torch.is_autocast_enabled("cpu")
        ):
            return super().forward(x)
        cut = blocks * BLOCK
        flat = x.reshape(rows, self.in_features)
        weights = self.weight[:cut].view(blocks, BLOCK, self.in_features).transpose(1, 2)
        products = torch.bmm(flat.expand(blocks, -1, -1), weights).transpose(0, 1).reshape(rows, cut)
        if cut < self.out_features:
            products = torch.cat([products, functional.linear(flat, self.weight[cut:])], 1)
        if self.bias is not None:
            products = products + self.bias
        return products.view(*x.shape[:-1], self.out_features)


# ---- attention and feed-forward network -----------------------------------------------------------

KeyValues = tuple[torch.Tensor, torch.Tensor]
"""Keys and values, [B, heads, K, d / heads] each."""


def masked(bias: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """`bias` with a large negative number where `mask` is true; a fully masked row stays finite.

    The number is half of the lowest one, so that it is finite in bfloat16 too.
    """
    return bias.masked_fill(mask, torch.finfo(bias.dtype).min / 2)


class Attention(nn.Module):
    """softmax(q k / sqrt(2 * d / heads) + bias) v, times c_attn[head], through out_proj."""

    def __init__(self, width: int, heads: int, linear: type[nn.Linear] = nn.Linear) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (2 * width // heads) ** -0.5
        self.q_proj, self.k_proj, self.v_proj = (linear(width, width) for _ in range(3))
        self.out_proj = linear(width, width)
        self.c_attn = nn.Parameter(torch.ones(heads))

    def pair(self, x: torch.Tensor) -> KeyValues:
        """Keys and values of x [B, K, d]."""
        return self._split(self.k_proj(x)), self._split(self.v_proj(x))

    def forward(self, x: torch.Tensor, bias: torch.Tensor, pair: KeyValues) -> torch.Tensor:
        """Attention of x [B, Q, d] to keys and values; bias [1 or B, heads, 1 or Q, K]. Returns [B, Q, d].

        Where rows of `bias` begin at multiples of eight in memory, kernels on CUDA take it as it is.
        """
        keys, values = pair
        q = self._split(self.q_proj(x))
        bias = bias.to(q.dtype).expand(-1, -1, q.shape[2], -1)
        heads = functional.scaled_dot_product_attention(q, keys, values, attn_mask=bias, scale=self.scale)
        heads = heads.transpose(1, 2) * self.c_attn[:, None]
        out: torch.Tensor = self.out_proj(heads.reshape(x.shape))
        return out

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, x.shape[2] // self.heads).transpose(1, 2)


class Layer(nn.Module):
    """Self-attention and a feed-forward network with their norms, shared by encoder and decoder layers.

    pre_norm: otherwise post-norm. extra_norms: NormFormer's norms, after attention and inside the feed-forward network.
    """

    linear: type[nn.Linear] = nn.Linear

    def __init__(self, width: int, heads: int, inner: int, pre_norm: bool, extra_norms: bool) -> None:
        super().__init__()
        self.pre_norm = pre_norm
        self.self_attn = Attention(width, heads, self.linear)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.self_attn_mid_layer_norm = nn.LayerNorm(width) if extra_norms else nn.Identity()
        self.fc1, self.fc2 = self.linear(width, inner), self.linear(inner, width)
        self.ffn_layer_norm = nn.LayerNorm(inner) if extra_norms else nn.Identity()
        self.final_layer_norm = nn.LayerNorm(width)

    def attend(
        self, x: torch.Tensor, bias: torch.Tensor, update_cache: Callable[[KeyValues], KeyValues] | None = None
    ) -> torch.Tensor:
        """Self-attention; `update_cache` receives this call's keys and values and returns those to attend to."""

        def part(y: torch.Tensor) -> torch.Tensor:
            pair = self.self_attn.pair(y)
            key_values = pair if update_cache is None else update_cache(pair)
            out: torch.Tensor = self.self_attn_mid_layer_norm(self.self_attn(y, bias, key_values))
            return out

        return self.residual(x, self.self_attn_layer_norm, part)

    def feed_forward(self, x: torch.Tensor) -> torch.Tensor:
        """The feed-forward network."""
        return self.residual(
            x, self.final_layer_norm, lambda y: self.fc2(self.ffn_layer_norm(functional.gelu(self.fc1(y))))
        )

    def residual(self, x: torch.Tensor, norm: nn.Module, part: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        """The residual connection: x + part(norm(x)) for pre-norm, norm(x + part(x)) for post-norm."""
        out: torch.Tensor = x + part(norm(x)) if self.pre_norm else norm(x + part(x))
        return out


class CrossLayer(Layer):
    """A decoder layer: cross-attention to the encoder's states between self-attention and feed-forward network."""

    linear = FewRowsLinear

    def __init__(self, width: int, heads: int, inner: int, pre_norm: bool, extra_norms: bool) -> None:
        super().__init__(width, heads, inner, pre_norm, extra_norms)
        self.cross_attn = Attention(width, heads, self.linear)
        self.cross_attn_layer_norm = nn.LayerNorm(width)
        self.cross_attn_mid_layer_norm = nn.LayerNorm(width) if extra_norms else nn.Identity()

    def cross_attend(self, x: torch.Tensor, bias: torch.Tensor, pair: KeyValues) -> torch.Tensor:
        """Cross-attention; `pair` holds the keys and values of the encoder's states."""
        return self.residual(
            x, self.cross_attn_layer_norm, lambda y: self.cross_attn_mid_layer_norm(self.cross_attn(y, bias, pair))
        )


# ---- positions of tokens and patches --------------------------------------------------------------

# The largest bucketed distance, independent of max_position_embeddings.
MAX_DISTANCE = 1023
CODE_FILL, CODE_FILLS = 1024, 768


def position_bias(
    to_query: nn.Linear, to_key: nn.Linear, queries: torch.Tensor, keys: torch.Tensor, heads: int, factor: float
) -> torch.Tensor:
    """The attention bias of absolute positions, [B, heads, Q, K], from position vectors [B, Q, d] and [B, K, d].

    The scale applies to this bias only, after the projection including its bias.
    """
    scale = (queries.shape[-1] / heads * factor) ** -0.5
    q = to_query(queries).view(1, -1, heads, queries.shape[-1] // heads).transpose(1, 2) * scale
    k = to_key(keys).view(1, -1, heads, queries.shape[-1] // heads).transpose(1, 2)
    bias: torch.Tensor = q @ k.transpose(2, 3)
    return bias


def table_bias(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The attention bias of relative positions, [heads, *index.shape], from a table [rows, heads]."""
    return table.t().index_select(1, index.reshape(-1)).view(table.shape[1], *index.shape)


def text_index(length: int, buckets: int, device: torch.device) -> torch.Tensor:
    """Indices into a table of text distances, [query, key]."""
    place = torch.arange(length, device=device)
    rows = torch.tensor(_text_rows(buckets), device=device)
    return rows[place[:, None] - place[None, :] + MAX_DISTANCE]


def image_index(ids: torch.Tensor, side: int) -> torch.Tensor:
    """Indices into a table of image distances, [query, key], from position ids y * side + x + 1; id 0 is no patch."""
    y, x = (ids - 1) // side, (ids - 1) % side
    row = (y[:, None] - y[None, :] + side - 1) * (2 * side - 1) + (x[:, None] - x[None, :] + side - 1)
    rows, none = (2 * side - 1) ** 2 + 3, ids == 0
    row = torch.where(none[:, None], rows - 3, row)
    row = torch.where(none[None, :], rows - 2, row)
    return torch.where(none[:, None] & none[None, :], rows - 1, row)


def patch_ids(height: int, width: int, side: int, device: torch.device) -> torch.Tensor:
    """Position ids of a grid in row-major order, with `side` positions per row for any grid width; 0 is reserved."""
    y, x = torch.arange(height, device=device), torch.arange(width, device=device)
    return (y[:, None] * side + x[None, :] + 1).flatten()


def code_ids(code_side: int, side: int) -> NDArray[np.int64]:
    """Position ids of the decoder's image codes: 0 for the begin token, a square window, and a filler."""
    window = np.arange(code_side)[:, None] * side + np.arange(code_side) + 1
    return np.concatenate([[0], window.ravel(), np.full(CODE_FILLS, CODE_FILL)])


@lru_cache(maxsize=16)
def _text_rows(buckets: int) -> NDArray[np.int64]:
    """The index for each distance -1023..1023: near distances have one each, far ones share logarithmic buckets.

    Computed in float32 in this order, with correctly rounded logarithms, so that roundings equal those of the published
    buffers on any machine. (For some unpublished sizes the bucket at 1023 would be outside the table; it is clamped.)
    NumPy's arrays hold real values while torch traces or exports the network, and can be cached.
    """
    distance, middle = np.arange(-MAX_DISTANCE, MAX_DISTANCE + 1), buckets // 2
    bucket = distance
    if middle < MAX_DISTANCE:
        ratio = np.abs(distance).clip(min=middle).astype(np.float32) / np.float32(middle)
        logs = np.log(ratio.astype(np.float64)).astype(np.float32)
        far = np.ceil(logs / np.float32(math.log(MAX_DISTANCE / middle)) * np.float32(middle - 1)).astype(np.int64)
        bucket = np.where(np.abs(distance) <= middle, distance, np.sign(distance) * (far + middle))
    rows: NDArray[np.int64] = bucket.clip(1 - buckets, buckets - 1) + buckets - 1
    return rows


# ---- positions of whole inputs, computed from weights and sizes alone ---------------------------

Grid = tuple[int, int]
"""Patches per column and per row; (0, 0) without a picture."""
KEPT = 2**30  # bytes that `KnownPlaces` keeps: two grids of base at 480 pixels in fp32


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
        self._keep, self._biases = keep, dict[int, torch.Tensor]()

    def bias(self, layer: int, length: int) -> torch.Tensor:
        """The bias [1, heads, length, eights(length)] of a layer, for the first `length` positions."""
        bias = self._biases.get(layer)
        if bias is None:
            # In the dtype of activations: in mixed precision the tables have another.
            bias = (self._shared + table_bias(self._tables(layer), self._index)).to(self._shared.dtype)
            if self._keep:
                self._biases[layer] = bias
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
        most: int = KEPT,
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
