"""OFA's configurations: of the network, as in a checkpoint's config.json, and of generation. No torch is imported here,
so that a harness can validate arguments first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, check_choice

# ---- the network ----------------------------------------------------------------------------------

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
_TYPES: dict[str, Any] = {"int": int, "float": (int, float), "bool": bool, "str": str}
_KINDS = {
    "int": f"a whole number from 1 to {_MAX_SIZE}",
    "float": f"a number above 0, up to {_MAX_SIZE}",
    "bool": "true or false",
    "str": "a name",
}


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
        for field in fields(self):
            value, kind = getattr(self, field.name), str(field.type)
            fits = isinstance(value, _TYPES[kind]) and isinstance(value, bool) == (kind == "bool")
            if not fits or (kind in ("int", "float") and not 0 < value <= _MAX_SIZE):
                raise BadInput(f"ofa: config: {field.name} is {value!r}; it must be {_KINDS[kind]}.")
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
        # resnet_base_width is not a published field; test networks with a narrow ResNet set it.
        test_fields = values.get("_test_only") or {}
        if not isinstance(test_fields, Mapping):
            raise BadInput(f"ofa: {where}: _test_only is {test_fields!r}; it must be an object.")
        all_values = {"resnet_base_width": 64} | dict(test_fields) | dict(values)
        names = [field.name for field in fields(cls)]
        if missing := [name for name in names[:8] if name not in all_values]:
            raise BadInput(f"ofa: {where}: {', '.join(missing)} missing; is this an OFA checkpoint?")
        try:
            return cls(**{name: all_values[name] for name in names if name in all_values})
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


# ---- generation -----------------------------------------------------------------------------------

STYLES = ("fairseq", "hf")


@dataclass(frozen=True)
class GenerationSettings:
    """Settings of search and sampling. The defaults are those of OFA's published captioning.

    style: fairseq, whose search produced the published scores, or hf, that of transformers 4.18. They differ in when an
      input is finished, in the score of a hypothesis and in the score of the forced end token.
    beams: number of beams; 1 is greedy decoding.
    max_len: maximum number of tokens before the end token. transformers' max_length is 2 more, as it counts the begin
      and end tokens.
    min_len: minimum number of tokens before the end token.
    lenpen: length penalty; the score is log-probability / length ** lenpen. fairseq's length includes the end token but
      not the begin token, hf's the reverse.
    normalize: false scores by the log-probability alone.
    no_repeat_ngram: n-grams of this length do not repeat; 0 disables it.
    sample: sample tokens instead; `beams` must be 1. The logits are divided by temperature, then restricted to the most
      likely tokens by top_k (0: all) and top_p. Random numbers depend on seed + the index in the batch.
    use_cache: false recomputes everything at each step, which is slow and only for comparison.

    Raises BadInput for values out of range.
    """

    style: str = "fairseq"
    beams: int = 5
    max_len: int = 16
    min_len: int = 0
    lenpen: float = 1.0
    normalize: bool = True
    no_repeat_ngram: int = 3
    sample: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    use_cache: bool = True

    def __post_init__(self) -> None:
        check_choice("ofa: style", self.style, STYLES)
        for name, least in (("beams", 1), ("max_len", 0), ("min_len", 0), ("no_repeat_ngram", 0), ("top_k", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadInput(f"ofa: {name} is {value!r}; give a whole number of {least} or more.")
        if not isinstance(self.seed, int) or isinstance(self.seed, bool) or not -(2**63) <= self.seed < 2**63:
            raise BadInput(f"ofa: seed is {self.seed!r}; give a 64-bit whole number.")
        for name in ("normalize", "sample", "use_cache"):
            if not isinstance(getattr(self, name), bool):
                raise BadInput(f"ofa: {name} is {getattr(self, name)!r}; give true or false.")
        for name in ("lenpen", "temperature", "top_p"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
                raise BadInput(f"ofa: {name} is {value!r}; give a number.")
        if not -10 <= self.lenpen <= 10:
            raise BadInput(f"ofa: lenpen is {self.lenpen!r}; give a number from -10 to 10.")
        if self.min_len > self.max_len:
            raise BadInput(f"ofa: min_len {self.min_len} is above max_len {self.max_len}.")
        if not self.temperature > 0:
            raise BadInput(f"ofa: temperature is {self.temperature!r}; give a number above 0, or sample=False.")
        if not 0 < self.top_p <= 1:
            raise BadInput(f"ofa: top_p is {self.top_p!r}; give a number above 0 and at most 1.")
        if self.sample and self.beams != 1:
            raise BadInput(f"ofa: sample draws one answer at a time; beams is {self.beams}, give 1.")


def settings_for(
    base: GenerationSettings,
    most: int,
    max_tokens: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
) -> GenerationSettings:
    """`base` with the values of a request. A temperature above 0 selects sampling; 0 or None decodes as `base` does.

    max_tokens: limited to `most`, the number of positions of the network. Raises BadInput for values out of range.
    """
    changes: dict[str, Any] = {}
    if max_tokens is not None:
        changes["max_len"] = min(max_tokens, most)
        changes["min_len"] = min(base.min_len, changes["max_len"])
    if temperature is not None and temperature != 0:
        sampling = {"seed": seed, "top_p": top_p, "top_k": top_k}
        changes |= {"sample": True, "beams": 1, "temperature": temperature}
        changes |= {name: value for name, value in sampling.items() if value is not None}
    return replace(base, **changes)
