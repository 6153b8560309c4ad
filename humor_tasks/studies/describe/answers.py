"""The answers file, from which an interrupted run resumes without asking answered questions again.

One JSON object per line, appended as answers arrive: picture (SHA-256), question, answer, and `asked` (the model and
its settings).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humor_tasks.data.append_log import JsonLog


class Answers:
    """The answers of one model with one set of settings; answers of others in the same file are ignored."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """`asked` holds the model and everything that its answers depend on, as JSON."""
        self.path = path
        self.asked = json.loads(json.dumps(dict(asked), sort_keys=True))
        self._known: dict[tuple[str, str], str] = {}
        self._file = JsonLog(path)
        self._file.open_records("picture", self._read, "Remove the line; its question will be asked again.")

    def get(self, picture: str, question: str) -> str | None:
        """The answer, or None where there is none yet."""
        return self._known.get((picture, question))

    def keep(self, picture: str, question: str, answer: str) -> None:
        """Append an answer; it is in the file when this returns."""
        self._file.add({"picture": picture, "question": question, "answer": answer, "asked": self.asked})
        self._known[picture, question] = answer

    def _read(self, found: Mapping[str, Any]) -> None:
        picture, question, answer, asked = (found[name] for name in ("picture", "question", "answer", "asked"))
        if not all(isinstance(text, str) for text in (picture, question, answer)):
            raise TypeError("picture, question and answer must be text")
        if asked == self.asked:
            self._known[picture, question] = answer
