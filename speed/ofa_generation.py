"""OFA's writing beside its reading: random weights, five beams, thirty tokens forced, with the cache and without.

    python speed/ofa_generation.py                            # base, 384 x 384, the CPU, batches of 1 and 8
    python speed/ofa_generation.py --size huge --image 480 --batch 1 8 32 --device cuda

Each time is the best of several. The whole is a picture read and its answer written. Decoding without the cache runs
the whole decoder over everything written at each step; the encoder runs once either way. The matmul peak is the
best rate of a large product of this run, so that a share of it holds on any machine.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from humor_tasks.models.ofa import GenerationSettings, Ofa
from humor_tasks.models.ofa.config import SIZES
from humor_tasks.models.ofa.generation import generate

TOKENS, WORDS = 30, 12


def attention_flops(q: list[int], k: list[int], *_: Any, **more: Any) -> int:
    return 4 * math.prod(q) * k[2]


# What torch's counter does not know: the CPU's own kernel.
COUNTED = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: attention_flops}


def main() -> None:
    given = arguments()
    ofa = Ofa.load(f"random/{given.size}", device=given.device, precision=given.precision)
    ofa.network.requires_grad_(False)  # which counting stumbles over
    threads = f", {torch.get_num_threads()} threads" if ofa.device.type == "cpu" else ""
    peak = matmul_peak(ofa)
    print(f"{given.size}, {given.image} x {given.image}, {given.beams} beams, {TOKENS} tokens, {ofa.dtype}", end=" ")
    print(f"on {name(ofa.device)}{threads}; matmul peak {peak / 1e12:.3g} TFLOP/s")
    for n in given.batch:
        batch(ofa, n, given, peak)


def batch(ofa: Ofa, n: int, given: argparse.Namespace, peak: float) -> None:
    # The end is barred until all tokens are there, so that every run does the same work.
    how = GenerationSettings(beams=given.beams, max_len=TOKENS - 1, min_len=TOKENS - 1)
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(n, 3, given.image, given.image, generator=generator).to(ofa.device, ofa.dtype)
    images = images.to(memory_format=torch.channels_last)
    ids = torch.randint(4, 50000, (n, WORDS), generator=generator).to(ofa.device)
    with torch.inference_mode():
        encoded = ofa.network.encoder(ids, images)
        encode = best(lambda: ofa.network.encoder(ids, images), given.repeats, ofa.device)
        decode = best(lambda: generate(ofa.network, encoded, how, ofa.captured), given.repeats, ofa.device)
        whole = best(lambda: ofa.generate(images, ids, how), given.repeats, ofa.device)
        with FlopCounterMode(display=False, custom_mapping=COUNTED) as counter:  # which sees no captured steps
            generate(ofa.network, ofa.network.encoder(ids, images), how)
    print(f"batch {n}: encoder {encode:.3f} s, decoder {decode:.3f} s, whole {whole:.3f} s: ", end="")
    print(f"{whole / encode:.2f} x the encoder (goal: at most 2 on a CPU); {n / whole:.2f} images/s, ", end="")
    flops = counter.get_total_flops()
    print(f"{flops / n / 1e9:.0f} GFLOP each, {flops / whole / peak:.0%} of the matmul peak", flush=True)
    if n in given.uncached:
        plain = GenerationSettings(**(vars(how) | {"use_cache": False}))
        with torch.inference_mode():
            slow = best(lambda: generate(ofa.network, encoded, plain), 1, ofa.device, warm=False)
        print(f"batch {n} without the cache: decoder {slow:.2f} s, {slow / decode:.1f} x as long; ", end="")
        print(f"whole {(encode + slow) / whole:.1f} x as long (goal: at least 8 on a CPU)", flush=True)


def best(work: Callable[[], Any], repeats: int, device: torch.device, warm: bool = True) -> float:
    """Seconds of the fastest run."""
    if warm:
        work()
    times = []
    for _ in range(repeats):
        settle(device)
        start = time.perf_counter()
        work()
        settle(device)
        times.append(time.perf_counter() - start)
    return min(times)


def settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def matmul_peak(ofa: Ofa) -> float:
    """FLOP/s of a large product in the model's numbers."""
    side = 8192 if ofa.device.type == "cuda" else 2048
    a, b = (torch.randn(side, side, device=ofa.device, dtype=ofa.dtype) for _ in range(2))
    return 2 * side**3 / best(lambda: a @ b, 5, ofa.device)


def name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--image", type=int, default=384, help="pixels a side")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--beams", type=int, default=5)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--uncached", type=int, nargs="*", default=[8], help="batches to decode without the cache too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
