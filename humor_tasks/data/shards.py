"""Parts of a run: which clusters belong to part k of n.

The clusters are sorted by the SHA-256 of their ids and dealt to the parts in turn. The division depends on the ids
alone: not on the order of the rows, the process or the machine. Parts differ by at most one cluster, and a cluster is
never divided, so that each part has valid clustered standard errors.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from humor_tasks.errors import BadInput


class Shard(NamedTuple):
    """Part `number` (from 1) of `total`."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def clusters(self, ids: Iterable[str]) -> frozenset[str]:
        """The clusters of this part; none where there are fewer clusters than parts."""
        dealt = sorted(set(ids), key=lambda each: hashlib.sha256(each.encode("utf-8", "surrogatepass")).digest())
        return frozenset(dealt[self.number - 1 :: self.total])


def read_shard(text: str) -> Shard:
    """The part that `k/n` names. Raises BadInput unless k and n are whole numbers with 1 <= k <= n."""
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    shard = Shard(*map(int, found.groups())) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.total:
        raise BadInput(f"shard={text}: it must be k/n with whole numbers and k from 1 to n, such as 1/4.")
    return shard
