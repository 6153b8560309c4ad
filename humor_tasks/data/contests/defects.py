"""Contests whose ratings say little: thin votes and broken scoring."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import NamedTuple

from humor_tasks.data.contests.contest_csv import Contest

THIN = 10
"""A contest's votes are thin where half of its captions have fewer."""
BROKEN = 0.9
"""A contest's scoring is broken where more than this share of its captions has one and the same mean."""


class Defect(NamedTuple):
    """What makes the ratings of a contest doubtful, and how much; its text says both."""

    kind: str
    measured: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, self))


def defects(contest: Contest) -> tuple[Defect, ...]:
    """What makes the ratings of a rated contest doubtful; () where nothing does."""
    if not contest.caption:
        return (Defect("no captions"),)
    votes = median([each or 0 for each in contest.votes])
    tied = Counter(contest.mean).most_common(1)[0][1] / len(contest.mean)
    found = [Defect("thin votes", f"median {votes:g}")] if votes < THIN else []
    if tied > BROKEN:
        found.append(Defect("broken scoring", f"{tied:.1%} of captions have the same mean"))
    return tuple(found)
