"""Batches of what is queued: nothing waits for company, nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from standins.waiting import LIMIT

from humor_tasks.on_inspect.local import Batcher


def test_what_queues_while_a_batch_runs_becomes_the_next_batch() -> None:
    sizes: list[int] = []
    all_asked = threading.Event()

    def process(items: Sequence[int]) -> list[int]:
        sizes.append(len(items))
        assert all_asked.wait(LIMIT)
        return [item * 2 for item in items]

    async def main() -> list[int]:
        batcher = Batcher(process, most=4)
        results = [0] * 10

        async def ask(i: int) -> None:
            results[i] = await batcher(i)

        async with anyio.create_task_group() as group:
            for i in range(10):
                group.start_soon(ask, i)
            await anyio.lowlevel.checkpoint()  # each has begun
            all_asked.set()
        return results

    assert anyio.run(main) == [2 * i for i in range(10)]
    assert sum(sizes) == 10
    assert max(sizes) == 4
    assert len(sizes) <= 4


def test_one_item_alone_does_not_wait() -> None:
    started = threading.Event()

    def process(items: Sequence[str]) -> list[str]:
        started.set()
        return [item.upper() for item in items]

    assert anyio.run(Batcher(process), "a") == "A"
    assert started.is_set()


def test_an_error_reaches_every_caller_of_its_batch_and_no_other() -> None:
    def process(items: Sequence[int]) -> list[float]:
        return [1 / item for item in items]

    async def main() -> list[str]:
        batcher = Batcher(process, most=2)
        seen: list[str] = []

        async def ask(i: int) -> None:
            try:
                seen.append(f"{await batcher(i):.1f}")
            except ZeroDivisionError:
                seen.append("error")

        async with anyio.create_task_group() as group:
            for i in (0, 1, 2, 4):
                group.start_soon(ask, i)
        return seen

    assert sorted(anyio.run(main)) == ["0.2", "0.5", "error", "error"]


def test_a_result_too_few_is_an_error_and_not_a_hang() -> None:
    with pytest.raises(ValueError, match="shorter"):
        anyio.run(Batcher(lambda items: []), "a")


def test_a_cancelled_caller_leaves_the_others_their_results() -> None:
    running, go_on = threading.Event(), threading.Event()

    def process(items: Sequence[int]) -> list[int]:
        running.set()
        assert go_on.wait(LIMIT)
        return list(items)

    async def main() -> list[int]:
        batcher, got = Batcher(process, most=1), []
        scopes = [anyio.CancelScope() for _ in range(4)]

        async def ask(i: int) -> None:
            with scopes[i]:
                got.append(await batcher(i))

        async with anyio.create_task_group() as group:
            for i in range(4):
                group.start_soon(ask, i)
            await anyio.to_thread.run_sync(running.wait)  # the first is being answered, the others wait
            for i in (0, 2):
                scopes[i].cancel()
            go_on.set()
        return got

    assert set(anyio.run(main)) - {0} == {1, 3}


def test_what_a_cancelled_caller_asked_is_not_computed() -> None:
    """Neither by the callers after it, nor in a later run of the same model."""
    running, go_on = threading.Event(), threading.Event()
    computed: list[int] = []

    def process(items: Sequence[int]) -> list[int]:
        running.set()
        assert go_on.wait(LIMIT)
        computed.extend(items)
        return list(items)

    batcher = Batcher(process, most=1)

    async def main() -> None:
        async def ask(i: int) -> None:
            with scopes[i]:
                await batcher(i)

        scopes = [anyio.CancelScope() for _ in range(4)]
        async with anyio.create_task_group() as group:
            for i in range(4):
                group.start_soon(ask, i)
            await anyio.to_thread.run_sync(running.wait)  # one is being answered, the others wait
            for scope in scopes:
                scope.cancel()
            go_on.set()

    anyio.run(main)
    assert len(computed) == 1
    assert anyio.run(batcher, 7) == 7
    assert computed[1:] == [7]
