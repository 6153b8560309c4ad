"""OFA with random weights and a vocabulary of the published size, for the benchmarks of OFA."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import torch
from tokenizers.pre_tokenizers import ByteLevel

from humor_tasks.models.ofa import Describer, Ofa, OfaConfig
from humor_tasks.models.ofa.model import save
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.ofa.preprocessing import BINS, CODES, SPECIAL

QUESTION = "which of these captions was written for this cartoon?"


def checkpoint(folder: Path, size: str, words: int | None = None) -> Path:
    """A folder of this published size, or of one with fewer words; its merges are pairs of bytes."""
    config = OfaConfig.named(size)
    count = (words or config.vocab_size) - CODES - BINS
    letters = sorted(ByteLevel.alphabet())
    merges = [(a, b) for a in letters for b in letters][: count - len(SPECIAL) - len(letters) - 1]
    vocabulary = [*SPECIAL, *letters, *(a + b for a, b in merges), "<mask>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(vocabulary)}))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *(f"{a} {b}" for a, b in merges), ""]))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = OfaNetwork(dataclasses.replace(config, vocab_size=len(vocabulary) + CODES + BINS)).eval()
        # Only words can be read; random weights would write codes and bins as well.
        with torch.no_grad():
            network.encoder.embed_tokens.weight[len(vocabulary) :] *= 0.01
    save(folder, network)
    return folder


def describer(folder: Path, image: int, device: str = "auto", precision: str = "auto", batch: int = 0) -> Describer:
    """The checkpoint's `Describer`."""
    return Describer(Ofa.load(folder, device, precision), image, batch)
