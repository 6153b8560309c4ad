"""Worked examples: drawn by seed and record, never from what is asked about."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from humor_tasks.data.records import Record
from humor_tasks.errors import BadInput


def by_cluster(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by what they share (a contest, a headline)."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.cluster, []).append(record)
    return groups


def draw(
    pool: Mapping[str, Sequence[Record]], record: Record, count: int, seed: int, where: str, what: str
) -> list[Record]:
    """`count` worked examples for one record, each from another cluster than its own.

    Seeded by the record's id rather than by its place in a shuffled list, so that a limit, another
    order or several processes leave every prompt as it was. Raises BadInput when there are too few.
    """
    names = sorted(set(pool) - {record.cluster})
    if len(names) < count:
        raise BadInput(f"shots={count}: {where} has only {len(names)} other {what}.")
    rng = random.Random(f"{seed}:{record.id}")
    return [rng.choice(pool[name]) for name in rng.sample(names, count)]
