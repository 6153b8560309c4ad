"""Files that are only appended to: what was kept is kept, whatever becomes of the process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from humor_tasks.errors import BadInput


class Appended:
    """Lines at the end of a file, each whole or not there. Threads take turns elsewhere; two processes cannot share
    one: a file that another program has changed is no longer written.

    `size` is what this process knows the file to hold, in bytes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0

    def open(self, read: Callable[[str, int], object], start: bytes) -> None:
        """Makes the file if need be, and has every line and its number `read`. BadInput where it cannot be used.

        A last line without its end, left by a process that was killed, was never kept: it is cut off. Only where it
        begins as lines here do, with `start`: another program's file is left as it is.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                file.seek(0)
                whole, end, half = file.read().rpartition(b"\n")
                for number, line in enumerate(whole.decode("utf-8", "replace").split("\n"), 1):
                    if line:
                        read(line, number)
                if half[: len(start)] != start[: len(half)]:
                    raise BadInput(f"{self.path}: ends in what was not kept here. Remove its last line, or the file.")
                self.size = len(whole + end)
                file.truncate(self.size)
        except OSError as problem:
            raise BadInput(f"{self.path}: cannot be used ({problem}).") from None

    def append(self, data: bytes, flush: bool = False) -> None:
        """`data`, which ends a line, is in the file when this returns; with `flush`, on the disk. BadInput otherwise,
        and the file is as it was."""
        try:
            self.check_unchanged()
            with self.path.open("ab", buffering=0) as file:
                try:
                    if file.write(data) < len(data):
                        raise OSError("the disk is full")
                    if flush:
                        os.fsync(file.fileno())
                except OSError:
                    file.truncate(self.size)
                    raise
        except OSError as problem:
            raise BadInput(f"{self.path}: cannot be written ({problem}).") from None
        self.size += len(data)

    def check_unchanged(self) -> None:
        """BadInput where the file has another size than this process left it with."""
        size = self.path.stat().st_size
        if size != self.size:
            raise BadInput(
                f"{self.path}: was changed by another program ({size:,} bytes, not {self.size:,}); run one at a time."
            )
