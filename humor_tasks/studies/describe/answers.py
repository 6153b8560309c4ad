"""The answers file, from which an interrupted run resumes without asking answered questions again.

One JSON object per line, appended as answers arrive: picture (SHA-256), question, answer, and `asked` (the model and
its settings).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.data.append_log import AppendLog
from humor_tasks.errors import BadInput

_START = b'{"picture": "'  # start of every line


class Answers:
    """The answers of one model with one set of settings; answers of others in the same file are ignored."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """`asked` holds the model and everything that its answers depend on, as JSON."""
        self.path = path
        self.asked = json.loads(json.dumps(dict(asked), sort_keys=True))
        self._known: dict[tuple[str, str], str] = {}
        self._file = AppendLog(path)
        self._file.open(self._read, _START)

    def get(self, picture: str, question: str) -> str | None:
        """The answer, or None where there is none yet."""
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
                f"{self.path}, line {number}: is not a valid answer ({problem!r}). Remove the line; "
                "its question will be asked again."
            ) from None
        if asked == self.asked:
            self._known[picture, question] = answer
