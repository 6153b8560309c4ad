"""Stages and units of a build: keys, resuming, processes; a whole build in processes is in test_kills.py."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from standins.newyorker_stages import STAGES, double, files_in, work_in

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.newyorker.building import build, run_stage
from humor_tasks.lab.corpora.newyorker.work import Stage, Work, processes


def _done(work: Work, workers: int = 1) -> dict[str, bytes]:
    build(work, None, workers, lambda line: None)
    return files_in(work.folder)


def test_stages_in_order_and_counts(tmp_path: Path) -> None:
    lines: list[str] = []
    counts = build(work_in(tmp_path), None, 1, lines.append)
    assert counts == {"words": {"words": 10}, "long": {"words": 16}, "all": {"contests": 4}}
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == list(STAGES)
    told = [line.split() for line in lines if line.startswith(" ")]
    assert told == [["10", "words"], ["16", "words"], ["4", "contests"]]


def test_until(tmp_path: Path) -> None:
    assert list(build(work_in(tmp_path), "long", 1, lambda line: None)) == ["words", "long"]
    with pytest.raises(BadInput, match=r"there is no 'lang'.*Did you mean 'long'"):
        build(work_in(tmp_path), "lang", 1, lambda line: None)


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    work = work_in(tmp_path)
    before = _done(work)
    lines: list[str] = []
    build(work_in(tmp_path), None, 1, lines.append)
    assert all("done before" in line for line in lines if not line.startswith(" "))
    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({}, []),
        ({"settings": {"times": 3, "seed": 2}}, []),
        ({"settings": {"times": 4, "seed": 1}}, ["all", *["long"] * 4]),
        ({"inputs": {**{n: f"{n:064}" for n in range(1, 6)}, 2: "x"}}, ["all", "long", "words"]),
        ({"inputs": {**{n: f"{n:064}" for n in range(1, 6)}, 5: "x"}}, ["words"]),
        ({"contests": (1, 2, 3)}, ["all"]),
    ],
)
def test_a_change_does_again_what_depends_on_it(tmp_path: Path, changes: dict[str, Any], again: list[str]) -> None:
    """Units of other settings stay beside the new ones, so that going back costs nothing."""
    before = _done(work_in(tmp_path))
    after = _done(work_in(tmp_path, **changes))
    new = sorted({path.rsplit("/", 1)[0] for path in set(after) - set(before)})
    assert [path.split("/")[0] for path in new] == again
    assert before.items() <= after.items()


def test_a_full_disk_leaves_no_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(work: Work, folder: Path, contest: int | None) -> Mapping[str, Any]:
        (folder / "words.txt").write_text("con")
        raise OSError(28, "No space left on device")

    stages = {"words": Stage("words", full)}
    work = work_in(tmp_path, stages=stages)
    with pytest.raises(BadInput, match=r"No space left on device.*Make room and run the same command again"):
        run_stage(work, "words", map, lambda line: None)
    assert files_in(tmp_path) == {}
    assert work.missing("words") == [1, 2, 3, 4]


def test_commands_that_share_a_folder_share_its_units(tmp_path: Path) -> None:
    """The second command does the whole stage while the first does one unit: that unit alone is done twice."""
    done: list[int | None] = []

    def words(work: Work, folder: Path, contest: int | None) -> Mapping[str, Any]:
        done.append(contest)
        if len(done) == 1:
            build(other, None, 1, lambda line: None)
        (folder / "words.txt").write_text(f"contest {contest}")
        return {"words": 2}

    work, other = (work_in(tmp_path, stages={"words": Stage("words", words)}) for _ in range(2))
    assert build(work, None, 1, lambda line: None) == {"words": {"words": 8}}
    assert sorted(done, key=str) == sorted([1, 2, 3, 4, done[0]], key=str)
    assert len(files_in(tmp_path)) == 8


def test_commands_that_share_a_folder_begin_with_different_units(tmp_path: Path) -> None:
    orders: list[list[int | None]] = [[], []]
    for home, order in zip("ab", orders, strict=True):

        def note(work: Work, folder: Path, contest: int | None, order: list[int | None] = order) -> Mapping[str, Any]:
            order.append(contest)
            return {}

        numbers = tuple(range(40))
        inputs = {number: f"{number:064}" for number in numbers}
        stages = {"words": Stage("words", note)}
        build(work_in(tmp_path / home, stages=stages, contests=numbers, inputs=inputs), None, 1, lambda line: None)
    assert sorted(orders[0], key=str) == sorted(orders[1], key=str)
    assert orders[0] != orders[1]


@pytest.mark.slow
@pytest.mark.cpu(12, "two processes import torch")
def test_processes_are_started_as_for_a_user() -> None:
    """Each imports by itself; elsewhere they are forks of a process that has imported everything."""
    with processes(2) as over:
        assert sorted(over(double, [1, 2, 3])) == [2, 4, 6]
        with pytest.raises(BadInput, match=r"^no room$"):
            list(over(double, [1, -2, 3]))
