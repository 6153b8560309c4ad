"""Append-only files of lines, from which an interrupted run resumes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput


class AppendLog:
    """An append-only file of lines; each line is written whole or not at all.

    The class is not thread-safe: callers must hold a lock. Two processes cannot share one file; a file that another
    program has changed is not written to. `size` is the file's size in bytes, as known to this process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0

    def open(self, read: Callable[[str, int], object], start: bytes) -> None:
        """Create the file if it does not exist, and call `read` with each line and its number (from 1).

        An unterminated last line, left by an interrupted process, is removed, but only if it begins with `start` as all
        lines do; another program's file is not changed. Raises BadInput where the file cannot be used.
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
                    raise BadInput(
                        f"{self.path}: its last line is not one of this file's format. Remove that line, or the file."
                    )
                self.size = len(whole + end)
                file.truncate(self.size)
        except OSError as problem:
            raise BadInput(f"{self.path}: cannot be used ({problem}).") from None

    def append(self, data: bytes, flush: bool = False) -> None:
        """Append `data`, which must end with a newline; with `flush`, also force it to disk.

        Raises BadInput where that fails; the file is then unchanged.
        """
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
        """Raise BadInput if the file's size differs from what this process last wrote."""
        size = self.path.stat().st_size
        if size != self.size:
            raise BadInput(
                f"{self.path}: was changed by another program ({size:,} bytes, not {self.size:,}); run one at a time."
            )


class ReplyStore(AppendLog):
    """The replies of models that a command pays for, in an append-only file of JSON objects, one a line.

    `replies` has them by key, so that a second run of an interrupted command asks only for the others.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.replies: dict[Hashable, Any] = {}

    def open_records(
        self, first: str, read: Callable[[Mapping[str, Any]], tuple[Hashable, Any] | None], remedy: str
    ) -> None:
        """Read the file; `first` is the key that every object begins with.

        read: the key and the reply of an object, or None for one that does not count. Raises BadInput naming the line,
        with `remedy`, where a line is no such object or `read` fails on it.
        """

        def parse(line: str, number: int) -> None:
            try:
                entry = read(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as problem:
                raise BadInput(f"{self.path}, line {number}: cannot be read ({problem!r}). {remedy}") from None
            if entry:
                self.replies[entry[0]] = entry[1]

        self.open(parse, f'{{"{first}": "'.encode())

    def keep(self, key: Hashable, reply: Any, record: Mapping[str, Any]) -> None:
        """Append a reply's record; it is in the file when this returns."""
        line = json.dumps(record, ensure_ascii=False, default=str)
        self.append(f"{line}\n".encode("utf-8", "backslashreplace"))  # half a character becomes JSON's escape of it
        self.replies[key] = reply
