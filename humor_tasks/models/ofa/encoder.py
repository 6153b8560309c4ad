"""OFA's encoder: the patches of a picture, followed by the tokens of a text, as one sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.attention import Layer, masked
from humor_tasks.models.ofa.backbone import Backbone
from humor_tasks.models.ofa.config import LAYERS, PAD, OfaConfig
from humor_tasks.models.ofa.positions import image_index, patch_ids, position_bias, table_bias, text_index


@dataclass(frozen=True)
class Encoded:
    """The encoder's output for B inputs with S positions each."""

    states: torch.Tensor
    """[B, S, d]; values at padded positions are undefined."""
    positions: torch.Tensor
    """[1, S, d], normalised position vectors, the same for all inputs of a batch."""
    padding: torch.Tensor | None
    """[B, S], true at padded positions; None where there are none."""

    def rows(self, index: torch.Tensor) -> Encoded:
        """The inputs with these indices, in this order."""
        padding = None if self.padding is None else self.padding[index]
        return Encoded(self.states[index], self.positions, padding)


class Encoder(nn.Module):
    """Patches and tokens -> states. Positions are not added to the vectors; they are attention biases."""

    def __init__(self, config: OfaConfig) -> None:
        super().__init__()
        d, heads = config.d_model, config.encoder_attention_heads
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, d, padding_idx=PAD)
        self.type_embedding = nn.Embedding(2, d) if config.add_type_embedding else None
        self.embed_images = Backbone(LAYERS[config.resnet_type], config.resnet_base_width)
        self.image_proj = nn.Linear(self.embed_images.channels, d)
        self.layernorm_embedding = nn.LayerNorm(d) if config.layernorm_embedding else nn.Identity()
        self.patch_layernorm_embedding = nn.LayerNorm(d) if config.patch_layernorm_embedding else nn.Identity()
        self.embed_positions = nn.Embedding(config.max_position_embeddings + 2, d)
        self.embed_image_positions = nn.Embedding(config.image_bucket_size**2 + 1, d)
        self.pos_ln, self.image_pos_ln = nn.LayerNorm(d), nn.LayerNorm(d)
        self.pos_q_linear, self.pos_k_linear = nn.Linear(d, d), nn.Linear(d, d)
        self.layers: Any = nn.ModuleList(
            Layer(d, heads, config.encoder_ffn_dim, config.encoder_normalize_before, config.normformer)
            for _ in range(config.encoder_layers)
        )
        self.layer_norm = nn.LayerNorm(d) if config.encoder_normalize_before else nn.Identity()
        self.token_rel_pos_table_list, self.image_rel_pos_table_list = tables(config, config.encoder_layers, heads)
        self.scale = d**0.5 if config.scale_embedding else 1.0

    def forward(
        self,
        input_ids: torch.Tensor | None,
        patch_images: torch.Tensor | None = None,
        patch_masks: torch.Tensor | None = None,
        features: torch.Tensor | None = None,
        owners: torch.Tensor | None = None,
    ) -> Encoded:
        """Encode input_ids [B, T], padded on the right, and patch_images [B, 3, H, W] in -1..1; one of them may be
        None.

        features [P, C, h, w]: what `features` returned for the pictures, instead of them. owners [B]: the picture of
        each text, where several texts share one; otherwise P is B.

        patch_masks [B]: where false, the row's picture is a placeholder and is masked like padding. (The published
        training code does this; its transformers fork ignores the mask.) Raises BadInput for wrong shapes and too long
        inputs.
        """
        vectors, positions, masks = [], [], []
        grid, words = (0, 0), 0
        if patch_images is not None:
            features = self.features(patch_images)
        if features is not None:
            grid = (features.shape[2], features.shape[3])
            patches = self._patches(features)
            vectors.append(patches if owners is None else patches[owners])
            ids = patch_ids(*grid, self.config.image_bucket_size, features.device)
            positions.append(self.image_pos_ln(self.embed_image_positions(ids)))
            n = len(vectors[0])
            seen = features.new_ones(n, dtype=torch.bool) if patch_masks is None else patch_masks.bool()
            masks.append(~seen[:, None].expand(-1, len(ids)))
        if input_ids is not None:
            self._check(input_ids, len(vectors[0]) if vectors else None)
            words = input_ids.shape[1]
            vectors.append(self._tokens(input_ids))
            positions.append(self.pos_ln(self.embed_positions.weight[:words]))
            masks.append(input_ids == PAD)
        if not vectors:
            raise BadInput("ofa: give a picture, a text or both.")
        padding = torch.cat(masks, 1)
        place = torch.cat(positions)[None]
        return self._run_layers(torch.cat(vectors, 1), place, padding if bool(padding.any()) else None, grid, words)

    def _run_layers(
        self,
        x: torch.Tensor,
        place: torch.Tensor,
        padding: torch.Tensor | None,
        grid: tuple[int, int],
        words: int,
    ) -> Encoded:
        config, patches = self.config, grid[0] * grid[1]
        if padding is not None:
            x = x.masked_fill(padding[:, :, None], 0)
        heads, factor = config.encoder_attention_heads, config.attn_scale_factor
        shared = position_bias(self.pos_q_linear, self.pos_k_linear, place, place, heads, factor)
        near = text_index(words, config.token_bucket_size, x.device)
        seen = image_index(patch_ids(*grid, config.image_bucket_size, x.device), config.image_bucket_size)
        for i, layer in enumerate(self.layers):
            bias = shared.clone()
            bias[0, :, :patches, :patches] += table_bias(self.image_rel_pos_table_list[i].weight, seen)
            bias[0, :, patches:, patches:] += table_bias(self.token_rel_pos_table_list[i].weight, near)
            if padding is not None:
                bias = masked(bias, padding[:, None, None, :])
            x = layer.feed_forward(layer.attend(x, bias))
        return Encoded(self.layer_norm(x), place, padding)

    def features(self, images: torch.Tensor) -> torch.Tensor:
        """The backbone's features [B, C, h, w] of pictures [B, 3, H, W]: all that does not depend on the text."""
        if images.dim() != 4 or images.shape[1] != 3 or not images.numel():
            raise BadInput(f"ofa: pictures must be [B, 3, H, W], not {list(images.shape)}.")
        features: torch.Tensor = self.embed_images(images.to(self.image_proj.weight.dtype))
        side = self.config.image_bucket_size
        if max(features.shape[2:]) > side:
            raise BadInput(
                f"ofa: pictures of {images.shape[3]} x {images.shape[2]} pixels; at most {16 * side} per side."
            )
        return features

    def _patches(self, features: torch.Tensor) -> torch.Tensor:
        x = self.image_proj(features.flatten(2).transpose(1, 2)) * self.scale
        if self.type_embedding is not None:
            x = x + self.type_embedding.weight[1]
        return torch.as_tensor(self.patch_layernorm_embedding(x))

    def _tokens(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed_tokens(ids) * self.scale
        if self.type_embedding is not None:
            x = x + self.type_embedding.weight[0]
        return torch.as_tensor(self.layernorm_embedding(x))

    def _check(self, ids: torch.Tensor, pictures: int | None) -> None:
        if ids.dim() != 2:
            raise BadInput(f"ofa: token ids must be [B, T], not {list(ids.shape)}.")
        if pictures is not None and pictures != len(ids):
            raise BadInput(f"ofa: {pictures} pictures and {len(ids)} texts; give one text per picture.")
        if ids.shape[1] > self.config.most_tokens:
            raise BadInput(f"ofa: a text of {ids.shape[1]} tokens; there are {self.config.most_tokens} positions.")


def tables(config: OfaConfig, layers: int, heads: int) -> tuple[Any, Any]:
    """The embeddings of relative positions, one per layer: between tokens, and between patches."""
    text, side = 2 * config.token_bucket_size - 1, 2 * config.image_bucket_size - 1
    return (
        nn.ModuleList(nn.Embedding(text, heads) for _ in range(layers)),
        nn.ModuleList(nn.Embedding(side * side + 3, heads) for _ in range(layers)),
    )
