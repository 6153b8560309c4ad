"""The answers file: what was answered is not asked, or paid for, again.

One JSON object a line, appended as it comes: picture (SHA-256), question, answer, and `asked`, which says of
whom and how.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.data.append_log import AppendLog
from humor_tasks.errors import BadInput

_START = b'{"picture": "'  # of a line


class Answers:
    """The answers of one model asked in one way; a file may hold those of others, which are left alone."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """`asked` is the model and all that its answers depend on, as JSON."""
        self.path = path
        self.asked = json.loads(json.dumps(dict(asked), sort_keys=True))
        self._known: dict[tuple[str, str], str] = {}
        self._file = AppendLog(path)
        self._file.open(self._read, _START)

    def get(self, picture: str, question: str) -> str | None:
        """The answer, None where it was not given yet."""
        return self._known.get((picture, question))

    def keep(self, picture: str, question: str, answer: str) -> None:
        """Append an answer; it is in the file when this returns."""
        line = {"picture": picture, "question": question, "answer": answer, "asked": self.asked}
        data = f"{json.dumps(line, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")
        self._file.append(data)
        self._known[picture, question] = answer

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
