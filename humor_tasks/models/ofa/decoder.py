"""OFA's decoder: all positions at once, or one position at a time with cached keys and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.attention import CrossLayer, masked
from humor_tasks.models.ofa.cache import Cache
from humor_tasks.models.ofa.config import OfaConfig
from humor_tasks.models.ofa.encoder import Encoded, tables
from humor_tasks.models.ofa.few_rows import FewRowsLinear
from humor_tasks.models.ofa.places import eights
from humor_tasks.models.ofa.positions import CODE_FILL, code_ids, image_index, position_bias, table_bias, text_index

SCORED = 256  # positions whose logits `loglikelihoods` holds at a time


@dataclass(frozen=True)
class Biases:
    """The additive attention biases of L positions, including the causal mask."""

    own: torch.Tensor
    """[layers, 1 or B, heads, L, L]."""
    cross: torch.Tensor
    """[1 or B, heads, L, S], of every layer."""


class Decoder(nn.Module):
    """Tokens so far and the encoder's states -> logits of the next token at each position."""

    def __init__(self, config: OfaConfig, embed_tokens: nn.Embedding) -> None:
        super().__init__()
        d, heads = config.d_model, config.decoder_attention_heads
        self.config = config
        self.embed_tokens = embed_tokens
        self.layernorm_embedding = nn.LayerNorm(d) if config.layernorm_embedding else nn.Identity()
        self.code_layernorm_embedding = nn.LayerNorm(d) if config.code_layernorm_embedding else None
        # Without a norm for tokens the reference applies none to image codes either; the weights are in the file.
        self.norms_codes = config.layernorm_embedding and config.code_layernorm_embedding
        self.embed_positions = nn.Embedding(config.max_position_embeddings + 2, d)
        self.embed_image_positions = nn.Embedding(config.image_bucket_size**2 + 1, d)
        self.pos_ln, self.image_pos_ln = nn.LayerNorm(d), nn.LayerNorm(d)
        self.self_pos_q_linear, self.self_pos_k_linear = nn.Linear(d, d), nn.Linear(d, d)
        self.cross_pos_q_linear, self.cross_pos_k_linear = nn.Linear(d, d), nn.Linear(d, d)
        self.layers: Any = nn.ModuleList(
            CrossLayer(d, heads, config.decoder_ffn_dim, config.decoder_normalize_before, config.normformer)
            for _ in range(config.decoder_layers)
        )
        self.layer_norm = nn.LayerNorm(d) if config.decoder_normalize_before else nn.Identity()
        self.output_projection = FewRowsLinear(d, config.vocab_size, bias=False)
        self.token_rel_pos_table_list, self.image_rel_pos_table_list = tables(config, config.decoder_layers, heads)
        self.scale = d**0.5 if config.scale_embedding else 1.0

    def forward(
        self,
        ids: torch.Tensor,
        encoded: Encoded,
        attention_mask: torch.Tensor | None = None,
        code_masks: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits [B, L, V] of ids [B, L].

        attention_mask [B, L]: 0 for tokens that no position may attend to; padding is not masked by itself. code_masks
        [B]: true for rows of image codes, which have image positions.
        """
        biases = self.biases(ids.shape[1], encoded, code_masks)
        unattended = None if attention_mask is None else attention_mask[:, None, None, :] == 0
        cross = _padded(biases.cross, encoded.padding)
        x = self._tokens(ids, code_masks)
        for layer, own in zip(self.layers, biases.own, strict=True):
            x = layer.attend(x, own if unattended is None else masked(own, unattended))
            x = layer.feed_forward(layer.cross_attend(x, cross, layer.cross_attn.pair(encoded.states)))
        logits: torch.Tensor = self.output_projection(self.layer_norm(x))
        return logits

    def scores(self, ids: torch.Tensor, encoded: Encoded) -> torch.Tensor:
        """Logits [B, k, L, V] of k continuations ids [B, k, L] of each input, as `forward` gives for one.

        The continuations of an input are queries to one shared copy of its keys and values. Shorter ones are filled on
        the right with any token; no position attends to a later one.
        """
        logits: torch.Tensor = self.output_projection(self._continued(ids, encoded))
        return logits

    def loglikelihoods(
        self, ids: torch.Tensor, wanted: torch.Tensor, encoded: Encoded
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Of the token `wanted` [B, k, L] after each position of ids [B, k, L]: its log-probability in float32, and
        whether it is the likeliest token.

        The logits exist for a limited number of positions at a time.
        """
        likely, first = [], []
        states = self._continued(ids, encoded).flatten(0, 2)
        for part, tokens in zip(torch.split(states, SCORED), torch.split(wanted.flatten(), SCORED), strict=True):
            logs = self.output_projection(part).float().log_softmax(1)
            likely.append(logs.gather(1, tokens[:, None])[:, 0])
            first.append(logs.argmax(1) == tokens)
        return torch.cat(likely).view(wanted.shape), torch.cat(first).view(wanted.shape)

    def _continued(self, ids: torch.Tensor, encoded: Encoded) -> torch.Tensor:
        n, k, length = ids.shape
        biases = self.biases(length, encoded)
        cross = _padded(biases.cross, encoded.padding).repeat(1, 1, k, 1)
        x = self._tokens(ids.flatten(0, 1), None)
        for layer, own in zip(self.layers, biases.own, strict=True):
            x = layer.attend(x, own).view(n, k * length, -1)
            x = layer.cross_attend(x, cross, layer.cross_attn.pair(encoded.states))
            x = layer.feed_forward(x).view(n * k, length, -1)
        states: torch.Tensor = self.layer_norm(x)
        return states.view(n, k, length, -1)

    def cache(
        self,
        encoded: Encoded,
        length: int,
        beams: int,
        code_masks: torch.Tensor | None = None,
        own: torch.Tensor | None = None,
    ) -> Cache:
        """A cache for texts of at most `length` tokens, with everything computed that does not depend on them.

        own: the memory of a former cache of this shape, which is overwritten.
        """
        biases, states, config = self.biases(length, encoded, code_masks), encoded.states, self.config
        more, heads = eights(length) - length, config.decoder_attention_heads
        n, most, size = len(states), length + more, config.d_model // heads
        return Cache(
            own=states.new_zeros(config.decoder_layers, 2, n, heads, most, beams, size) if own is None else own.zero_(),
            slots=torch.zeros(n, beams, most, dtype=torch.long, device=states.device),
            at=torch.zeros(1, dtype=torch.long, device=states.device),
            # The positions that fill up to a multiple of eight are future ones to all others.
            bias=functional.pad(biases.own, (0, more, 0, more), value=torch.finfo(states.dtype).min / 2),
            cross=functional.pad(biases.cross, (0, 0, 0, more)),
            padding=encoded.padding,
            codes=None if code_masks is None else code_masks.to(states.device),
            # A head's keys together are read faster, at every step.
            pairs=[(k.contiguous(), v.contiguous()) for k, v in (x.cross_attn.pair(states) for x in self.layers)],
        )

    def step(self, ids: torch.Tensor, cache: Cache) -> torch.Tensor:
        """Logits [n, k, V] of the next token, given each beam's last token [n, k]; the cache advances by a position."""
        logits = self.step_at(ids, cache, cache.width)
        cache.advance()
        return logits

    def step_at(self, ids: torch.Tensor, cache: Cache, width: int) -> torch.Tensor:
        """`step` for the keys of the first `width` positions, without advancing.

        All shapes follow from the arguments' shapes and `width`, the host reads no tensor, and a repetition changes
        nothing, so that the step can be captured and exported. The beams of an input are queries to one shared copy of
        its keys and values.
        """
        beams = ids.shape[1]
        biases, cross, puts = cache.biases(beams, width), cache.crossed(), cache.layers(beams, width)
        x = self._tokens(ids, cache.codes)
        for layer, bias, put, pair in zip(self.layers, biases, puts, cache.pairs, strict=True):
            x = layer.feed_forward(layer.cross_attend(layer.attend(x, bias, put), cross, pair))
        logits: torch.Tensor = self.output_projection(self.layer_norm(x))
        return logits

    def biases(self, length: int, encoded: Encoded, code_masks: torch.Tensor | None = None) -> Biases:
        """The biases of the first `length` positions, for text rows and, where `code_masks` is true, image codes."""
        device = encoded.states.device
        some, every = _kinds(code_masks)
        if not some:
            own, cross = self._text_biases(length, encoded)
        else:
            own, cross = self._code_biases(length, encoded)
        if code_masks is not None and some and not every:
            rows = code_masks.to(device)[:, None, None, None]
            pair = zip((own, cross), self._text_biases(length, encoded), strict=True)
            own, cross = (torch.where(rows, code, text) for code, text in pair)
        future = torch.ones(length, length, dtype=torch.bool, device=device).triu(1)
        return Biases(masked(own, future), cross)

    def _text_biases(self, length: int, encoded: Encoded) -> tuple[torch.Tensor, torch.Tensor]:
        most = self.config.most_tokens
        if length > most:
            raise BadInput(f"ofa: {length} tokens to generate; there are {most} positions.")
        index = text_index(length, self.config.token_bucket_size, encoded.states.device)
        own, cross = self._absolute(self.pos_ln(self.embed_positions.weight[:length])[None], encoded)
        return torch.stack([own + table_bias(table.weight, index) for table in self.token_rel_pos_table_list]), cross

    def _code_biases(self, length: int, encoded: Encoded) -> tuple[torch.Tensor, torch.Tensor]:
        side, window = self.config.image_bucket_size, self.config.code_side
        ids = code_ids(window, side, encoded.states.device)
        if length > len(ids) or _highest_code(length, window, side) > side * side:
            raise BadInput(f"ofa: {length} image codes; the table of {side} x {side} positions has too few.")
        ids = ids[:length]
        own, cross = self._absolute(self.image_pos_ln(self.embed_image_positions(ids))[None], encoded)
        index = image_index(ids, side)
        return torch.stack([own + table_bias(table.weight, index) for table in self.image_rel_pos_table_list]), cross

    def _absolute(self, place: torch.Tensor, encoded: Encoded) -> tuple[torch.Tensor, torch.Tensor]:
        heads, factor = self.config.decoder_attention_heads, self.config.attn_scale_factor
        own = position_bias(self.self_pos_q_linear, self.self_pos_k_linear, place, place, heads, factor)
        # The encoder has already normalised its positions.
        to_query, to_key = self.cross_pos_q_linear, self.cross_pos_k_linear
        return own, position_bias(to_query, to_key, place, encoded.positions, heads, factor)

    def _tokens(self, ids: torch.Tensor, code_masks: torch.Tensor | None) -> torch.Tensor:
        x = self.embed_tokens(ids) * self.scale
        text: torch.Tensor = self.layernorm_embedding(x)
        if code_masks is None or self.code_layernorm_embedding is None or not self.norms_codes:
            return text
        return torch.where(code_masks.to(x.device)[:, None, None], self.code_layernorm_embedding(x), text)


def _highest_code(length: int, window: int, side: int) -> int:
    """The maximum of the first `length` ids of `code_ids`, without waiting for a GPU."""
    count = min(length - 1, window**2)
    if count <= 0:
        return 0
    y, x = divmod(count - 1, window)
    highest = max(y * side + x + 1, (y - 1) * side + window if y else 0)
    return max(highest, CODE_FILL) if length - 1 > window**2 else highest


def _kinds(code_masks: torch.Tensor | None) -> tuple[bool, bool]:
    """Whether there may be rows of image codes, and whether all rows are.

    The host reads a mask on the CPU only: reading it on a GPU would wait for all work queued before, so that the biases
    of both kinds are computed there.
    """
    if code_masks is None or code_masks.device.type != "cpu":
        return code_masks is not None, False
    return bool(code_masks.any()), bool(code_masks.all())


def _padded(bias: torch.Tensor, padding: torch.Tensor | None) -> torch.Tensor:
    return bias if padding is None else masked(bias, padding[:, None, None, :])
