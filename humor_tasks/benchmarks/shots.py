"""Worked examples (shots): sampled by seed and record, never from the record's own cluster."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from humor_tasks.data.records import Record
from humor_tasks.errors import BadInput


def by_cluster(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by cluster (a contest, a headline)."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.cluster, []).append(record)
    return groups


def draw(
    pool: Mapping[str, Sequence[Record]], record: Record, count: int, seed: int, where: str, what: str
) -> list[Record]:
    """`count` worked examples for one record, each from a different cluster, none from the record's own.

    The random generator is seeded by the record's id, not by its position. A limit, another order or several processes
    therefore do not change a prompt. Raises BadInput where the pool has too few clusters.
    """
    names = sorted(set(pool) - {record.cluster})
    if len(names) < count:
        raise BadInput(f"shots={count}: {where} has only {len(names)} other {what}.")
    rng = random.Random(f"{seed}:{record.id}")
    return [rng.choice(pool[name]) for name in rng.sample(names, count)]
