"""A folder that one process at a time writes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from humor_tasks.errors import BadInput

logger = logging.getLogger(__name__)

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, which makes the folder; the operating system releases that of a process that ends.

    Raises BadInput where another process holds it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise BadInput(
            f"{folder}: another process is using this folder; let it end, or choose another folder."
        ) from None
    except NotImplementedError:
        logger.warning("%s: this file system has no locks; use this folder by one process at a time.", folder)
    except OSError as problem:
        raise BadInput(f"{folder}: cannot be written ({problem}).") from None
    try:
        yield
    finally:
        lock.release()
