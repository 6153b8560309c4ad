"""What a benchmark loads: the records to evaluate, their provenance, and the pool of worked examples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Record, Shard

PROTOCOL_PARAMETERS = (
    "shots",
    "shots_order",
    "prompts",
    "order",
    "cot",
    "scale",
    "estimate",
    "on_unparsed",
    "extraction",
    "thinking",
    "seed",
)
"""Parameters that change how rows are asked or scored, and not which rows are read and how."""


@dataclass(frozen=True)
class Data:
    """Records to evaluate, their provenance, and the pool of worked examples.

    provenance: dataset, configs, split, requested and resolved revision, number of rows and their fingerprint.
    pool: returns the training records of a fold by cluster; they are loaded only where worked examples are used. None
    where there are no training rows.
    dropped: ids of rows that are not scored; a predictions file may contain them.
    positions: where `records` are a part of the data: id -> position in the whole, from 0. Otherwise empty.
    entries: returns the texts of a cluster that a reply may repeat. None where a reply is not compared with any, and in
    a run without data (`Benchmark.reopen`).
    drawn_examples: returns worked examples that depend on the order of the whole data; `records` may be a
    part: fold and number -> record id -> examples. None where examples are drawn for each record alone.
    """

    records: tuple[Record, ...]
    provenance: Mapping[str, Any]
    pool: Callable[..., Mapping[str, Sequence[Record]]] | None = None
    dropped: frozenset[str] = frozenset()
    positions: Mapping[str, int] = field(default_factory=dict)
    drawn_examples: Callable[[str, int], Mapping[str, Sequence[Record]]] | None = None
    entries: Callable[[str], Sequence[str]] | None = None

    def part(self, shard: Shard, where: str) -> Data:
        """The records of one part. The provenance stays that of the whole, with the part's name as `shard`.

        Raises BadInput, with `where` in the message, for a part without clusters.
        """
        clusters = {record.cluster for record in self.records}
        selected = shard.clusters(clusters)
        if not selected:
            raise BadInput(
                f"{where} has {len(clusters)} clusters (such as contests), which are not divided, so shard={shard} is "
                f"empty. Parts 1 to {len(clusters)} of {shard.total} hold all rows: they are the whole run without "
                "this one."
            )
        places = {record.id: i for i, record in enumerate(self.records) if record.cluster in selected}
        return dataclasses.replace(
            self,
            records=tuple(self.records[i] for i in places.values()),
            provenance={**self.provenance, "shard": str(shard)},
            dropped=self.dropped | {record.id for record in self.records if record.id not in places},
            positions=places,
        )
