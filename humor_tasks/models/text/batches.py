"""Batches of texts, sorted by length, that fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.devices import out_of_memory

Item = TypeVar("Item")
Result = TypeVar("Result")

# Tokens of an automatic batch, with padding: more do not make a CPU faster, and fill the memory of a GPU.
CPU_TOKENS, GPU_TOKENS = 4096, 32768


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
        found, start = [], 0
        while start < len(order):
            found.append(order[start : start + self.rows(lengths[order[start]])])
            start += len(found[-1])
        return found

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
