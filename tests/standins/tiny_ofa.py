"""A small OFA with random weights and a vocabulary of its own, as a checkpoint's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from standins.ofa_words import vocabulary

from humor_tasks.models.ofa import OfaConfig
from humor_tasks.models.ofa.model import save
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.ofa.preprocessing import Tokenizer, record_size
from humor_tasks.models.pictures import Pixels, decoded, stacked

SIDE = 48


def config_for(words: int, **changes: object) -> OfaConfig:
    small = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
    small |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "resnet_base_width": 8}
    values: dict[str, object] = {**small, "resnet_type": "resnet18", "vocab_size": words}
    values |= {"max_position_embeddings": 256, "image_bucket_size": 6, "token_bucket_size": 32}
    return OfaConfig.from_values(values | changes)


def tiny_ofa(
    folder: Path, texts: Sequence[str] = ("a cat sat on the cat",), seed: int = 0, size: int = 400, **changes: object
) -> str:
    """The folder's path. Its pictures are 48 x 48; `size` is that of its vocabulary without codes and bins."""
    folder.mkdir(parents=True, exist_ok=True)
    words = Tokenizer.load(vocabulary(folder, texts, size)).size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = OfaNetwork(config_for(words, **changes)).eval()
        table = network.encoder.embed_tokens.weight
        # Random weights like the bins as well as words; only words can be read.
        with torch.no_grad():
            table[words - 9192 :] *= 0.01
    save(folder, network)
    record_size(folder, SIDE)
    return str(folder)


def patch_images(images: Sequence[Any], how: Pixels, wheres: Sequence[str] = ()) -> torch.Tensor:
    """float32 [n, 3, size, size], by the loader that feeds the network."""
    names = wheres or [f"image {i + 1} of {len(images)}" for i in range(len(images))]
    return how.normalised(stacked(decoded(images, how, names, 2), pinned=False))
