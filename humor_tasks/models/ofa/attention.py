"""OFA's layers: attention with an additive bias and a scale per head, and the feed-forward network."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from humor_tasks.models.ofa.few_rows import FewRowsLinear

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
        found = functional.scaled_dot_product_attention(q, keys, values, attn_mask=bias, scale=self.scale)
        found = found.transpose(1, 2) * self.c_attn[:, None]
        out: torch.Tensor = self.out_proj(found.reshape(x.shape))
        return out

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, x.shape[2] // self.heads).transpose(1, 2)


class Layer(nn.Module):
    """Self-attention and a feed-forward network with their norms, shared by encoder and decoder layers.

    first: pre-norm (otherwise post-norm). more: the additional norms of NormFormer, after attention and inside the
    feed-forward network.
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
            found: torch.Tensor = self.self_attn_mid_layer_norm(self.self_attn(y, bias, key_values))
            return found

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
