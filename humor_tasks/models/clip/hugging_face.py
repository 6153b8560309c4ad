"""A Hugging Face CLIP folder in open_clip's terms: the same network with other parameter names.

tests/models/clip/test_clip.py compares it with transformers' CLIPModel. transformers itself is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from humor_tasks.errors import BadInput

# Defaults of transformers' CLIPTextConfig and CLIPVisionConfig for values missing in config.json.
_SHARED = {"hidden_act": "quick_gelu", "layer_norm_eps": 1e-5, "num_hidden_layers": 12}
_TEXT = _SHARED | {
    "hidden_size": 512,
    "intermediate_size": 2048,
    "num_attention_heads": 8,
    "max_position_embeddings": 77,
    "vocab_size": 49408,
}
_VISION = _SHARED | {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_attention_heads": 12,
    "image_size": 224,
    "patch_size": 32,
    "num_channels": 3,
}
_BLOCK = {
    "layer_norm1": "ln_1",
    "layer_norm2": "ln_2",
    "mlp.fc1": "mlp.c_fc",
    "mlp.fc2": "mlp.c_proj",
    "self_attn.out_proj": "attn.out_proj",
}
_PLAIN = {
    "text_model.embeddings.token_embedding.weight": "token_embedding.weight",
    "text_model.embeddings.position_embedding.weight": "positional_embedding",
    "vision_model.embeddings.class_embedding": "visual.class_embedding",
    "vision_model.embeddings.patch_embedding.weight": "visual.conv1.weight",
    "vision_model.embeddings.position_embedding.weight": "visual.positional_embedding",
    "logit_scale": "logit_scale",
}
_NORMS = {
    "text_model.final_layer_norm": "ln_final",
    "vision_model.pre_layrnorm": "visual.ln_pre",  # sic, in the files
    "vision_model.post_layernorm": "visual.ln_post",
}
_PROJECTIONS = {"text_projection.weight": "text_projection", "visual_projection.weight": "visual.proj"}


def model_config(about: Mapping[str, Any], where: str) -> dict[str, Any]:
    """config.json converted to open_clip's configuration. Raises BadInput for values that are not supported."""
    text, vision = _TEXT | (about.get("text_config") or {}), _VISION | (about.get("vision_config") or {})
    acts = {str(text["hidden_act"]), str(vision["hidden_act"])}
    if len(acts) != 1 or not acts <= {"quick_gelu", "gelu"}:
        raise BadInput(f"clip: {where}: hidden_act {sorted(acts)}; both towers must have quick_gelu, or both gelu.")
    for tower, name, only in (
        (text, "layer_norm_eps", 1e-5),
        (vision, "layer_norm_eps", 1e-5),
        (text, "vocab_size", 49408),  # another vocabulary would need another tokenizer
        (vision, "num_channels", 3),
    ):
        if tower[name] != only:
            raise BadInput(f"clip: {where}: {name} is {tower[name]!r}; only {only} is supported.")
    return {
        "embed_dim": about.get("projection_dim", 512),
        "quick_gelu": acts == {"quick_gelu"},
        "vision_cfg": {
            "image_size": vision["image_size"],
            "patch_size": vision["patch_size"],
            "width": vision["hidden_size"],
            "layers": vision["num_hidden_layers"],
            "head_width": vision["hidden_size"] // vision["num_attention_heads"],
            "mlp_ratio": _ratio(vision),
        },
        "text_cfg": {
            "context_length": text["max_position_embeddings"],
            "vocab_size": text["vocab_size"],
            "width": text["hidden_size"],
            "heads": text["num_attention_heads"],
            "layers": text["num_hidden_layers"],
            "mlp_ratio": _ratio(text),
        },
    }


def _ratio(tower: Mapping[str, Any]) -> float:
    """The ratio for which open_clip's int(width * ratio) is the feed-forward size."""
    inner, width = tower["intermediate_size"], tower["hidden_size"]
    ratio: float = inner / width
    return ratio if int(width * ratio) == inner else (inner + 0.5) / width


def converted(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """transformers' parameter names -> open_clip's. Queries, keys and values become one matrix; projections are
    transposed.

    Unknown names are kept, so that loading the result reports them.
    """
    weights: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        stem, _, kind = name.rpartition(".")
        if name in _PLAIN:
            weights[_PLAIN[name]] = tensor
        elif name in _PROJECTIONS:
            weights[_PROJECTIONS[name]] = tensor.T
        elif stem in _NORMS:
            weights[f"{_NORMS[stem]}.{kind}"] = tensor
        elif ".encoder.layers." in name:
            tower, _, rest = name.partition(".encoder.layers.")
            number, _, part = rest.rpartition(f".{kind}")[0].partition(".")
            block = f"{'visual.' if tower == 'vision_model' else ''}transformer.resblocks.{number}"
            if part in _BLOCK:
                weights[f"{block}.{_BLOCK[part]}.{kind}"] = tensor
            elif part == "self_attn.q_proj":
                parts = [state.get(name.replace("q_proj", f"{letter}_proj")) for letter in "qkv"]
                weights |= {f"{block}.attn.in_proj_{kind}": torch.cat([p for p in parts if p is not None])}
            elif part not in ("self_attn.k_proj", "self_attn.v_proj"):
                weights[name] = tensor
        elif not name.endswith(".position_ids"):  # the numbers 0, 1, ..., written by old versions of transformers
            weights[name] = tensor
    return weights


def preprocessing(folder: Path) -> dict[str, Any]:
    """Mean, standard deviation and interpolation of the folder's preprocessor_config.json; by default OpenAI's."""
    from open_clip import OPENAI_DATASET_MEAN, OPENAI_DATASET_STD

    path = folder / "preprocessor_config.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return {
            "mean": tuple(float(x) for x in values.get("image_mean") or OPENAI_DATASET_MEAN),
            "std": tuple(float(x) for x in values.get("image_std") or OPENAI_DATASET_STD),
            "interpolation": {2: "bilinear", 3: "bicubic"}[values.get("resample", 3)],
        }
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as problem:
        raise BadInput(f"clip: {path} cannot be read ({problem!r}).") from None
