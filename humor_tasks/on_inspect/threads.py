"""Work that would block the event loop, such as reading and encoding pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

Result = TypeVar("Result")
THREADS = 4  # so many pictures or clips are read at once
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("humor_tasks_limiter")


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """function(*arguments) in one of a few threads."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return await anyio.to_thread.run_sync(function, *arguments, limiter=limiter)
