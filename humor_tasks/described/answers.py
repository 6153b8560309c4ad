"""The answers file: what was answered is not asked, or paid for, again.

One JSON object a line, appended as it comes: picture (SHA-256), question, answer, and `asked`, which says of
whom and how. A line that a killed process left half written was never kept: it is cut off when the file is
opened again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput

_START = b'{"picture": "'  # of a line


class Answers:
    """The answers of one model asked in one way; a file may hold those of others, which are left alone.

    Not for two processes: a file that another program has changed is no longer written.
    """

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """`asked` is the model and all that its answers depend on, as JSON."""
        self.path = path
        self.asked = json.loads(json.dumps(dict(asked), sort_keys=True))
        self._known: dict[tuple[str, str], str] = {}
        try:
            self._open()
        except OSError as problem:
            raise BadInput(f"{path}: cannot be used for answers ({problem}).") from None

    def get(self, picture: str, question: str) -> str | None:
        """The answer, None where it was not given yet."""
        return self._known.get((picture, question))

    def keep(self, picture: str, question: str, answer: str) -> None:
        """Append an answer; it is in the file when this returns."""
        line = {"picture": picture, "question": question, "answer": answer, "asked": self.asked}
        data = f"{json.dumps(line, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")
        try:
            if self.path.stat().st_size != self._size:
                raise BadInput(f"{self.path}: was changed by another program; describe to one output at a time.")
            with self.path.open("ab", buffering=0) as file:
                if file.write(data) < len(data):
                    file.truncate(self._size)
                    raise OSError("the disk is full")
        except OSError as problem:
            raise BadInput(f"{self.path}: cannot be written ({problem}).") from None
        self._size += len(data)
        self._known[picture, question] = answer

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            file.seek(0)
            whole, end, half = file.read().rpartition(b"\n")
            lines = whole.decode("utf-8", "replace").split("\n")
            for number, line in enumerate(lines, 1):
                if line:
                    self._read(line, number)
            if half[: len(_START)] != _START[: len(half)]:  # another program's: nothing of it is cut off
                raise BadInput(f"{self.path}: ends in what is no answer. Remove its last line, or the file.")
            self._size = len(whole + end)
            file.truncate(self._size)

    def _read(self, line: str, number: int) -> None:
        try:
            found = json.loads(line)
            picture, question, answer, asked = (found[name] for name in ("picture", "question", "answer", "asked"))
            if not all(isinstance(text, str) for text in (picture, question, answer)):
                raise TypeError("not text")
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            raise BadInput(
                f"{self.path}, line {number}: is no answer ({problem!r}). Remove the line: its question is asked again."
            ) from None
        if asked == self.asked:
            self._known[picture, question] = answer
