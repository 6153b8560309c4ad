"""Stage 2a: the captions of a contest that later stages need, and for what.

| role | captions |
|---|---|
| finalist | the editors' finalists |
| crowd_top | the five best by crowd mean |
| train_top, train_bottom | the best and the worst 1,000 of a rated contest; at most half of it each |
| middle | the middle tertile by crowd mean |
| unrated | every caption of a contest without ratings |

Captions that a reader sees as the same (equal keys) count once, at the best place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humor_tasks.data.contests.captions import key_of

CROWD_TOP = 5
TRAINING = 1000

Row = Mapping[str, Any]


def select(
    captions: Sequence[Row], finalists: Sequence[str], rated: bool
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The captions with a role, finalists first and then in the crowd's order, and counts.

    captions: the ingested captions in the crowd's order, see `ingest.COLUMNS`. A finalist has the crowd's mean and
    votes where the crowd rated the same caption.
    """
    first: dict[str, Row] = {}
    for row in captions:
        first.setdefault(row["key"], row)
    distinct = list(first.values())
    roles = _rated_roles(len(distinct)) if rated else [{"unrated"} for _ in distinct]
    found: dict[str, dict[str, Any]] = {}
    for text in finalists:
        known = first.get(key_of(text), {"mean": None, "votes": None, "place": None})
        found.setdefault(key_of(text), {**known, "caption": text, "key": key_of(text), "roles": {"finalist"}})
    for row, of in zip(distinct, roles, strict=True):
        if row["key"] in found:
            found[row["key"]]["roles"] |= of
        elif of:
            found[row["key"]] = {**row, "roles": of}
    rows = [{**row, "roles": sorted(row["roles"])} for row in found.values()]
    counts = {"duplicates": len(captions) - len(distinct), "captions": len(rows)}
    return rows, counts | {role: sum(role in row["roles"] for row in rows) for role in sorted(_all_roles(rows))}


def _rated_roles(n: int) -> list[set[str]]:
    """The roles of the captions at each place of a rated contest."""
    trained = min(TRAINING, n // 2)
    held: list[set[str]] = [set() for _ in range(n)]
    for name, start, stop in (
        ("crowd_top", 0, CROWD_TOP),
        ("train_top", 0, trained),
        ("train_bottom", n - trained, n),
        ("middle", n // 3, n - n // 3),
    ):
        for roles in held[start:stop]:
            roles.add(name)
    return held


def _all_roles(rows: Sequence[Row]) -> set[str]:
    return {role for row in rows for role in row["roles"]}
