"""The one place where tests look at the clock: limits for what has failed, far beyond what a loaded machine takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LIMIT = 600
"""Seconds after which something that other processes do is given up."""


def wait_until(done: Callable[[], bool], going: Callable[[], bool] = lambda: True) -> None:
    """Wait for `done`; fails where `going`, such as a process, is no more, and after LIMIT."""
    end = time.monotonic() + LIMIT
    while not done():
        assert going() or done(), "it ended by itself"
        assert time.monotonic() < end, f"nothing came of it in {LIMIT} seconds"
        time.sleep(0.05)


@contextmanager
def cpu_below(seconds: float) -> Iterator[None]:
    """Fails where the block takes more CPU time, which is that of a worse algorithm: at least ten times what is usual.

    Of the process, not of the wall: other tests run beside this one.
    """
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds
