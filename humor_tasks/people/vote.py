"""One human vote."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from humor_tasks.errors import BadInput

TIE = "tie"


@dataclass(frozen=True)
class Vote:
    """One vote.

    time: ISO 8601 in UTC, such as 2026-01-31T12:00:00Z; empty where the tool does not record it. order: the labels in
    the order in which they were shown, such as BA; empty where unknown. where: file and row, for messages.
    """

    item: str
    rater: str
    choice: str
    time: str = ""
    reason: str = ""
    order: str = ""
    where: str = field(default="", compare=False)


def utc(text: str, where: str = "") -> str:
    """An ISO 8601 time in UTC; empty stays empty. Raises BadInput for another format or a missing time zone."""
    if not text:
        return ""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{where}: time is {text!r}; write it as 2026-01-31T12:00:00Z.") from None
    if time.tzinfo is None:
        raise BadInput(f"{where}: time {text!r} has no time zone; write it in UTC, with a Z at the end.")
    seconds, _, fraction = time.astimezone(UTC).isoformat().removesuffix("+00:00").partition(".")
    return f"{seconds}{f'.{fraction}'.rstrip('0').rstrip('.')}Z"
