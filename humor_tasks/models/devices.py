"""Device and precision selection, shared by the torch models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

from humor_tasks.errors import BadInput

Result = TypeVar("Result")
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def pick_device(name: str, who: str = "clip") -> torch.device:
    """The torch device; auto is CUDA, else MPS, else the CPU. Raises BadInput for a device that is not available."""
    available = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    if name == "auto":
        return torch.device(next(kind for kind, count in available.items() if count))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in available:
        raise BadInput(f"{who}: device is '{name}'; choose from auto, cuda, cuda:1, mps, cpu.")
    if (device.index or 0) >= available[device.type]:
        have = [f"{count} x {kind}" for kind, count in available.items() if count]
        raise BadInput(
            f"{who}: device '{name}' is not available: torch {torch.__version__} finds {', '.join(have)}. "
            "Use device=auto, or install the torch build for your accelerator."
        )
    return device


def default_precision(device: torch.device) -> str:
    """The precision of models where none is given: bf16 on CUDA, fp32 elsewhere."""
    return "bf16" if device.type == "cuda" else "fp32"


def out_of_memory(problem: RuntimeError) -> bool:
    """Whether the error means out of memory. CUDA has an exception class; MPS, cuBLAS and the CPU only a message."""
    message = str(problem)
    return isinstance(problem, torch.OutOfMemoryError) or any(
        phrase in message for phrase in ("out of memory", "ALLOC_FAILED", "can't allocate memory")
    )


def in_halves(
    run: Callable[[slice], list[Result]], count: int, halved: Callable[[int], None] | None = None
) -> list[Result]:
    """run(slice) of all `count` items, in halves where memory runs out; `halved` is told the smaller number of items.

    Raises the error of a single item that does not fit.
    """

    def part(start: int, end: int) -> list[Result]:
        try:
            return run(slice(start, end))
        except RuntimeError as problem:
            if not out_of_memory(problem) or end - start == 1:
                raise
        # Outside the except block, because the exception references the tensors of the failed batch.
        half = (end - start) // 2
        if halved is not None:
            halved(half)
        return part(start, start + half) + part(start + half, end)

    return part(0, count)
