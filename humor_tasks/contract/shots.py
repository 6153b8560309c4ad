"""Worked examples (shots): sampled by seed and record, never from the record's own cluster.

Or as the released script of the caption contest samples them, by one random stream over the whole split.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Record


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


def released(
    records: Sequence[Record], pool: Mapping[str, Sequence[Record]], count: int, where: str
) -> dict[str, list[Record]]:
    """Worked examples as the released script draws them: record id -> `count` examples, in the script's order of rows.

    Source: gpt4/gpt4_from_description.py of the code of Hessel et al. 2023. numpy's global generator, seeded with 2,
    shuffles the rows to evaluate. For each row it then draws distinct contests without replacement from the train
    contests in numerical order, and one instance of each. numpy keeps the stream of this generator fixed.

    records: all rows of the split, in the dataset's order. pool: all train rows by contest, in the dataset's order.
    Raises BadInput where the pool has too few contests, and where a contest is in both splits: the script does not keep
    a row's own contest from its examples.
    """
    from numpy.random import RandomState

    if len(pool) < count:
        raise BadInput(f"shots={count}: {where} has only {len(pool)} contests.")
    if common := [record for record in records if record.cluster in pool]:
        raise BadInput(
            f"shots_order=released: contest {common[0].cluster} of {common[0].id} is also in {where}, so that a row's "
            "own contest could be among its examples. Leave shots_order out."
        )
    numeric = all(name.isdecimal() for name in pool)
    names = sorted(pool, key=int if numeric else None)
    stream = RandomState(2)
    order = list(range(len(records)))
    stream.shuffle(order)
    drawn = {}
    for i in order:
        contests = [pool[names[c]] for c in stream.choice(len(names), size=count, replace=False)]
        drawn[records[i].id] = [instances[stream.choice(len(instances))] for instances in contests]
    return drawn
