"""Batching of concurrent requests, for models that run in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread

from humor_tasks.errors import BadInput

Item = TypeVar("Item")
Result = TypeVar("Result")
MOST = 256  # items of a batch, of models without a batch size
TURNS = 20  # more than a sample takes from its start to its request


class Batcher(Generic[Item, Result]):
    """Runs `process` in a thread on all queued items, at most `most` per call.

    A batch starts after the other tasks that are ready had `TURNS` turns of the event loop, so that their items join
    it; where none is ready, that takes microseconds. While one batch runs, other items are queued, and the next batch
    takes all of them. There is no background task. An exception of `process` is raised for every caller of the batch, a
    BadInput among its results, as `each` returns them, for its own caller.
    """

    def __init__(self, process: Callable[[Sequence[Item]], Sequence[Result | BadInput]], most: int = MOST) -> None:
        self.process = process
        self.most = most
        self._lock = anyio.Lock()
        self._queue: list[tuple[Item, dict[str, Any]]] = []

    async def __call__(self, item: Item) -> Result:
        """The result for one item."""
        box: dict[str, Any] = {}
        self._queue.append((item, box))
        try:
            while not box:
                async with self._lock:
                    if not box:
                        for _ in range(TURNS):
                            await anyio.sleep(0)
                        await self._run()
        except BaseException:  # cancelled: nobody waits for the result
            self._queue = [asked for asked in self._queue if asked[1] is not box]
            raise
        if "error" in box:
            raise box["error"]
        result: Result = box["result"]
        return result

    async def _run(self) -> None:
        batch, self._queue = self._queue[: self.most], self._queue[self.most :]
        try:
            results = await anyio.to_thread.run_sync(self.process, [item for item, _ in batch])
            for (_, box), result in zip(batch, results, strict=True):
                box["error" if isinstance(result, BadInput) else "result"] = result
        except Exception as error:
            for _, box in batch:
                box["error"] = error
        except BaseException:  # cancelled: the items of other callers return to the queue
            self._queue = batch + self._queue
            raise


def each(process: Callable[[Sequence[Item]], Sequence[Result]], items: Sequence[Item]) -> list[Result | BadInput]:
    """The results; BadInput of one item becomes its result and does not affect the others in the batch."""
    try:
        return [*process(items)]
    except BadInput as problem:
        if len(items) == 1:
            return [problem]
    half = len(items) // 2
    return [*each(process, items[:half]), *each(process, items[half:])]
