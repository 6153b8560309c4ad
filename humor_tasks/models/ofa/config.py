"""OFA's network configuration, as in a checkpoint's config.json. It imports no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, check_choice

BEGIN, PAD, END = 0, 1, 2
LAYERS = {
    "resnet18": (2, 2, 2),
    "resnet34": (3, 4, 6),
    "resnet50": (3, 4, 6),
    "resnet101": (3, 4, 23),
    "resnet152": (3, 8, 36),
}
"""Blocks in each of the three stages; OFA uses bottleneck blocks for the small ResNets too."""

# Fields that change the network or its tokens, with the only value supported here.
_SUPPORTED: dict[str, Any] = {
    "model_type": "ofa",
    "activation_function": "gelu",
    "entangle_position_embedding": False,
    "is_encoder_decoder": True,
    "bos_token_id": BEGIN,
    "decoder_start_token_id": BEGIN,
    "pad_token_id": PAD,
    "eos_token_id": END,
}
# Wang et al. 2022 (OFA), model card: width, layers of encoder and decoder, heads, ResNet.
_SIZES = {
    "tiny": (256, 4, 4, 4, "resnet50"),
    "medium": (512, 4, 4, 8, "resnet101"),
    "base": (768, 6, 6, 12, "resnet101"),
    "large": (1024, 12, 12, 16, "resnet152"),
    "huge": (1280, 24, 12, 16, "resnet152"),
}
SIZES = tuple(_SIZES)
_MAX_SIZE = 1_000_000  # upper limit of any size, so that products of two do not overflow in torch


@dataclass(frozen=True)
class OfaConfig:
    """One OFA network, with the field names of the published config.json.

    attn_scale_factor: for the position bias only; content attention uses 2 in every checkpoint. code_image_size: pixels
    per side of the picture that image codes represent, 8 per code. resnet_base_width: channels after the ResNet's first
    convolution, 64 in every published checkpoint.

    Raises BadInput for values of another type or range.
    """

    d_model: int
    encoder_layers: int
    decoder_layers: int
    encoder_attention_heads: int
    decoder_attention_heads: int
    encoder_ffn_dim: int
    decoder_ffn_dim: int
    resnet_type: str
    vocab_size: int = 59457
    max_position_embeddings: int = 1024
    token_bucket_size: int = 256
    image_bucket_size: int = 42
    code_image_size: int = 128
    attn_scale_factor: float = 2.0
    normformer: bool = True
    scale_embedding: bool = False
    layernorm_embedding: bool = True
    patch_layernorm_embedding: bool = True
    code_layernorm_embedding: bool = True
    add_type_embedding: bool = True
    share_decoder_input_output_embed: bool = True
    encoder_normalize_before: bool = True
    decoder_normalize_before: bool = True
    resnet_base_width: int = 64

    def __post_init__(self) -> None:
        kinds: dict[str, Any] = {"int": int, "float": (int, float), "bool": bool, "str": str}
        for field in fields(self):
            value: Any = getattr(self, field.name)
            kind = str(field.type)
            number = kind in ("int", "float")
            if not isinstance(value, kinds[kind]) or (
                number and (isinstance(value, bool) or not 0 < value <= _MAX_SIZE)
            ):
                wanted = {"bool": "true or false", "str": "a name", "int": f"a whole number from 1 to {_MAX_SIZE}"}.get(
                    kind, f"a number above 0, up to {_MAX_SIZE}"
                )
                raise BadInput(f"ofa: config: {field.name} is {value!r}; it must be {wanted}.")
        check_choice("ofa: config: resnet_type", self.resnet_type, LAYERS)
        for side, heads in (("encoder", self.encoder_attention_heads), ("decoder", self.decoder_attention_heads)):
            if self.d_model % heads:
                raise BadInput(
                    f"ofa: config: d_model {self.d_model} is not divisible by {heads} {side}_attention_heads."
                )
        if self.token_bucket_size < 2:
            raise BadInput("ofa: config: token_bucket_size is 1; it must be 2 or more.")
        if self.vocab_size <= END:
            raise BadInput(f"ofa: config: vocab_size is {self.vocab_size}; the begin, padding and end tokens need 3.")

    @classmethod
    def named(cls, size: str) -> OfaConfig:
        """The published configuration of tiny, medium, base, large or huge."""
        width, encoder, decoder, heads, resnet = _SIZES[check_choice("ofa: size", size, SIZES)]
        return cls(width, encoder, decoder, heads, heads, 4 * width, 4 * width, resnet)

    @classmethod
    def from_json(cls, path: str | Path) -> OfaConfig:
        """The configuration in a checkpoint's config.json. Raises BadInput naming a missing or unsupported field."""
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as problem:
            raise BadInput(f"ofa: {path} cannot be read ({problem}).") from None
        if not isinstance(values, dict):
            raise BadInput(f"ofa: {path} holds no JSON object.")
        return cls.from_values(values, str(path))

    @classmethod
    def from_values(cls, values: Mapping[str, Any], where: str = "config") -> OfaConfig:
        """The configuration from the fields of a config.json; fields that do not affect the network, as dropout, are
        ignored.
        """
        for name, only in _SUPPORTED.items():
            if name in values and values[name] != only:
                raise BadInput(f"ofa: {where}: {name} is {values[name]!r}; only {only!r} is supported.")
        known = {field.name for field in fields(cls)}
        # resnet_base_width is not a published field; test networks with a narrow ResNet set it.
        test_fields = values.get("_test_only") or {}
        if not isinstance(test_fields, Mapping):
            raise BadInput(f"ofa: {where}: _test_only is {test_fields!r}; it must be an object.")
        all_values = {"resnet_base_width": 64} | dict(test_fields) | dict(values)
        given = {name: value for name, value in all_values.items() if name in known}
        sizes = [field.name for field in fields(cls)][:8]
        if missing := [name for name in sizes if name not in given]:
            raise BadInput(f"ofa: {where}: {', '.join(missing)} missing; is this an OFA checkpoint?")
        try:
            return cls(**given)
        except BadInput as problem:
            raise BadInput(f"ofa: {where}: {str(problem).removeprefix('ofa: config: ')}") from None

    def to_values(self) -> dict[str, Any]:
        """The values that `from_values` reads."""
        return asdict(self) | _SUPPORTED

    @property
    def code_side(self) -> int:
        """Image codes per side."""
        return self.code_image_size // 8

    @property
    def most_tokens(self) -> int:
        """The number of text positions; the tables of relative positions end at a distance of 1023 in any
        configuration.
        """
        return min(self.max_position_embeddings, 1024)
