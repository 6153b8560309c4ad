"""Captions and ratings of the raw contests, as section 2 of Hessel et al. (ACL 2023) counts its two sources."""

from __future__ import annotations

from statistics import mean, median

from humor_tasks.lab.corpora.newyorker.stages import facts_of, read_rows
from humor_tasks.lab.corpora.newyorker.work import Work
from humor_tasks.papers.published import published

STUDY = "build newyorker"  # of the figures in published.toml


def statistics(work: Work) -> dict[str, float]:
    """Quantity -> value, of rated and of unrated contests with captions.

    contests; captions: distinct ones, in all, and the mean and median of a contest; ratings: votes, the same.
    contests_without_captions: those of which the annotations know no more than the finalists.
    """
    captions: dict[str, list[int]] = {"rated": [], "unrated": []}
    ratings: list[int] = []
    empty = 0
    for contest in work.units("ingest"):
        rows = read_rows(work.unit("ingest", contest) / "captions.parquet", ["caption", "votes"])
        rated = facts_of(work, contest)["rated"]
        if rows:
            captions["rated" if rated else "unrated"].append(len({row["caption"] for row in rows}))
        if rows and rated:
            ratings.append(sum(row["votes"] or 0 for row in rows))
        empty += not rows
    found: dict[str, float] = {"contests_without_captions": empty}
    for part, counts in captions.items():
        found |= {f"contests_{part}": len(counts)} | _summary("captions", part, counts)
    return found | _summary("ratings", "rated", ratings)


def _summary(name: str, part: str, counts: list[int]) -> dict[str, float]:
    if not counts:
        return {}
    of_contests = {f"{name}_mean_{part}": mean(counts), f"{name}_median_{part}": median(counts)}
    return {f"{name}_{part}": sum(counts)} | of_contests


def beside_published(work: Work) -> dict[str, str]:
    """Quantity -> its value here, with the published one where there is one."""
    figures = {figure.estimate: figure.value for figure in published("ranking", STUDY)}
    return {
        name: f"{value:,.0f}" + (f" (published: {figures[name]:,.0f})" if name in figures else "")
        for name, value in statistics(work).items()
    }
