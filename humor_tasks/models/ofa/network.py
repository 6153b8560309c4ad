"""OFA's decoder with its cache, and the complete network with the parameter names of the published checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.config import OfaConfig
from humor_tasks.models.ofa.encoder import Encoded, Encoder, tables
from humor_tasks.models.ofa.layers import (
    CrossLayer,
    FewRowsLinear,
    KeyValues,
    code_ids,
    eights,
    image_index,
    masked,
    position_bias,
    table_bias,
    text_index,
)

# ---- the cache of one decoding step: tensors whose shapes do not change ---------------------------


def _without_padding(bias: torch.Tensor, padding: torch.Tensor | None) -> torch.Tensor:
    return bias if padding is None else masked(bias, padding[:, None, None, :])


@dataclass
class Cache:
    """What `Decoder.step` reads and writes for n inputs with at most k beams and P positions.

    Keys and values stay in the slot of the beam that computed them. Each beam stores the slot of its ancestor at each
    position, and the other slots are masked for it. Reordering beams therefore moves a few indices instead of all keys
    and values. Every change is in place, as a captured CUDA graph requires.
    """

    tokens: torch.Tensor
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
        tokens = self.tokens.flatten(0, 1)  # one operation divides it for all layers
        written, read = tokens[:, :, :, :, :beams].unbind(), tokens[:, :, :, :width].flatten(3, 4).unbind()

        def put(pair: KeyValues, layer: int) -> KeyValues:
            for i, new in enumerate(pair, 2 * layer):
                written[i].index_copy_(2, self.at, new.unsqueeze(2))
            return read[2 * layer], read[2 * layer + 1]

        return [partial(put, layer=layer) for layer in range(len(self.pairs))]

    def biases(self, beams: int, width: int) -> torch.Tensor:
        """The biases of the current position, [layers, n, heads, beams, width * k]; other beams' slots are masked."""
        n, slots, _ = self.slots.shape
        numbers = torch.arange(slots, device=self.slots.device)
        self.slots[:, :beams].index_copy_(2, self.at, numbers[:beams, None].expand(n, -1, 1))
        others = self.slots[:, :beams, :width, None] != numbers
        bias = self.bias.index_select(3, self.at)[..., :width, None].expand(*[-1] * 5, slots).flatten(4)
        return masked(bias, others.flatten(2)[:, None])

    def crossed(self) -> torch.Tensor:
        """The biases of the encoder's states at the current position, [1 or n, heads, 1, S]."""
        return _without_padding(self.cross.index_select(2, self.at), self.padding)

    def advance(self) -> None:
        """Go to the next position."""
        self.at += 1
        self.written += 1

    def pick(self, beams: torch.Tensor) -> None:
        """Select the beams [n, k] to continue with."""
        self.slots.copy_(self.slots.gather(1, beams[:, :, None].expand(-1, -1, self.slots.shape[2])))

    def refill(self, other: Cache) -> None:
        """Take the contents of another cache of the same shape, whose `tokens` may be this cache's, in this memory."""
        for tensor, new in zip(self._tensors(), other._tensors(), strict=True):
            tensor.copy_(new)
        self.written = other.written

    def _tensors(self) -> list[torch.Tensor]:
        single = [self.tokens, self.slots, self.at, self.bias, self.cross, self.padding, self.codes]
        return [tensor for tensor in (*single, *(part for pair in self.pairs for part in pair)) if tensor is not None]

    def rows(self, inputs: torch.Tensor) -> Cache:
        """A cache of the inputs with these indices."""

        def some(tensor: torch.Tensor, dim: int) -> torch.Tensor:
            return tensor if tensor.shape[dim] == 1 < len(self.slots) else tensor.index_select(dim, inputs)

        return Cache(
            self.tokens.index_select(2, inputs),
            self.slots[inputs],
            self.at,
            some(self.bias, 1),
            some(self.cross, 0),
            None if self.padding is None else self.padding[inputs],
            None if self.codes is None else self.codes[inputs],
            [(keys[inputs], values[inputs]) for keys, values in self.pairs],
            self.written,
        )


# ---- the decoder: all positions at once, or one at a time with cached keys and values -------------

SCORED = 256  # positions whose logits `loglikelihoods` holds at a time


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
        biases, cross = self.biases(ids.shape[1], encoded, code_masks)
        if attention_mask is not None:
            biases = masked(biases, attention_mask[:, None, None, :] == 0)
        cross = _without_padding(cross, encoded.padding)
        x = self._tokens(ids, code_masks)
        for layer, bias in zip(self.layers, biases, strict=True):
            x = layer.attend(x, bias)
            x = layer.feed_forward(layer.cross_attend(x, cross, layer.cross_attn.pair(encoded.states)))
        logits: torch.Tensor = self.output_projection(self.layer_norm(x))
        return logits

    def continued(self, ids: torch.Tensor, encoded: Encoded) -> torch.Tensor:
        """States [B, k, L, d] before the output projection, of k continuations ids [B, k, L] of each input.

        The continuations of an input are queries to one shared copy of its keys and values. Shorter ones are filled on
        the right with any token; no position attends to a later one.
        """
        n, k, length = ids.shape
        biases, cross = self.biases(length, encoded)
        cross = _without_padding(cross, encoded.padding).repeat(1, 1, k, 1)
        x = self._tokens(ids.flatten(0, 1), None)
        for layer, bias in zip(self.layers, biases, strict=True):
            x = layer.attend(x, bias).view(n, k * length, -1)
            x = layer.cross_attend(x, cross, layer.cross_attn.pair(encoded.states))
            x = layer.feed_forward(x).view(n * k, length, -1)
        states: torch.Tensor = self.layer_norm(x)
        return states.view(n, k, length, -1)

    def loglikelihoods(
        self, ids: torch.Tensor, targets: torch.Tensor, encoded: Encoded
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """For the token in `targets` [B, k, L] after each position of ids [B, k, L]: its log-probability in float32,
        and whether it is the likeliest token.

        The logits exist for a limited number of positions at a time.
        """
        likely, first = [], []
        states = self.continued(ids, encoded).flatten(0, 2)
        for part, tokens in zip(torch.split(states, SCORED), torch.split(targets.flatten(), SCORED), strict=True):
            logs = self.output_projection(part).float().log_softmax(1)
            likely.append(logs.gather(1, tokens[:, None])[:, 0])
            first.append(logs.argmax(1) == tokens)
        return torch.cat(likely).view(targets.shape), torch.cat(first).view(targets.shape)

    def cache(
        self,
        encoded: Encoded,
        length: int,
        beams: int,
        code_masks: torch.Tensor | None = None,
        tokens: torch.Tensor | None = None,
    ) -> Cache:
        """A cache for texts of at most `length` tokens, with everything computed that does not depend on them.

        tokens: the memory of a former cache of this shape, which is overwritten.
        """
        biases, cross = self.biases(length, encoded, code_masks)
        states, config, heads = encoded.states, self.config, self.config.decoder_attention_heads
        n, most, size = len(states), eights(length), config.d_model // heads
        more = most - length
        if tokens is None:
            tokens = states.new_empty(config.decoder_layers, 2, n, heads, most, beams, size)
        return Cache(
            tokens=tokens.zero_(),
            slots=torch.zeros(n, beams, most, dtype=torch.long, device=states.device),
            at=torch.zeros(1, dtype=torch.long, device=states.device),
            # The positions that fill up to a multiple of eight are future ones to all others.
            bias=functional.pad(biases, (0, more, 0, more), value=torch.finfo(states.dtype).min / 2),
            cross=functional.pad(cross, (0, 0, 0, more)),
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

    def biases(
        self, length: int, encoded: Encoded, code_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attention biases of L = `length` positions of text and, where `code_masks` is true, of image codes.

        Between tokens, including the causal mask, [layers, 1 or B, heads, L, L]; and of the encoder's states in every
        layer, [1 or B, heads, L, S].
        """
        device = encoded.states.device
        some = every = False
        if code_masks is not None:
            # The host reads a mask on the CPU only. On a GPU, reading would wait for all work queued before, so that
            # the biases of both kinds are computed.
            on_cpu = code_masks.device.type == "cpu"
            some, every = not on_cpu or bool(code_masks.any()), on_cpu and bool(code_masks.all())
        biases, cross = self._code_biases(length, encoded) if some else self._text_biases(length, encoded)
        if code_masks is not None and some and not every:
            rows = code_masks.to(device)[:, None, None, None]
            text_biases, text_cross = self._text_biases(length, encoded)
            biases, cross = torch.where(rows, biases, text_biases), torch.where(rows, cross, text_cross)
        future = torch.ones(length, length, dtype=torch.bool, device=device).triu(1)
        return masked(biases, future), cross

    def _text_biases(self, length: int, encoded: Encoded) -> tuple[torch.Tensor, torch.Tensor]:
        most = self.config.most_tokens
        if length > most:
            raise BadInput(f"ofa: {length} tokens to generate; there are {most} positions.")
        index = text_index(length, self.config.token_bucket_size, encoded.states.device)
        shared, cross = self._absolute(self.pos_ln(self.embed_positions.weight[:length])[None], encoded)
        tables = self.token_rel_pos_table_list
        return torch.stack([shared + table_bias(table.weight, index) for table in tables]), cross

    def _code_biases(self, length: int, encoded: Encoded) -> tuple[torch.Tensor, torch.Tensor]:
        side, window = self.config.image_bucket_size, self.config.code_side
        known = code_ids(window, side)
        if length > len(known) or known[:length].max() > side * side:
            raise BadInput(f"ofa: {length} image codes; the table of {side} x {side} positions has too few.")
        ids = torch.tensor(known[:length], device=encoded.states.device)
        shared, cross = self._absolute(self.image_pos_ln(self.embed_image_positions(ids))[None], encoded)
        index, tables = image_index(ids, side), self.image_rel_pos_table_list
        return torch.stack([shared + table_bias(table.weight, index) for table in tables]), cross

    def _absolute(self, place: torch.Tensor, encoded: Encoded) -> tuple[torch.Tensor, torch.Tensor]:
        heads, factor = self.config.decoder_attention_heads, self.config.attn_scale_factor
        to_query, to_key = self.cross_pos_q_linear, self.cross_pos_k_linear
        return (
            position_bias(self.self_pos_q_linear, self.self_pos_k_linear, place, place, heads, factor),
            # The encoder has already normalised its positions.
            position_bias(to_query, to_key, place, encoded.positions, heads, factor),
        )

    def _tokens(self, ids: torch.Tensor, code_masks: torch.Tensor | None) -> torch.Tensor:
        x = self.embed_tokens(ids) * self.scale
        text: torch.Tensor = self.layernorm_embedding(x)
        if code_masks is None or self.code_layernorm_embedding is None or not self.norms_codes:
            return text
        return torch.where(code_masks.to(x.device)[:, None, None], self.code_layernorm_embedding(x), text)


# ---- the network ----------------------------------------------------------------------------------


class OfaNetwork(nn.Module):
    """Encoder and decoder with a shared token embedding, randomly initialised; `model.py` loads trained weights."""

    def __init__(self, config: OfaConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, self.encoder.embed_tokens)
        self.tie()
        self._initialise()

    def forward(
        self,
        input_ids: torch.Tensor | None,
        patch_images: torch.Tensor | None,
        decoder_input_ids: torch.Tensor,
        patch_masks: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        code_masks: torch.Tensor | None = None,
        features: torch.Tensor | None = None,
        padded: bool | None = None,
    ) -> torch.Tensor:
        """Logits [B, L, V]: position i predicts the token after decoder_input_ids[:, i]. See encoder and decoder."""
        encoded = self.encoder(input_ids, patch_images, patch_masks, features, padded=padded)
        logits: torch.Tensor = self.decoder(decoder_input_ids, encoded, decoder_attention_mask, code_masks)
        return logits

    def tie(self) -> None:
        """Share the token embedding, and use it as output projection if the configuration says so."""
        self.decoder.embed_tokens = self.encoder.embed_tokens
        if self.config.share_decoder_input_output_embed:
            self.decoder.output_projection.weight = self.encoder.embed_tokens.weight

    def _initialise(self) -> None:
        """Initialise embeddings with a scale that depends on the width, and relative-position biases with zeros."""
        for name, module in self.named_modules():
            if isinstance(module, nn.Embedding):
                if "rel_pos_table" in name:
                    nn.init.zeros_(module.weight)
                else:
                    nn.init.normal_(module.weight, std=self.config.d_model**-0.5)
        with torch.no_grad():
            self.encoder.embed_tokens.weight[1] = 0
