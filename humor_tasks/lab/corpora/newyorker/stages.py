"""The stages of a build, each with the files that it reads and writes.

Stage 1, ingest, mends and checks the captions of a contest. Stage 4, quality, fits the text-only quality model on the
rated contests and measures it on those that it did not see: accuracy, and precision at k of both ends, as Hessel et al.
(ACL 2023, Appendix C) report of theirs. The rules of selection and pool are in `pool`, the pairs in `ranking`. The last
step, the blocks, matching's wrong captions and the dataset folder (see `building`), takes seconds and is done as a
whole.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humor_tasks.files.writing import write_json, write_parquet
from humor_tasks.lab.corpora.newyorker.pool import embed, pool, select
from humor_tasks.lab.corpora.newyorker.ranking import FEATURES, Pair, assign
from humor_tasks.lab.corpora.newyorker.work import Stage, Work, read_json, reading
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.quality import Halves, fit, load, sums
from humor_tasks.models.quality.model import Encoder
from humor_tasks.rows.contests.contest_csv import Contest, read_contest, twins
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

Counts = Mapping[str, Any]


# ---- files --------------------------------------------------------------------------------------


def read_rows(path: Path, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows of a unit's Parquet file; columns: those to read, by default all."""
    from pyarrow.parquet import read_table

    with reading(path):
        rows: list[dict[str, Any]] = read_table(path, columns=columns).to_pylist()
    return rows


def read_array(path: Path) -> NDArray[Any]:
    """The array of a unit's file."""
    with reading(path):
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array


def selected(work: Work, contest: int | None) -> list[dict[str, Any]]:
    """The selected captions of a contest."""
    return read_rows(work.unit("select", contest) / "captions.parquet")


def vectors_of(work: Work, contest: int | None) -> NDArray[np.float32]:
    """Their vectors [captions, dimensions]."""
    return read_array(work.unit("embed", contest) / "vectors.npy").astype(np.float32)


def twins_of(work: Work) -> list[tuple[int, int]]:
    """The pairs of contests with the same captions."""
    return [(int(a), int(b)) for a, b in read_json(work.unit("twins") / "twins.json")]


def pooled(work: Work, contest: int | None) -> list[dict[str, Any]]:
    """The high-quality captions and the okay pool of a contest."""
    return read_rows(work.unit("pool", contest) / "captions.parquet")


def pairs_of(work: Work, contest: int) -> list[Pair]:
    """The pairs of a contest."""
    return [Pair(contest, **pair) for pair in read_json(work.unit("ranking", contest) / "pairs.json")]


# ---- stages -------------------------------------------------------------------------------------


def _ingest(work: Work, folder: Path, number: int | None) -> Counts:
    """Writes the captions in the crowd's order with their place, whether the contest is rated, and its finalists."""
    import pyarrow as pa

    assert number is not None
    contest = read_contest(work.crowd[number]) if number in work.crowd else Contest(number, rated=False)
    finalists = list(work.finalists.get(number, ()))
    types: dict[str, Any] = {"caption": pa.string(), "key": pa.string(), "mean": pa.float64()}
    types |= {"precision": pa.float64(), "votes": pa.int64()}
    columns = [getattr(contest, name) for name in types]
    rows = [dict(zip(types, cells, strict=True)) | {"place": i} for i, cells in enumerate(zip(*columns, strict=True))]
    write_parquet(folder / "captions.parquet", rows, types | {"place": pa.int32()})
    write_json(folder / "contest.json", {"contest": number, "rated": contest.rated, "finalists": finalists})
    if not finalists:
        contest.counts["contests without known finalists"] += 1
    return dict(Counter(contest.counts) + Counter({"kept": len(contest.caption), "finalists": len(finalists)}))


def facts_of(work: Work, contest: int | None) -> dict[str, Any]:
    """Whether a contest is rated, and its finalists."""
    facts: dict[str, Any] = read_json(work.unit("ingest", contest) / "contest.json")
    return facts


def _select(work: Work, folder: Path, contest: int | None) -> Counts:
    import pyarrow as pa

    facts = facts_of(work, contest)
    captions = read_rows(work.unit("ingest", contest) / "captions.parquet")
    rows, counts = select(captions, facts["finalists"], facts["rated"])
    types: dict[str, Any] = {"caption": pa.string(), "key": pa.string(), "mean": pa.float64(), "votes": pa.int64()}
    write_parquet(folder / "captions.parquet", rows, types | {"place": pa.int32(), "roles": pa.list_(pa.string())})
    return counts


def _embed(work: Work, folder: Path, contest: int | None) -> Counts:
    texts = [row["caption"] for row in selected(work, contest)]
    np.save(folder / "vectors.npy", embed(texts, work.settings["embedding"][0]), allow_pickle=False)
    return {"captions": len(texts)}


def _twins(work: Work, folder: Path, contest: int | None) -> Counts:
    files = {number: work.unit("ingest", number) / "captions.parquet" for number in _contests(work, "ingest")}
    pairs = twins((number, [row["key"] for row in read_rows(path, ["key"])]) for number, path in files.items())
    write_json(folder / "twins.json", [list(pair) for pair in pairs])
    return {"pairs of contests with the same captions": len(pairs)}


def _contests(work: Work, stage: str) -> list[int]:
    return [number for number in work.units(stage) if number is not None]


def _quality(work: Work, folder: Path, contest: int | None) -> Counts:
    name, contests = work.settings["embedding"][0], _contests(work, "select")
    if work.settings["quality_folder"]:
        model: Halves = load(Path(work.settings["quality_folder"]), name)
        shutil.copytree(work.settings["quality_folder"], folder / "model")
    else:
        sets = _training_sets(work, (number for number in contests if facts_of(work, number)["rated"]))
        if work.settings["quality_model"]:
            from humor_tasks.lab.training.quality import fit_text

            labelled = [(number, captions, best) for number, _, captions, best in sets]
            model = fit_text(work.settings["quality_model"], labelled, twins_of(work))
        else:
            added = (
                (number, sums(vectors_of(work, number)[places], captions, best))
                for number, places, captions, best in sets
            )
            model = fit(added, Encoder.of(Embedding(name), name), twins_of(work))
        model.save(folder / "model")
    validation, learnt = Validation(), {number for half in model.contests for number in half}
    for number, places, captions, best in _training_sets(work, sorted(learnt.intersection(contests))):
        odds = model.score(captions, [number] * len(captions), vectors_of(work, number)[places])
        validation.add(odds.tolist(), best)
    write_json(
        folder / "validation.json", {name: [e.value, e.low, e.high] for name, e in validation.estimates().items()}
    )
    return {"contests learnt from": len(learnt)}


def _training_sets(work: Work, contests: Iterable[int]) -> Iterator[tuple[int, list[int], list[str], list[bool]]]:
    """(contest, places, captions, whether each is one of the best) of the training captions of each contest."""
    for number in contests:
        rows = selected(work, number)
        places, best = training(rows)
        yield number, places, [rows[i]["caption"] for i in places], best


@lru_cache(maxsize=1)
def _quality_model(folder: Path) -> Halves:
    """The quality model of a finished stage, once a process: a text model is large."""
    return load(folder, vectors_only=True)


def _scores(work: Work, folder: Path, contest: int | None) -> Counts:
    """Writes the log-odds of the captions, by the model that has not seen their contest."""
    model = _quality_model(work.unit("quality") / "model")
    captions = [row["caption"] for row in selected(work, contest)]
    odds = model.score(captions, [contest] * len(captions), vectors_of(work, contest))
    np.save(folder / "scores.npy", odds, allow_pickle=False)
    return {"captions": len(odds)}


def _pool(work: Work, folder: Path, contest: int | None) -> Counts:
    import pyarrow as pa

    quality = read_array(work.unit("scores", contest) / "scores.npy").tolist()
    rows, counts = pool(selected(work, contest), vectors_of(work, contest), quality)
    types: dict[str, Any] = dict.fromkeys(("caption", "key", "source"), pa.string())
    types |= dict.fromkeys(("row", "words", "characters", "punctuation"), pa.int32())
    types |= dict.fromkeys(("quality", "mean"), pa.float64())
    write_parquet(folder / "captions.parquet", rows, types | {"votes": pa.int64()})
    return counts


def _ranking(work: Work, folder: Path, contest: int | None) -> Counts:
    rows, vectors = pooled(work, contest), vectors_of(work, contest)
    high = [row for row in rows if row["source"] != "okay"]
    okay = [row for row in rows if row["source"] == "okay"]
    x, y = ([[row[name] for name in FEATURES] for row in side] for side in (high, okay))
    u, v = (vectors[[row["row"] for row in side]] for side in (high, okay))
    assigned = assign(x, y, u, v)
    pairs = [
        {
            "high": high[h]["caption"],
            "okay": okay[o]["caption"],
            "winner_source": high[h]["source"],
            "high_features": x[h],
            "okay_features": y[o],
            "cosine": float(assigned.cosine[h]),
        }
        for h, o in enumerate(assigned.partner.tolist())
        if o >= 0
    ]
    write_json(folder / "pairs.json", pairs)
    return {"pairs": len(pairs), "high-quality captions without a pair": assigned.without}


# ---- training and validation of the quality model ----------------------------------------------

AT = (1, 5, 10, 20, 30, 50, 100)


@dataclass
class Validation:
    """Accuracy, and precision at k of both ends, over contests.

    Ranked are the training captions of a contest, best and worst in equal numbers, so that chance is .5, by the model
    that did not see the contest. accuracy: the share of captions on the right side of even odds. precision at k of the
    best: of the k captions ranked highest, the share that are the crowd's best; of the worst: of the k ranked lowest,
    the share that are its worst. A contest with fewer captions than k is left out at that k.
    """

    shares: dict[str, list[float]] = field(default_factory=dict)

    def add(self, scores: Sequence[float], best: Sequence[bool]) -> None:
        """Add a contest's captions: their log-odds, and whether each is one of the crowd's best."""
        odds, good = np.asarray(scores, dtype=float), np.asarray(best, dtype=bool)
        order = np.argsort(-odds, kind="stable")
        for end, ranked in (("best", good[order]), ("worst", ~good[order[::-1]])):
            for k in AT:
                if k <= len(ranked):
                    self._add(f"precision at {k} of the {end}", ranked[:k])
        if len(good):
            self._add("accuracy", (odds > 0) == good)
            self._add("accuracy of halves", good[order][: len(good) // 2])

    def _add(self, name: str, right: NDArray[np.bool_]) -> None:
        self.shares.setdefault(name, []).append(float(right.mean()))

    def estimates(self) -> dict[str, Estimate]:
        """The mean of each over contests, with an interval within [0, 1]."""
        return {name: clustered_proportion(values, range(len(values))) for name, values in self.shares.items()}


def training(rows: Iterable[dict[str, Any]]) -> tuple[list[int], list[bool]]:
    """The places of a contest's training captions, and whether each is one of the best."""
    places, best = [], []
    for i, row in enumerate(rows):
        top, bottom = "train_top" in row["roles"], "train_bottom" in row["roles"]
        if top or bottom:
            places.append(i)
            best.append(top)
    return places, best


STAGES = {
    stage.name: stage
    for stage in (
        Stage("ingest", _ingest, trains=True),
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
        Stage("pool", _pool, ("scores", "select", "embed"), version=3),
        Stage("ranking", _ranking, ("pool", "embed"), version=2),
    )
}
