"""OFA's encoder: the patches of a picture, followed by the tokens of a text, as one sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import relu

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.config import LAYERS, PAD, OfaConfig
from humor_tasks.models.ofa.layers import (
    Grid,
    KnownPlaces,
    Layer,
    Places,
    eights,
    image_index,
    masked,
    patch_ids,
    position_bias,
    text_index,
)

# ---- the backbone --------------------------------------------------------------------------------
# A ResNet without its fourth stage, with stride 16. Parameters have torchvision's names.

EXPANSION = 4


class Bottleneck(nn.Module):
    """A bottleneck block: 1x1, 3x3 (with the stride) and 1x1 convolution to four times the planes, with a shortcut."""

    def __init__(self, inputs: int, planes: int, stride: int, first: bool) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, EXPANSION * planes, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(EXPANSION * planes)
        self.downsample: nn.Module | None = None
        if first:
            shortcut = nn.Conv2d(inputs, EXPANSION * planes, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(EXPANSION * planes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B, inputs, h, w] -> [B, 4 * planes, h / stride, w / stride]."""
        shortcut = x if self.downsample is None else self.downsample(x)
        y = relu(self.bn1(self.conv1(x)), inplace=True)
        y = relu(self.bn2(self.conv2(y)), inplace=True)
        return relu(self.bn3(self.conv3(y)) + shortcut, inplace=True)


class Backbone(nn.Module):
    """Pictures [B, 3, H, W] -> features [B, 16 * width, ceil(H / 16), ceil(W / 16)].

    BatchNorm uses its stored statistics in training too, because fine-tuning batches are too small to estimate them.
    """

    def __init__(self, layers: Sequence[int], width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inputs, self.stages = width, ("layer1", "layer2", "layer3")
        for stage, blocks in enumerate(layers):
            planes = width * 2**stage
            built = []
            for block in range(blocks):
                built.append(Bottleneck(inputs, planes, 2 if stage and not block else 1, first=not block))
                inputs = EXPANSION * planes
            self.add_module(self.stages[stage], nn.Sequential(*built))
        self.channels = inputs
        super().train(False)

    def train(self, mode: bool = True) -> Backbone:
        """No effect: the backbone stays in evaluation mode."""
        super().train(False)
        return self

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """See the class."""
        x = self.maxpool(relu(self.bn1(self.conv1(images)), inplace=True))
        for stage in self.stages:
            x = getattr(self, stage)(x)
        features: torch.Tensor = x
        return features


# ---- the encoder ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Encoded:
    """The encoder's output for B inputs with S positions each."""

    states: torch.Tensor
    """[B, S, d]; values at padded positions are undefined."""
    positions: torch.Tensor
    """[1, S, d], normalised position vectors, the same for all inputs of a batch."""
    padding: torch.Tensor | None
    """[B, S], true at padded positions; None without padding."""

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
        padded: bool | None = None,
        places: Places | None = None,
    ) -> Encoded:
        """Encode input_ids [B, T], padded on the right, and patch_images [B, 3, H, W] in -1..1; one of them may be
        None.

        features [P, C, h, w]: what `features` returned for the pictures, instead of them. owners [B]: the picture of
        each text, where several texts share one; otherwise P is B, or 1 for a picture that all texts share.

        patch_masks [B]: where false, the row's picture is a placeholder and is masked like padding. (The published
        training code does this; its transformers fork ignores the mask.)

        padded: whether any position is padding; None looks at tensors on the CPU, and takes padding for possible on
        other devices, where looking would wait for all work queued before. places: from `places`, for this grid and at
        least so many tokens; None computes them.

        Raises BadInput for wrong shapes and too long inputs.
        """
        vectors = []
        grid, words = (0, 0), 0
        if patch_images is not None:
            features = self.features(patch_images)
        if features is not None:
            grid = (features.shape[2], features.shape[3])
            patches = self._patches(features)
            if owners is not None:
                patches = patches[owners]
            elif patch_images is None and input_ids is not None and len(patches) == 1:
                patches = patches.expand(len(input_ids), -1, -1)
            vectors.append(patches)
        if input_ids is not None:
            self._check(input_ids, len(vectors[0]) if vectors else None)
            words = input_ids.shape[1]
            vectors.append(self._tokens(input_ids))
        if not vectors:
            raise BadInput("ofa: give a picture, a text or both.")
        x = torch.cat(vectors, 1)
        hidden = None if patch_masks is None or features is None else ~patch_masks.bool()
        if padded is None:
            padded = _may_hold(None if input_ids is None else input_ids == PAD) or _may_hold(hidden)
        padding = _padding(x, grid[0] * grid[1], input_ids, hidden) if padded else None
        return self._run_layers(x, padding, places or self.places(grid, words))

    def _run_layers(self, x: torch.Tensor, padding: torch.Tensor | None, places: Places) -> Encoded:
        length, lowest = x.shape[1], None
        if padding is not None:
            x = x.masked_fill(padding[:, :, None], 0)
            lowest = masked(x.new_zeros(()), nn.functional.pad(padding, (0, eights(length) - length))[:, None, None])
        for i, layer in enumerate(self.layers):
            bias = places.bias(i, length)
            if lowest is not None:
                bias = bias + lowest  # in one pass; filling would copy first
            x = layer.feed_forward(layer.attend(x, bias[..., :length]))
        return Encoded(self.layer_norm(x), places.vectors[:, :length], padding)

    def places(self, grid: Grid, words: int, keep: bool = False) -> Places:
        """The positions of a grid of patches, followed by those of tokens, with the biases of all layers.

        keep: keep each layer's bias, for several passes with the same weights.
        """
        config, device = self.config, self.pos_q_linear.weight.device
        side, patches, length = config.image_bucket_size, grid[0] * grid[1], grid[0] * grid[1] + words
        rows = self.image_rel_pos_table_list[0].num_embeddings
        none = rows + self.token_rel_pos_table_list[0].num_embeddings  # between a patch and a token
        index = torch.full((length, eights(length)), none, device=device)
        vectors = []
        if patches:
            ids = patch_ids(*grid, side, device)
            vectors.append(self.image_pos_ln(self.embed_image_positions(ids)))
            index[:patches, :patches] = image_index(ids, side)
        if words:
            vectors.append(self.pos_ln(self.embed_positions.weight[:words]))
            index[patches:, patches:length] = text_index(words, config.token_bucket_size, device) + rows
        place = torch.cat(vectors)[None]
        keys = nn.functional.pad(place, (0, 0, 0, eights(length) - length))
        heads, factor = config.encoder_attention_heads, config.attn_scale_factor
        shared = position_bias(self.pos_q_linear, self.pos_k_linear, place, keys, heads, factor)
        zero = place.new_zeros(1, heads, dtype=self.image_rel_pos_table_list[0].weight.dtype)

        def table(layer: int) -> torch.Tensor:
            kinds = (self.image_rel_pos_table_list[layer].weight, self.token_rel_pos_table_list[layer].weight)
            return torch.cat([*kinds, zero])

        return Places(place, shared, index, table, keep)

    def known_places(self) -> KnownPlaces:
        """An empty store of `places`, for as long as weights are constant."""

        def size(grid: Grid, words: int) -> int:
            length, weight = grid[0] * grid[1] + words, self.pos_q_linear.weight
            biases = (len(self.layers) + 1) * self.config.encoder_attention_heads * weight.element_size()
            return length * eights(length) * (biases + 8)

        return KnownPlaces(lambda grid, words: self.places(grid, words, True), size, self.config.most_tokens)

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
        patches: torch.Tensor = self.patch_layernorm_embedding(x)
        return patches

    def _tokens(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed_tokens(ids) * self.scale
        if self.type_embedding is not None:
            x = x + self.type_embedding.weight[0]
        tokens: torch.Tensor = self.layernorm_embedding(x)
        return tokens

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


def _may_hold(mask: torch.Tensor | None) -> bool:
    """Whether any value may be true; only tensors on the CPU are read."""
    return mask is not None and (mask.device.type != "cpu" or bool(mask.any()))


def _padding(x: torch.Tensor, patches: int, ids: torch.Tensor | None, hidden: torch.Tensor | None) -> torch.Tensor:
    """The padded positions [B, S] of a batch; hidden [B]: rows whose picture is a placeholder."""
    masks = []
    if patches:
        rows = x.new_zeros(len(x), dtype=torch.bool) if hidden is None else hidden.to(x.device)
        masks.append(rows[:, None].expand(-1, patches))
    if ids is not None:
        masks.append(ids == PAD)
    return torch.cat(masks, 1)
