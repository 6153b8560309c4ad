"""open_clip's architectures: whether a name is one, and which of them weights of given shapes fit."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any

import torch

from humor_tasks.errors import BadInput

_PARTS = (
    *("visual", "text", "transformer", "token_embedding", "positional_embedding", "ln_final", "text_projection"),
    *("attn_mask", "logit_scale"),
)
"""The parts of OpenAI's models, which their parameters are named after."""


def check_architecture(name: str) -> None:
    """Raise BadInput with the nearest names for an architecture that open_clip does not know."""
    import open_clip

    known = open_clip.list_models()
    if name in known:
        return
    folded = {other.lower(): other for other in known}
    close = difflib.get_close_matches(name.lower(), folded, n=4, cutoff=0.4)
    near = f" The nearest are {', '.join(folded[c] for c in close)}." if close else ""
    raise BadInput(f"clip: open_clip has no architecture '{name}'.{near} open_clip.list_models() lists all.")


def fitting(state: Mapping[str, torch.Tensor]) -> list[str]:
    """The architectures whose configuration has the sizes of these weights; none for other towers than OpenAI's."""
    import open_clip

    found = _sizes(state)
    configs = {name: open_clip.get_model_config(name) or {} for name in open_clip.list_models()} if found else {}
    return [name for name, config in configs.items() if _configured(config) == found]


def _sizes(state: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """The sizes that weights in OpenAI's names have; {} where one is missing, and for weights of further parts."""
    text = "text." if "text.token_embedding.weight" in state else ""
    if "text.cls_emb" in state or any(name.partition(".")[0] not in _PARTS for name in state):
        return {}
    try:
        conv, words = state["visual.conv1.weight"], state[f"{text}token_embedding.weight"]
        places, embed = state[f"{text}positional_embedding"], state[f"{text}text_projection"]
        if "visual.proj" in state:
            patch, layers = conv.shape[-1], _count(state, r"visual\.transformer\.resblocks")
            side = patch * math.isqrt(len(state["visual.positional_embedding"]) - 1)
            vision: tuple[Any, ...] = (conv.shape[0], layers, patch, side)
        else:  # a ResNet, whose first convolution has half its width, and whose grid is of 32 x 32 pixels
            stages = [_count(state, rf"visual\.layer{i}") for i in range(1, 5)]
            side = 32 * math.isqrt(len(state["visual.attnpool.positional_embedding"]) - 1)
            vision = (2 * conv.shape[0], stages, None, side)
    except (KeyError, IndexError):
        return {}
    blocks = _count(state, rf"{re.escape(text)}transformer\.resblocks")
    return {"embed": embed.shape[-1], "vision": vision, "text": (*words.shape, len(places), blocks)}


def _count(state: Mapping[str, torch.Tensor], stem: str) -> int:
    """The number of layers stem.0, stem.1, ..."""
    return len({match[1] for name in state if (match := re.match(rf"{stem}\.(\d+)\.", name))})


def _configured(config: Mapping[str, Any]) -> dict[str, Any]:
    """The same sizes of a configuration, with open_clip's defaults; {} for towers of other libraries."""
    import open_clip

    vision, text = config.get("vision_cfg", {}), config.get("text_cfg", {})
    if "timm_model_name" in vision or "hf_model_name" in text:
        return {}
    v = {**vars(open_clip.CLIPVisionCfg()), **vision}
    t = {**vars(open_clip.CLIPTextCfg()), **text}
    patch = None if isinstance(v["layers"], list) else v["patch_size"]
    return {
        "embed": config.get("embed_dim"),
        "vision": (v["width"], v["layers"], patch, v["image_size"]),
        "text": (t["vocab_size"], t["width"], t["context_length"], t["layers"]),
    }
