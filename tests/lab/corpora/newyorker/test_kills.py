"""A build that is killed again and again, or that two processes share, ends with the same bytes as one that is not."""

from __future__ import annotations

import multiprocessing
import random
import signal
from pathlib import Path

import pytest
from standins import killing
from standins.contests import invent, tiny_encoder

KILLS = 5


def build_in_process(*given: object) -> int | None:
    """`killing.build` in a process of its own; its exit code, negative where a signal ended it."""
    context = multiprocessing.get_context("forkserver")  # the server imports once for all processes
    context.set_forkserver_preload(["standins.killing", "sentence_transformers", "pyarrow.parquet", "scipy.optimize"])
    process = context.Process(target=killing.build, args=given)
    process.start()
    process.join()
    return process.exitcode


def finished_files(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their bytes, without temporary ones."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if "/." not in f"/{name}"}


@pytest.mark.slow
def test_killed_at_random_places_or_shared_by_processes_the_corpus_is_the_same(tmp_path: Path) -> None:
    """The places are numbers of file operations, so that units are cut at every point of their writing."""
    folder, encoder = invent(tmp_path, contests=12, captions=24), tiny_encoder(tmp_path / "tiny")
    assert build_in_process(folder, encoder, "whole") == 0
    operations = int((folder / "operations.txt").read_text())
    draw, kills, code = random.Random(18), 0, None
    while code != 0:
        assert not (folder / "killed").exists()
        code = build_in_process(
            folder, encoder, "killed", draw.randrange(1, operations // 3) if kills < KILLS else None
        )
        assert code in (0, -signal.SIGKILL)
        kills += code != 0
    assert kills == KILLS
    assert [path for path in folder.rglob(".*") if path.is_dir()]  # units were cut while they were written
    assert finished_files(folder / "killed") == finished_files(folder / "whole")
    assert finished_files(folder / "killed.work") == finished_files(folder / "whole.work")
    assert build_in_process(folder, encoder, "shared", None, 2) == 0
    assert finished_files(folder / "shared") == finished_files(folder / "whole")
    assert finished_files(folder / "shared.work") == finished_files(folder / "whole.work")
