"""What a check finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
MOST_ROWS = 20
"""Rows that a finding names."""

KINDS: dict[str, str] = {
    "duplicate_choice": "the same choice stands twice in a row",
    "empty_text": "a choice or a text that nobody sees",
    "duplicate_id": "the same id twice in one split, or in two splits of one fold",
    "contradiction": "the same question with another answer",
    "row_in_two_splits": "the same row in two splits of one fold",
    "group_in_two_splits": "a group in two splits of one fold",
    "picture_in_two_splits": "the same picture in two splits of one fold",
    "unreadable_picture": "a picture that cannot be read",
    "shortcut": "a rule without understanding is right more often than chance",
    "imbalance": "answers are not equally frequent",
    "duplicate_row": "the same row twice in one split",
    "text_in_two_splits": "the same text in two splits of one fold",
    "near_duplicate_in_two_splits": "almost the same text in two splits of one fold",
    "near_duplicate": "almost the same text in two groups of one split",
    "picture_in_two_groups": "the same picture in two groups",
    "similar_picture": "almost the same picture in two groups",
    "control_character": "a text with control characters",
    "text_elsewhere": "a text that stands in another dataset, too",
    "shared_between_folds": "groups that are trained on in one fold and evaluated in another",
    "unlabelled": "rows without a label",
}
"""Kind -> what it means."""


@dataclass(frozen=True)
class Finding:
    """One finding; `count` is that of its rows, pairs or values, `rows` names the first of them."""

    kind: str
    severity: Severity
    count: int
    what: str
    rows: tuple[str, ...] = ()


def found(kind: str, severity: Severity, what: str, rows: Iterable[str], count: int | None = None) -> list[Finding]:
    """One finding, or none where there are no rows."""
    named = list(rows)
    if not named and not count:
        return []
    return [Finding(kind, severity, len(named) if count is None else count, what, tuple(named[:MOST_ROWS]))]


def fails(findings: Sequence[Finding], kinds: Sequence[str]) -> bool:
    """Whether the audit fails: for a finding of these kinds, or without kinds for one that is an error."""
    return any(each.kind in kinds if kinds else each.severity == "error" for each in findings)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, then in the order of KINDS."""
    kinds = list(KINDS)
    return sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), kinds.index(each.kind)))


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 row", "2 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
