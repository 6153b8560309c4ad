"""What a benchmark loads: the records to evaluate, their provenance, and the pool of worked examples."""

from __future__ import annotations

import dataclasses
import hashlib
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

BUDGET_ORDER = "humor-tasks budget 1"
"""What the order of clusters in budgets is drawn by. It never changes: the samples are published by this rule."""
FEWEST = 2
"""The smallest number of clusters in a budget: an interval needs two."""


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
        return dataclasses.replace(self._of(selected), positions=places).with_provenance(shard=str(shard))

    def budgeted(self, items: int, unit: Callable[[str], str]) -> Data:
        """About `items` of the records: those of the first of all clusters in an order that is the same for everybody.

        The order is that of the SHA-256 of BUDGET_ORDER and the cluster's unit, so that a larger budget holds a smaller
        one, and benchmarks of one corpus have clusters in common. The number of clusters follows from `items` and the
        mean size alone, so that every cluster is as likely to be chosen as any other: a mean over clusters is unbiased.
        It is at least FEWEST, for an interval. All records where that is no fewer.

        unit: the name of a cluster, as `Benchmark.unit` has it. The fingerprint in the provenance stays that of the
        whole data.
        """
        clusters = {record.cluster for record in self.records}
        number = max(FEWEST, round(items * len(clusters) / len(self.records)))
        if number >= len(clusters):
            return self
        data = self._of(frozenset(sorted(clusters, key=lambda cluster: _place(unit(cluster)))[:number]))
        return data.with_provenance(rows=len(data.records), budget=items)

    def _of(self, clusters: frozenset[str]) -> Data:
        """The records of these clusters; the ids of the others are dropped."""
        taken = tuple(record for record in self.records if record.cluster in clusters)
        others = {record.id for record in self.records if record.cluster not in clusters}
        return dataclasses.replace(self, records=taken, dropped=self.dropped | others)

    def with_provenance(self, **entries: Any) -> Data:
        """The same with other entries of its provenance."""
        return dataclasses.replace(self, provenance={**self.provenance, **entries})


def _place(unit: str) -> bytes:
    """What sorts a cluster in the order of budgets."""
    return hashlib.sha256(f"{BUDGET_ORDER} {unit}".encode("utf-8", "surrogatepass")).digest()
