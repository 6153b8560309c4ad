"""The stages of a build, each with the files that it reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.data.reading import parse_json, read_body
from humor_tasks.studies.corpus.newyorker.embedding import embed
from humor_tasks.studies.corpus.newyorker.ingest import ingest
from humor_tasks.studies.corpus.newyorker.select import select
from humor_tasks.studies.corpus.newyorker.work import Stage, Work

Counts = Mapping[str, Any]


# ---- files --------------------------------------------------------------------------------------


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    from pyarrow.parquet import read_table

    rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return rows


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], names: Mapping[str, Any]) -> None:
    """Write rows as Parquet; names: column -> its pyarrow type."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    held = list(rows)
    columns = {name: pa.array([row[name] for row in held], kind) for name, kind in names.items()}
    write_table(pa.table(columns), path, compression="zstd")


def selected(work: Work, contest: int | None) -> list[dict[str, Any]]:
    """The selected captions of a contest."""
    return read_rows(work.unit("select", contest) / "captions.parquet")


def vectors_of(work: Work, contest: int | None) -> NDArray[np.float32]:
    """Their vectors [captions, dimensions]."""
    found: NDArray[np.float16] = np.load(work.unit("embed", contest) / "vectors.npy", allow_pickle=False)
    return found.astype(np.float32)


def facts_of(work: Work, contest: int | None) -> dict[str, Any]:
    """Whether a contest is rated, and its finalists."""
    path = work.unit("ingest", contest) / "contest.json"
    found: dict[str, Any] = parse_json(path, read_body(path))
    return found


# ---- stages -------------------------------------------------------------------------------------


def _select(work: Work, folder: Path, contest: int | None) -> Counts:
    import pyarrow as pa

    facts = facts_of(work, contest)
    captions = read_rows(work.unit("ingest", contest) / "captions.parquet")
    rows, counts = select(captions, facts["finalists"], facts["rated"])
    names = {"caption": pa.string(), "key": pa.string(), "mean": pa.float64(), "votes": pa.int64()}
    write_rows(folder / "captions.parquet", rows, names | {"place": pa.int32(), "roles": pa.list_(pa.string())})
    return counts


def _embed(work: Work, folder: Path, contest: int | None) -> Counts:
    texts = [row["caption"] for row in selected(work, contest)]
    np.save(folder / "vectors.npy", embed(texts, work.settings["embedding"][0]), allow_pickle=False)
    return {"captions": len(texts)}


STAGES = {
    stage.name: stage
    for stage in (
        Stage("ingest", ingest, trains=True),
        Stage("select", _select, ("ingest",), trains=True),
        Stage("embed", _embed, ("select",), ("embedding",), trains=True),
    )
}
