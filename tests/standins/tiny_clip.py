"""A tiny CLIP with random weights, an architecture of open_clip by its own name, and pictures to show it."""

from __future__ import annotations

import base64
import functools
import io
import json
import random
from pathlib import Path
from typing import Any

TINY = "Tiny-16-32"
CONFIG: dict[str, Any] = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}


def register(folder: Path) -> str:
    """Makes `TINY` known to open_clip in this process and returns the name."""
    import open_clip

    if not hasattr(open_clip.SimpleTokenizer, "cache_info"):  # it takes a tenth of a second to build, most of a load
        open_clip.SimpleTokenizer = open_clip.factory.SimpleTokenizer = functools.cache(open_clip.SimpleTokenizer)
    (folder / f"{TINY}.json").write_text(json.dumps(CONFIG))
    open_clip.add_model_config(folder / f"{TINY}.json")
    return TINY


def state(seed: int = 0) -> dict[str, Any]:
    """Random weights of `TINY`, larger than at the start of training, so that embeddings differ."""
    import open_clip
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = open_clip.CLIP(**json.loads(json.dumps(CONFIG)))
        return {name: value + 0.05 * torch.randn_like(value) for name, value in model.state_dict().items()}


def network(weights: dict[str, Any]) -> Any:
    """open_clip's network with weights of `TINY`."""
    import open_clip

    made = open_clip.CLIP(**json.loads(json.dumps(CONFIG))).eval()
    made.load_state_dict(weights)
    return made


def weight_file(folder: Path) -> str:
    from safetensors.torch import save_file

    save_file(state(), folder / "tiny.safetensors")
    return str(folder / "tiny.safetensors")


def drawing(seed: int, size: tuple[int, int] = (60, 44), mode: str = "RGB") -> Any:
    """A PIL image of coarse noise: something is left of it in 32 x 32 pixels."""
    from PIL import Image

    small = (max(1, size[0] // 6), max(1, size[1] // 6))
    noise = random.Random(seed).randbytes(small[0] * small[1] * len(mode))
    return Image.frombytes(mode, small, noise).resize(size)


def encoded(image: Any, kind: str = "PNG") -> bytes:
    """The image's file."""
    buffer = io.BytesIO()
    image.save(buffer, format=kind)
    return buffer.getvalue()


def uri(png: bytes) -> str:
    """The bytes as a `data:` URI."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
