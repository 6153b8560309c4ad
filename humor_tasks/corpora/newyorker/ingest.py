"""Stage 1: the captions of a contest, mended and checked, with the official finalists."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from humor_tasks.corpora.newyorker.work import Work, write_columns
from humor_tasks.data.contests.contest_csv import Contest, read_contest
from humor_tasks.data.writing import write_json

COLUMNS = ("caption", "key", "mean", "precision", "votes")


def ingest(work: Work, folder: Path, number: int | None) -> dict[str, Any]:
    """Write `captions.parquet`, in the crowd's order, and `contest.json`: whether it is rated, and the finalists."""
    assert number is not None
    contest = read_contest(work.crowd[number]) if number in work.crowd else Contest(number, rated=False)
    finalists = list(work.finalists.get(number, ()))
    write_captions(folder / "captions.parquet", contest)
    write_json(folder / "contest.json", {"contest": number, "rated": contest.rated, "finalists": finalists})
    if not finalists:
        contest.counts["contests without known finalists"] += 1
    return dict(Counter(contest.counts) + Counter({"kept": len(contest.caption), "finalists": len(finalists)}))


def write_captions(path: Path, contest: Contest) -> None:
    """Write the contest's captions with their place, 0 for the crowd's best."""
    import pyarrow as pa

    types = dict(zip(COLUMNS, (pa.string(), pa.string(), pa.float64(), pa.float64(), pa.int64()), strict=True))
    columns = {name: (getattr(contest, name), kind) for name, kind in types.items()}
    write_columns(path, columns | {"place": (range(len(contest.caption)), pa.int32())})
