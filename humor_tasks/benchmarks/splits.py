"""A check on the splits that a model is trained and evaluated on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations

from humor_tasks.errors import BadInput, listed


def check_disjoint(where: str, clusters: Mapping[str, Collection[str]], what: str = "contest") -> None:
    """Raise BadInput where two splits share a cluster, such as a contest: memorised answers would count as correct.

    clusters: split -> its clusters. where: task, dataset or fold, for the message. what: the cluster's name.
    """
    for one, other in combinations(clusters, 2):
        if both := sorted(set(clusters[one]) & set(clusters[other])):
            raise BadInput(
                f"{where}: {listed(what, both, most=5)} in {one} and in {other}: memorised answers would count as "
                f"correct. A {what} must be in one split only."
            )
