"""Builds with damaged work folders and input, and twins of contests that a quality model saw."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from standins.contests import annotation
from standins.newyorker_stages import files_in, work_in

from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_parquet
from humor_tasks.lab.corpora.newyorker.building import build
from humor_tasks.lab.corpora.newyorker.stages import read_array, read_rows
from humor_tasks.lab.corpora.newyorker.work import read_json
from humor_tasks.models.quality import fit, sums
from humor_tasks.models.quality.model import PROBES, Encoder
from humor_tasks.rows.contests.annotations import read_annotations
from humor_tasks.rows.contests.contest_csv import contest_number, read_contest


def test_a_unit_without_counts_is_done_again(tmp_path: Path) -> None:
    work = work_in(tmp_path)
    build(work, None, 1, lambda line: None)
    before = files_in(tmp_path)
    (work.unit("long", 2) / "counts.json").unlink()
    (work.unit("long", 2) / "long.txt").write_text("con")
    build(work, None, 1, lambda line: None)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("size", [0, 1, 0.5, 0.99])
def test_files_that_were_cut_are_not_read(tmp_path: Path, size: float) -> None:
    import pyarrow as pa

    write_parquet(tmp_path / "a.parquet", [{"n": i} for i in range(50)], {"n": pa.int32()})
    np.save(tmp_path / "a.npy", np.zeros((9, 9)), allow_pickle=False)
    (tmp_path / "a.json").write_text("[1, 2, 3]")
    for name, read in (("a.parquet", read_rows), ("a.npy", read_array), ("a.json", read_json)):
        path = tmp_path / name
        read(path)
        data = path.read_bytes()
        path.write_bytes(data[: int(size * len(data)) if size < 1 else -1])
        with pytest.raises(BadInput, match=r"missing or damaged.*Remove the folder"):
            read(path)
        path.unlink()
        with pytest.raises(BadInput, match="missing or damaged"):
            read(path)


@pytest.mark.parametrize(
    ("same", "seen"),
    [
        ([(3, 4)], ((2,), (1, 3, 4, 5))),
        ([(2, 3), (2, 6), (3, 6)], ((2, 3, 4, 6), (1, 5))),
        ([(1, 2), (1, 6), (2, 6)], ((4,), (1, 2, 3, 5, 6))),
        ([(1, 4), (3, 4)], ((2,), (1, 3, 4, 5))),
        ([(2, 5), (4, 5)], ((2, 4, 5), (1, 3))),
        ([(5, 8)], ((2, 4), (1, 3, 5, 8))),
    ],
)
def test_no_model_judges_a_twin_of_what_it_saw(same: list[tuple[int, int]], seen: tuple[tuple[int, ...], ...]) -> None:
    """Also not where three contests are twins, or where one without ratings is."""
    vectors = np.eye(4)[[0, 1, 2, 3]]
    held = [(n, sums(vectors, list("abcd"), [True, True, False, False])) for n in range(1, 6)]
    model = fit(held, Encoder("x", np.zeros((len(PROBES), 4))), same)
    assert [set(s) - {6} for s in model.contests] == [set(s) - {6} for s in seen]
    for a, b in same:
        assert model.judge(a) == model.judge(b) is not None


@pytest.mark.parametrize("name", ["description_hit", "link_hit"])
@pytest.mark.parametrize("value", [5, None, {"a": 1}, "x"])
def test_hits_that_are_no_list(tmp_path: Path, name: str, value: object) -> None:
    entry = annotation(101, ["A dog walks in."])
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps({"101": {**entry, "mturk_annotations": {name: value}}}))
    with pytest.raises(BadInput, match=rf"contest 101: {name} is .*must be a list"):
        read_annotations(path)


@pytest.mark.parametrize("votes", ["1e300", "99999999999999999999", str(2**31), "-1", "1.5"])
def test_impossible_votes(tmp_path: Path, votes: str) -> None:
    path = tmp_path / "101.csv"
    path.write_text(f"caption,mean,precision,votes\nA dog walks in.,2,0.1,{votes}\n")
    with pytest.raises(BadInput, match="line 2: votes and counts must be whole numbers from 0 to below"):
        read_contest(path)


def test_a_number_that_no_row_can_hold() -> None:
    assert contest_number(Path("2147483647.csv")) == 2**31 - 1
    with pytest.raises(BadInput, match="99999999999 is no contest's number"):
        contest_number(Path("99999999999.csv"))
