"""The file of votes of a running session: no acknowledged vote is lost.

A vote is one line, appended and flushed to disk before the annotator sees the next item. Undo writes a new file and
renames it. A partial last line, left by an interrupted process, was never acknowledged; it is removed and reported when
the file is opened again.
"""

from __future__ import annotations

import csv
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from humor_tasks.data.append_log import AppendLog
from humor_tasks.data.rows import read_csv
from humor_tasks.data.writing import write_bytes
from humor_tasks.errors import BadInput
from humor_tasks.people.pairs import Item, choices_of
from humor_tasks.people.vote import Vote
from humor_tasks.people.votes import COLUMNS, checked, csv_text, stripped, vote_of

_HEADER = ",".join(COLUMNS)


class VoteStore:
    """The votes on `items` in a CSV file, which is created if it does not exist.

    It is thread-safe, but two processes must not use the same file: a file that another program has changed is not
    written to. Raises BadInput for a file that cannot be used.
    """

    def __init__(self, path: Path, items: Sequence[Item]) -> None:
        self.path = path.resolve()
        self._file = AppendLog(self.path)
        self.choices = choices_of(items)
        self.repaired = ""
        self._votes: list[Vote] = []
        self._lock = threading.Lock()
        try:
            self._open()
        except OSError as problem:
            raise BadInput(f"{path}: cannot be used for votes ({problem}).") from None

    def of(self, rater: str) -> list[Vote]:
        """The annotator's votes, oldest first."""
        with self._lock:
            return [vote for vote in self._votes if vote.rater == rater]

    def raters(self) -> set[str]:
        """All annotators with votes."""
        with self._lock:
            return {vote.rater for vote in self._votes}

    def full(self, votes: int) -> set[str]:
        """The items with at least so many votes."""
        with self._lock:
            counts = Counter(vote.item for vote in self._votes)
        return {item for item, count in counts.items() if count >= votes}

    def add(self, vote: Vote) -> bool:
        """Record a vote; returns False, without recording, if the annotator has already voted on the item."""
        with self._lock:
            if any((old.item, old.rater) == (vote.item, vote.rater) for old in self._votes):
                return False
            self._file.append(_table([vote]).encode(), flush=True)
            self._votes.append(vote)
            return True

    def undo(self, rater: str) -> Vote | None:
        """Withdraw the annotator's last vote and return it; None where there is none."""
        with self._lock:
            last = next((i for i in reversed(range(len(self._votes))) if self._votes[i].rater == rater), None)
            if last is None:
                return None
            kept = self._votes[:last] + self._votes[last + 1 :]
            self._replace(f"{_HEADER}\n{_table(kept)}".encode())
            withdrawn, self._votes = self._votes[last], kept
            return withdrawn

    # ---- the file -------------------------------------------------------------------------------

    def _open(self) -> None:
        data = self.path.read_bytes() if self.path.exists() else b""
        self._file.size = len(data)
        header = f"{_HEADER}\n".encode()
        if header.startswith(data) and data != header:  # no file yet, or one with a partial header
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._replace(header)
        elif data.splitlines()[0].decode("utf-8", "replace") != _HEADER:
            raise BadInput(f"{self.path}: its columns are not {_HEADER}; use another file for the votes.")
        elif not data.endswith(b"\n"):
            self._repair(data)
        self._votes = self._read()

    def _repair(self, data: bytes) -> None:
        whole, _, tail = data.rpartition(b"\n")
        line = tail.decode("utf-8", "replace")
        if self._complete(line):
            self._file.append(b"\n", flush=True)
        else:
            self.repaired = f"{self.path}: the last line was incomplete and is left out: {line!r}"
            self._replace(whole + b"\n")

    def _complete(self, line: str) -> bool:
        """Whether a last line without newline is otherwise complete, that is, its last column is a complete order.

        A form has no order: its line is complete with the comma before it.
        """
        try:
            (cells,) = csv.reader([line], strict=True)
        except (csv.Error, ValueError):
            return False
        row = dict(zip(COLUMNS, map(stripped, cells), strict=False))
        labels = [choice for choice in self.choices.get(row.get("item", ""), ()) if len(choice) == 1]
        known = row.get("item") in self.choices
        return len(cells) == len(COLUMNS) and known and sorted(row["order"]) == labels

    def _read(self) -> list[Vote]:
        if self._file.size == len(_HEADER) + 1:
            return []
        found = read_csv(self.path, COLUMNS)
        votes = [vote_of(row, found.where(i), stripped) for i, row in enumerate(found.rows)]
        return list(checked(self.path, votes, self.choices, "error", self.choices).votes)

    def _replace(self, data: bytes) -> None:
        try:
            if self._file.size:
                self._file.check_unchanged()
        except OSError as problem:
            raise BadInput(f"{self.path}: cannot be written ({problem}).") from None
        write_bytes(self.path, data, durable=True)
        self._file.size = len(data)


def _table(votes: Iterable[Vote]) -> str:
    """The lines of a CSV file, without its header."""
    return csv_text(votes).removeprefix(f"{_HEADER}\n")
