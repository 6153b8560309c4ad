"""What OFA and CLIP do for a row or a picture, counted and not timed, so that it holds for a GPU too.

    python speed/model_counts.py [--size base] [--json]

Passes of each network, decodes of picture files, bytes moved to the device, operations dispatched by torch, and values
that the host reads from a tensor (each waits for a GPU). Pictures are drawn, weights are random, texts are made longer
by forbidding their end. Run it from another checkout to compare (PYTHONPATH).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from clip_workload import pictures
from ofa_workload import QUESTION, checkpoint, describer
from PIL import ImageFile
from torch.utils._python_dispatch import TorchDispatchMode

from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.ofa import Describer, GenerationSettings

PICTURES, TOKENS, IMAGE, WORDS = 4, 30, 96, 12_000
LETTERS = [f" {letter}" for letter in "ABCDE"]
SEEN = ("pictures through the backbone", "inputs through the encoder")
READS = ("tolist", "item", "__bool__", "__int__", "__float__", "cpu", "numpy", "nonzero")


class Dispatched(TorchDispatchMode):
    """Counts the operations that torch dispatches in this thread."""

    def __init__(self, counts: Counter[str]) -> None:
        super().__init__()
        self.counts = counts

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.counts["operations"] += 1
        return function(*args, **(kwargs or {}))


@contextlib.contextmanager
def counting(model: Any = None) -> Iterator[Counter[str]]:
    """Counts of the block: operations, host reads, decodes, bytes of pictures moved, passes of OFA's parts."""
    counts: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        for name in READS:
            _patch(stack, torch.Tensor, name, lambda self, *_: counts.update(["host reads"]))
        _patch(stack, torch.Tensor, "to", lambda self, *given: counts.update(_moved(self, given)))
        _patch(stack, ImageFile.ImageFile, "load", lambda self: counts.update(["decodes"] if self.tile else []))
        if model is not None:
            # Layers are called by their methods, so that a hook on a layer itself would see nothing.
            for name, part in zip(SEEN, (model.encoder.embed_images, model.encoder.layers[0].self_attn), strict=True):
                handle = part.register_forward_pre_hook(
                    lambda _, given, name=name: counts.update({name: len(given[0])})
                )
                stack.callback(handle.remove)
            last = model.decoder.layers[0].cross_attn
            stack.callback(last.register_forward_pre_hook(lambda *_: counts.update(["decoder passes"])).remove)
        stack.enter_context(Dispatched(counts))
        yield counts


def _patch(stack: contextlib.ExitStack, owner: Any, name: str, told: Any) -> None:
    plain = getattr(owner, name)

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        told(self, *args)
        return plain(self, *args, **kwargs)

    setattr(owner, name, counted)
    stack.callback(setattr, owner, name, plain)


def _moved(tensor: torch.Tensor, given: tuple[Any, ...]) -> dict[str, int]:
    """The bytes of a batch of pictures in a `.to` that names a device."""
    to_device = any(isinstance(each, torch.device | str) for each in given)
    pixels = tensor.dim() == 4 and 3 in (tensor.shape[1], tensor.shape[3])
    return {"bytes moved": tensor.numel() * tensor.element_size()} if to_device and pixels else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="base", help="of OFA, with fewer words and layers as published")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        model = describer(checkpoint(Path(folder) / "ofa", given.size, WORDS), IMAGE, "cpu", "fp32", PICTURES)
        found = {"OFA": ofa(model), "CLIP": clip()}
    if given.json:
        json.dump(found, sys.stdout, indent=1)
        return
    for who, rows in found.items():
        for what, counts in rows.items():
            print(f"{who}, {what}: " + ", ".join(f"{name} {value:,.5g}" for name, value in counts.items()))


def ofa(model: Describer) -> dict[str, dict[str, float]]:
    """Counts of reading, writing, letters and descriptions."""
    network, rows = model.ofa.network, {}
    network.requires_grad_(False)
    side = model.pixels.size
    images = torch.randn(PICTURES, 3, side, side)
    equal = torch.full((PICTURES, 12), 7)
    padded = equal.clone()
    padded[0, -3:] = 1
    with torch.inference_mode():
        for what, ids in (("reading a batch", equal), ("reading a padded batch", padded)):
            network.encode(ids, images)
            with counting(network) as counts:
                network.encode(ids, images)
            rows[what] = _kept(counts, ("operations", "host reads"), 1)
    how = GenerationSettings(max_len=TOKENS - 1, min_len=TOKENS - 1)
    with counting(network) as counts:
        model.ofa.generate(images, equal, how)
    wrote = _kept(counts, ("operations", "host reads"), 1)
    rows["writing, a step"] = {
        name: (wrote[name] - rows["reading a batch"][name]) / counts["decoder passes"] for name in wrote
    }
    shown = pictures(PICTURES)
    kinds = ("decodes", "bytes moved", *SEEN, "decoder passes", "host reads")
    with counting(network) as counts:
        many = [picture for picture in shown for _ in LETTERS]
        model.loglikelihoods(many, [QUESTION] * len(many), LETTERS * len(shown))
    rows["log-likelihoods of five letters, a row"] = _kept(counts, kinds, PICTURES)
    model = Describer(model.ofa, model.pixels.size, PICTURES, GenerationSettings(max_len=6, min_len=5))
    with counting(network) as counts, contextlib.suppress(Exception):  # random answers may be empty
        model.describe(pictures(PICTURES))
    rows["describe, a picture"] = _kept(counts, kinds, PICTURES)
    return rows


def clip() -> dict[str, dict[str, float]]:
    """Counts of a row of five captions; the pictures of two rows are the same."""
    model = Clip.load(ClipConfig("ViT-B-32/random", device="cpu", batch_size=PICTURES))
    shown = pictures(PICTURES)
    with counting() as counts:
        model.score([*shown, *shown], [LETTERS] * (2 * PICTURES))
    return {"score, a row": _kept(counts, ("decodes", "bytes moved", "operations", "host reads"), 2 * PICTURES)}


def _kept(counts: Counter[str], names: tuple[str, ...], each: int) -> dict[str, float]:
    return {name: counts[name] / each for name in names}


if __name__ == "__main__":
    main()
