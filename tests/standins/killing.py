"""A build that is killed at a given file operation."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from humor_tasks.cli import main

CONTEXTS = multiprocessing.get_context
_EVENTS = ("open", "os.mkdir", "os.rename", "os.link", "os.rmdir", "shutil.copyfile")


def build(folder: Path, encoder: Path, output: str, at: int | None = None, workers: int = 1) -> None:
    """Build invented contests into `folder/output` and write `folder/operations.txt`, the number of file operations
    below the output's and the work folder's names.

    at: the operation before which this process gets SIGKILL, from 1. None: never. workers: the build's processes are
    forked of this one, which has imported everything and has no threads; those of users are spawned.
    """
    multiprocessing.get_context = lambda method=None: CONTEXTS("fork")  # type: ignore[assignment, method-assign]
    count = [0]
    ours = str(folder / output), str(folder / f".{output}")

    def counted(event: str, args: tuple[Any, ...]) -> None:
        if event not in _EVENTS or not str(args[0]).startswith(ours):
            return
        if event == "open" and not int(args[2]) & (os.O_WRONLY | os.O_RDWR):
            return
        count[0] += 1
        if count[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(counted)
    given = ["--annotations", folder / "annotations.json", "--crowd", folder / "crowd", "--embedding", encoder]
    arguments = ["build", "newyorker", *map(str, given), "--workers", str(workers), "-o", str(folder / output)]
    result = CliRunner().invoke(main, arguments)
    if result.exit_code:
        raise RuntimeError(result.output)
    (folder / "operations.txt").write_text(str(count[0]))
