"""OFA's sizes: which network a checkpoint's config.json describes. Imports no torch."""

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
"""Blocks in each of the three stages; all of bottleneck blocks, as OFA has it for the small ones too."""

# What changes the network or its tokens and is here one way only.
_ONLY: dict[str, Any] = {
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
_MOST = 1_000_000  # of any size: what torch can still multiply with another


@dataclass(frozen=True)
class OfaConfig:
    """One OFA network, under the field names of the published config.json.

    attn_scale_factor: of the position bias alone; attention by content has 2 in every checkpoint.
    code_image_size: pixels a side of the picture that image codes stand for, 8 a code.
    resnet_base_width: channels after the ResNet's first convolution, 64 in every published checkpoint.
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
            if not isinstance(value, kinds[kind]) or (number and (isinstance(value, bool) or not 0 < value <= _MOST)):
                wanted = {"bool": "true or false", "str": "a name", "int": f"a whole number from 1 to {_MOST}"}.get(
                    kind, f"a number above 0, up to {_MOST}"
                )
                raise BadInput(f"ofa: config: {field.name} is {value!r}; it is {wanted}.")
        check_choice("ofa: config: resnet_type", self.resnet_type, LAYERS)
        for side, heads in (("encoder", self.encoder_attention_heads), ("decoder", self.decoder_attention_heads)):
            if self.d_model % heads:
                raise BadInput(
                    f"ofa: config: d_model {self.d_model} does not divide by {heads} {side}_attention_heads."
                )
        if self.token_bucket_size < 2:
            raise BadInput("ofa: config: token_bucket_size is 1; distances need 2 or more.")
        if self.vocab_size <= END:
            raise BadInput(f"ofa: config: vocab_size is {self.vocab_size}; begin, padding and end alone are 3.")

    @classmethod
    def named(cls, size: str) -> OfaConfig:
        """tiny, medium, base, large or huge as published."""
        width, encoder, decoder, heads, resnet = _SIZES[check_choice("ofa: size", size, SIZES)]
        return cls(width, encoder, decoder, heads, heads, 4 * width, 4 * width, resnet)

    @classmethod
    def from_json(cls, path: str | Path) -> OfaConfig:
        """A checkpoint's config.json. Raises BadInput naming a field that is missing, or not as this network has it."""
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as problem:
            raise BadInput(f"ofa: {path} cannot be read ({problem}).") from None
        if not isinstance(values, dict):
            raise BadInput(f"ofa: {path} holds no object.")
        return cls.from_values(values, str(path))

    @classmethod
    def from_values(cls, values: Mapping[str, Any], where: str = "config") -> OfaConfig:
        """The fields of a config.json; dropout and whatever else leaves the network as it is goes unread."""
        for name, only in _ONLY.items():
            if name in values and values[name] != only:
                raise BadInput(f"ofa: {where}: {name} is {values[name]!r}; only {only!r} is supported.")
        known = {field.name for field in fields(cls)}
        # A narrower ResNet is no published field; test networks have one.
        ours = values.get("_test_only") or {}
        if not isinstance(ours, Mapping):
            raise BadInput(f"ofa: {where}: _test_only is {ours!r}; it is an object, or left out.")
        said = {"resnet_base_width": 64} | dict(ours) | dict(values)
        given = {name: value for name, value in said.items() if name in known}
        sizes = [field.name for field in fields(cls)][:8]
        if missing := [name for name in sizes if name not in given]:
            raise BadInput(f"ofa: {where}: {', '.join(missing)} not said; is this an OFA checkpoint?")
        try:
            return cls(**given)
        except BadInput as problem:
            raise BadInput(f"ofa: {where}: {str(problem).removeprefix('ofa: config: ')}") from None

    def to_values(self) -> dict[str, Any]:
        """What `from_values` reads."""
        return asdict(self) | _ONLY

    @property
    def code_side(self) -> int:
        """Image codes a side."""
        return self.code_image_size // 8

    @property
    def most_tokens(self) -> int:
        """Text tokens that have a position; the tables of distances end at 1023 whatever the configuration says."""
        return min(self.max_position_embeddings, 1024)
