"""The stages of a build, each with the files that it reads and writes.

The last step, the blocks, matching's wrong captions and the dataset folder (see `dataset`), takes seconds and is done
as a whole.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.corpora.newyorker.embedding import embed
from humor_tasks.corpora.newyorker.ingest import ingest
from humor_tasks.corpora.newyorker.pool import pool
from humor_tasks.corpora.newyorker.quality import Validation, scores, training
from humor_tasks.corpora.newyorker.ranking import FEATURES, assign
from humor_tasks.corpora.newyorker.select import select
from humor_tasks.corpora.newyorker.work import Stage, Work, read_json, reading, write_columns
from humor_tasks.data.contests.contest_csv import twins
from humor_tasks.data.writing import write_json
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.quality import Halves, Sums, fit, load, sums
from humor_tasks.models.quality.model import Encoder

Counts = Mapping[str, Any]


# ---- files --------------------------------------------------------------------------------------


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a unit's Parquet file."""
    from pyarrow.parquet import read_table

    with reading(path):
        rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return rows


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], names: Mapping[str, Any]) -> None:
    """Write rows as a unit's Parquet file; names: column -> its pyarrow type."""
    write_columns(path, {name: ([row[name] for row in rows], kind) for name, kind in names.items()})


def read_array(path: Path) -> NDArray[Any]:
    """The array of a unit's file."""
    with reading(path):
        found: NDArray[Any] = np.load(path, allow_pickle=False)
    return found


def selected(work: Work, contest: int | None) -> list[dict[str, Any]]:
    """The selected captions of a contest."""
    return read_rows(work.unit("select", contest) / "captions.parquet")


def vectors_of(work: Work, contest: int | None) -> NDArray[np.float32]:
    """Their vectors [captions, dimensions]."""
    return read_array(work.unit("embed", contest) / "vectors.npy").astype(np.float32)


def facts_of(work: Work, contest: int | None) -> dict[str, Any]:
    """Whether a contest is rated, and its finalists."""
    path = work.unit("ingest", contest) / "contest.json"
    found: dict[str, Any] = read_json(path)
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


def _twins(work: Work, folder: Path, contest: int | None) -> Counts:
    units = work.units("ingest")
    files = {int(str(each)): work.unit("ingest", each) / "captions.parquet" for each in units}
    found = twins((n, _keys(path)) for n, path in files.items())
    write_json(folder / "twins.json", [list(pair) for pair in found])
    return {"pairs of contests with the same captions": len(found)}


def _keys(path: Path) -> list[str]:
    from pyarrow.parquet import read_table

    with reading(path):
        keys: list[str] = read_table(path, columns=["key"])["key"].to_pylist()
    return keys


def twins_of(work: Work) -> list[tuple[int, int]]:
    """The pairs of contests with the same captions."""
    path = work.unit("twins") / "twins.json"
    return [(int(a), int(b)) for a, b in read_json(path)]


def _quality(work: Work, folder: Path, contest: int | None) -> Counts:
    if work.settings["quality_folder"]:
        model: Halves = load(Path(work.settings["quality_folder"]), work.settings["embedding"][0])
        shutil.copytree(work.settings["quality_folder"], folder / "model")
    elif work.settings["quality_model"]:
        from humor_tasks.training.quality import fit_text

        model = fit_text(work.settings["quality_model"], list(_labelled(work)), twins_of(work))
        model.save(folder / "model")
    else:
        name = work.settings["embedding"][0]
        model = fit(_sums_of(work), Encoder.of(Embedding(name), name), twins_of(work))
        model.save(folder / "model")
    found, seen = Validation(), {each for side in model.contests for each in side}
    for number in sorted(seen.intersection(int(str(each)) for each in work.units("select"))):
        rows, vectors = selected(work, number), vectors_of(work, number)
        places, best = training(rows)
        found.add(scores(model, vectors[places], [rows[i]["caption"] for i in places], number).tolist(), best)
    estimates = {name: [e.value, e.low, e.high] for name, e in found.estimates().items()}
    write_json(folder / "validation.json", estimates)
    return {"contests learnt from": len(seen)}


def _labelled(work: Work) -> Iterator[tuple[int, list[str], list[bool]]]:
    """The training captions of each rated contest, for a text model."""
    for unit in work.units("select"):
        number = int(str(unit))
        if facts_of(work, number)["rated"]:
            rows = selected(work, number)
            places, best = training(rows)
            yield number, [rows[i]["caption"] for i in places], best


def _sums_of(work: Work) -> Iterator[tuple[int, Sums]]:
    for unit in work.units("select"):
        number = int(str(unit))
        if facts_of(work, number)["rated"]:
            rows, vectors = selected(work, number), vectors_of(work, number)
            places, best = training(rows)
            yield number, sums(vectors[places], [rows[i]["caption"] for i in places], best)


@lru_cache(maxsize=1)
def _judges(folder: Path) -> Halves:
    """The quality model of a finished stage, once a process: a text model is large."""
    return load(folder, vectors_only=True)


def _scores(work: Work, folder: Path, contest: int | None) -> Counts:
    assert contest is not None
    model = _judges(work.unit("quality") / "model")
    captions = [row["caption"] for row in selected(work, contest)]
    found = scores(model, vectors_of(work, contest), captions, contest)
    np.save(folder / "scores.npy", found, allow_pickle=False)
    return {"captions": len(found)}


def _pool(work: Work, folder: Path, contest: int | None) -> Counts:
    import pyarrow as pa

    quality = read_array(work.unit("scores", contest) / "scores.npy").tolist()
    rows, counts = pool(selected(work, contest), vectors_of(work, contest), quality)
    names: dict[str, Any] = dict.fromkeys(("caption", "key", "source"), pa.string())
    names |= dict.fromkeys(("row", "words", "characters", "punctuation"), pa.int32())
    names |= dict.fromkeys(("quality", "mean"), pa.float64())
    write_rows(folder / "captions.parquet", rows, names | {"votes": pa.int64()})
    return counts


def pooled(work: Work, contest: int | None) -> list[dict[str, Any]]:
    """The high-quality captions and the okay pool of a contest."""
    return read_rows(work.unit("pool", contest) / "captions.parquet")


def _ranking(work: Work, folder: Path, contest: int | None) -> Counts:
    rows, vectors = pooled(work, contest), vectors_of(work, contest)
    high = [row for row in rows if row["source"] != "okay"]
    okay = [row for row in rows if row["source"] == "okay"]
    x, y = ([[row[name] for name in FEATURES] for row in side] for side in (high, okay))
    u, v = (vectors[[row["row"] for row in side]] for side in (high, okay))
    found = assign(x, y, u, v)
    pairs = []
    for h, o in enumerate(found.partner.tolist()):
        if o >= 0:
            pair = {"high": high[h]["caption"], "okay": okay[o]["caption"], "winner_source": high[h]["source"]}
            of = {"high_features": x[h], "okay_features": y[o], "cosine": float(found.cosine[h])}
            pairs.append(pair | of)
    write_json(folder / "pairs.json", pairs)
    return {"pairs": len(pairs), "high-quality captions without a pair": found.without}


def pairs_of(work: Work, contest: int | None) -> list[dict[str, Any]]:
    """The pairs of a contest."""
    path = work.unit("ranking", contest) / "pairs.json"
    found: list[dict[str, Any]] = read_json(path)
    return found


STAGES = {
    stage.name: stage
    for stage in (
        Stage("ingest", ingest, trains=True),
        Stage("select", _select, ("ingest",), trains=True),
        Stage("embed", _embed, ("select",), ("embedding",), trains=True),
        Stage("twins", _twins, ("ingest",), whole=True),
        Stage(
            "quality",
            _quality,
            ("ingest", "select", "embed", "twins"),
            ("embedding", "quality", "quality_model"),
            whole=True,
            version=3,
        ),
        Stage("scores", _scores, ("quality", "select", "embed")),
        Stage("pool", _pool, ("scores", "select", "embed"), version=2),
        Stage("ranking", _ranking, ("pool", "embed"), version=2),
    )
}
