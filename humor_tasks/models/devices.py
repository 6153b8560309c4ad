"""Devices, precisions, and batches that fit into memory; shared by the torch models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from humor_tasks.errors import BadInput

Item = TypeVar("Item")
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
    """run(slice) of all `count` items, in halves where memory runs out; `halved` is called with the smaller number.

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


# ---- batches of texts, sorted by length -----------------------------------------------------------

# Tokens of an automatic batch, with padding: more do not make a CPU faster, and fill the memory of a GPU.
CPU_TOKENS, GPU_TOKENS = 4096, 32768


def padded(rows: Sequence[Sequence[int]], fill: int, left: bool = False) -> torch.Tensor:
    """int64 [rows, longest], filled on the right or on the left."""
    longest = max(map(len, rows), default=0)
    blanks = [[fill] * (longest - len(row)) for row in rows]
    pairs = zip(rows, blanks, strict=True)
    return torch.tensor([[*blank, *row] if left else [*row, *blank] for row, blank in pairs], dtype=torch.int64)


class Batches:
    """The sizes of batches on a device. A size that did not fit into memory is halved, and stays so.

    size: rows per batch; 0 chooses by the number of tokens.
    """

    def __init__(self, name: str, device: torch.device, size: int = 0) -> None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise BadInput(f"{name}: batch_size is {size!r}; give a whole number, 0 for automatic.")
        self.name, self.device, self.size = name, device, size
        self.tokens = CPU_TOKENS if device.type == "cpu" else GPU_TOKENS

    def rows(self, longest: int) -> int:
        """The number of rows in a batch whose longest row has so many tokens."""
        return self.size or max(1, self.tokens // max(1, longest))

    def split(self, lengths: Sequence[int]) -> list[list[int]]:
        """The indices of all rows in batches, the longest rows first."""
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        batches, start = [], 0
        while start < len(order):
            batches.append(order[start : start + self.rows(lengths[order[start]])])
            start += len(batches[-1])
        return batches

    def run(
        self, process: Callable[[list[Item]], Sequence[Result]], items: Sequence[Item], lengths: Sequence[int]
    ) -> list[Result]:
        """The results of `process` in the order of the items; it gets length-sorted batches.

        Raises BadInput where not even one item fits into memory.
        """
        results: dict[int, Result] = {}
        waiting = self.split(lengths)
        while waiting:
            part = waiting.pop(0)
            try:
                results |= dict(zip(part, process([items[i] for i in part]), strict=True))
            except RuntimeError as problem:
                if not out_of_memory(problem):
                    raise
            else:
                continue
            # Outside the except block, because the exception references the tensors of the failed batch.
            self._shrink(len(part), lengths[part[0]])
            rest = [i for some in (part, *waiting) for i in some]
            waiting = [[rest[i] for i in some] for some in self.split([lengths[i] for i in rest])]
        return [results[i] for i in range(len(items))]

    def _shrink(self, rows: int, longest: int) -> None:
        if rows == 1:
            raise BadInput(
                f"{self.name}: not even one text of {longest} tokens fits the memory of {self.device}; free memory, or "
                "use precision=bf16 or another device."
            )
        if self.size:
            self.size = rows // 2
        else:
            self.tokens = longest * (rows // 2)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
