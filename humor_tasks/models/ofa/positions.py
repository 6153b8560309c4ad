"""Positions of tokens and patches: indices into the tables of relative positions, and absolute positions as biases."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from torch import nn

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


def code_ids(code_side: int, side: int, device: torch.device) -> torch.Tensor:
    """Position ids of the decoder's image codes: 0 for the begin token, a square window, and a filler."""
    window = patch_ids(code_side, code_side, side, device)
    return torch.cat([window.new_zeros(1), window, window.new_full((CODE_FILLS,), CODE_FILL)])


@lru_cache(maxsize=16)
def _text_rows(buckets: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The index for each distance -1023..1023: near distances have one each, far ones share logarithmic buckets.

    Computed in float32 in this order, with correctly rounded logarithms, so that roundings equal those of the published
    buffers on any machine. (For some unpublished sizes the bucket at 1023 would be outside the table; it is clamped.)
    NumPy's arrays are real ones while torch traces or exports the network, so that they may be kept.
    """
    distance, middle = np.arange(-MAX_DISTANCE, MAX_DISTANCE + 1), buckets // 2
    bucket = distance
    if middle < MAX_DISTANCE:
        ratio = np.abs(distance).clip(min=middle).astype(np.float32) / np.float32(middle)
        logs = np.log(ratio.astype(np.float64)).astype(np.float32)
        far = np.ceil(logs / np.float32(math.log(MAX_DISTANCE / middle)) * np.float32(middle - 1)).astype(np.int64)
        bucket = np.where(np.abs(distance) <= middle, distance, np.sign(distance) * (far + middle))
    rows: np.ndarray[tuple[int], np.dtype[np.int64]] = bucket.clip(1 - buckets, buckets - 1) + buckets - 1
    return rows
