"""Small OFA networks for tests: sizes, weights by a formula, and inputs. Nothing is stored that can be computed."""

from __future__ import annotations

import copy
import functools
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from humor_tasks.models.ofa.config import OfaConfig
from humor_tasks.models.ofa.network import OfaNetwork

SMALL: dict[str, Any] = {
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 32,
    "resnet_type": "resnet18",
    "vocab_size": 61,
    "max_position_embeddings": 48,
    "token_bucket_size": 6,
    "image_bucket_size": 5,
    "code_image_size": 24,
    "resnet_base_width": 4,
}
FLAG_NAMES = (
    "normformer",
    "scale_embedding",
    "layernorm_embedding",
    "patch_layernorm_embedding",
    "code_layernorm_embedding",
    "add_type_embedding",
    "share_decoder_input_output_embed",
    "encoder_normalize_before",
    "decoder_normalize_before",
)


def small(**flags: Any) -> OfaConfig:
    return OfaConfig(**(SMALL | flags))


def formula_weights(config: OfaConfig, seed: int = 7) -> dict[str, torch.Tensor]:
    """Every tensor of a network from its name alone, at sizes that keep activations near 1 and every part visible."""
    with torch.device("meta"):
        shapes = {name: tuple(t.shape) for name, t in OfaNetwork(config).state_dict().items()}
    shared = ["decoder.embed_tokens.weight"]
    if config.share_decoder_input_output_embed:
        shared.append("decoder.output_projection.weight")
    state = {}
    for name, shape in shapes.items():
        if name.endswith("num_batches_tracked"):
            state[name] = torch.zeros(shape, dtype=torch.long)
        elif name not in shared:
            state[name] = torch.from_numpy(_values(name, shape, config.d_model, seed).astype(np.float32))
    state["encoder.embed_tokens.weight"][1] = 0
    return state | dict.fromkeys(shared, state["encoder.embed_tokens.weight"])


def _values(name: str, shape: tuple[int, ...], d: int, seed: int) -> Any:
    draw = np.random.RandomState(zlib.crc32(f"{seed}:{name}".encode())).random_sample(int(np.prod(shape)))
    u, leaf, fan = (draw * 2 - 1).reshape(shape), name.rpartition(".")[2], int(np.prod(shape[1:]))
    if leaf in ("running_var", "running_mean", "c_attn"):
        return {"running_var": 1 + 0.5 * u, "running_mean": 0.1 * u, "c_attn": 1 + 0.3 * u}[leaf]
    if "rel_pos_table_list" in name:
        return u
    if leaf == "bias":
        return 0.1 * u
    if len(shape) == 1:
        scales = {
            "bn3.weight": 0.25,
            "decoder.layernorm_embedding.weight": 0.4,
            "cross_attn_mid_layer_norm.weight": 2.0,
        }
        return next((g for end, g in scales.items() if name.endswith(end)), 1.0) * (1 + 0.2 * u)
    if any(part in name for part in ("embed_tokens", "output_projection", "type_embedding")):
        return u * np.sqrt(3) * 1.5 / np.sqrt(d)
    if "positions" in name:
        return u
    if "pos_q_linear" in name or "pos_k_linear" in name:
        return u * np.sqrt(3 / fan) * 1.3
    return u * np.sqrt(3 / fan) * (np.sqrt(2) if len(shape) == 4 else 1.2)


def network(config: OfaConfig | None = None, seed: int = 7) -> OfaNetwork:
    return copy.deepcopy(_built(config or small(), seed))


@functools.cache
def _built(config: OfaConfig, seed: int) -> OfaNetwork:
    with torch.inference_mode(False):
        built = OfaNetwork(config).eval()
        built.load_state_dict(formula_weights(config, seed))
    return built


def picture(height: int, width: int, k: int = 0) -> torch.Tensor:
    """[3, height, width], -1..1, from whole numbers."""
    y, x, c = np.arange(height)[:, None, None], np.arange(width)[None, :, None], np.arange(3)[None, None, :]
    v = (x * (3 + c) + y * (5 - 2 * c) + (x // 16) * (y // 16) * (7 + c + k) + 31 * k) % 256
    return torch.from_numpy(((v / 255 - 0.5) / 0.5).transpose(2, 0, 1).astype(np.float32))


def pictures(n: int, height: int = 40, width: int = 56) -> torch.Tensor:
    return torch.stack([picture(height, width, k) for k in range(n)])


def texts(lengths: list[int], config: OfaConfig | None = None, seed: int = 0) -> torch.Tensor:
    """Ids of such lengths, padded on the right."""
    config, rng = config or small(), np.random.RandomState(seed)
    ids = torch.ones(len(lengths), max(lengths), dtype=torch.long)
    for row, length in zip(ids, lengths, strict=True):
        row[:length] = torch.from_numpy(rng.randint(3, config.vocab_size, length))
        row[0], row[length - 1] = 0, 2
    return ids


def gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """The greatest difference of two numbers at one place."""
    assert a.shape == b.shape
    return float((a - b).abs().max())


def published_outputs(real_data: Path) -> Path:
    """The folder of OFA's published reference outputs, which are no part of this project."""
    folder = real_data.parent / "ofa" / "golden"
    if not folder.is_dir():
        pytest.skip("there is no ofa/golden beside the folder of HUMOR_TASKS_REAL_DATA")
    return folder
