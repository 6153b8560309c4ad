"""The published draw of worked examples of the crowd benchmark: rows of `ranking`, in blocks, one a contest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from humor_tasks.benchmarks.crowd import corpus
from humor_tasks.data.records import Record
from humor_tasks.errors import BadInput

SAMPLED = 600
SAMPLING_SEED = 42


def worked_examples(
    o: corpus.CrowdOptions, records: Sequence[Record]
) -> Callable[[str, int], Mapping[str, Sequence[Record]]]:
    """The published draw of worked examples, as `Data.drawn`: 600 train rows of `ranking` in blocks, one a contest.

    The rows are pandas' sample of the seed 42. With n examples, contest i in the order of `records` has those from row
    (n + 1) i on, as in the released code, where the last row of a block is the query of another task. Rows of the
    contest itself are passed over, and after the last row comes the first one.
    """

    @cache
    def drawn(fold: str, count: int) -> dict[str, Sequence[Record]]:
        contests = dict.fromkeys(record.cluster for record in records)
        found = {contest: block(o, i, contest, count) for i, contest in enumerate(contests)}
        return {record.id: found[record.cluster] for record in records}

    return drawn


def block(o: corpus.CrowdOptions, place: int, contest: str, count: int) -> list[Record]:
    """The worked examples of one contest; `place` is its position in the order of all, from 0."""
    from numpy.random import RandomState

    rows = corpus.examples_of(o)
    drawn = RandomState(SAMPLING_SEED).choice(len(rows), min(SAMPLED, len(rows)), replace=False)
    sampled = [rows[i] for i in drawn]
    start = (count + 1) * place % len(sampled)
    found = [row for row in (*sampled[start:], *sampled[:start]) if row.cluster != contest][:count]
    if len(found) < count:
        raise BadInput(f"shots={count}: there are only {len(found)} train rows of other contests.")
    return found
