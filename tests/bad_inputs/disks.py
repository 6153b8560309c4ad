"""Full and read-only disks, places that cannot be written, and two processes at one file or folder."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bad_inputs.case import Bad, bad
from bad_inputs.files import ITEMS, VOTES, log, logged
from humor_tasks.files.append_log import ReplyStore
from humor_tasks.files.writing import write_json

NOWHERE = "/proc/self/gone/out.json"


def full(room: int) -> Any:
    """A disk on which no file grows beyond `room` bytes."""

    @contextlib.contextmanager
    def limited() -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, old)

    return limited


@contextlib.contextmanager
def read_only() -> Iterator[None]:
    """A disk on which nothing new can be made and nothing opened for writing, also for root."""
    opened, made = os.open, os.mkdir

    def refuse(path: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def open_to_read(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            refuse(path)
        return opened(path, flags, *more, **named)

    def open_file(path: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        if set(mode) & set("wax+"):
            refuse(path)
        return plain(path, mode, *more, **named)

    import io

    plain = io.open
    with (
        patch("os.open", open_to_read),
        patch("os.mkdir", lambda path, *_, **__: refuse(path)),
        patch("io.open", open_file),
        patch("builtins.open", open_file),
        patch("os.replace", lambda *paths: refuse(paths[1])),
    ):
        yield
    assert os.mkdir is made


def resumed(content: str, *records: dict[str, Any], between: str = "") -> Any:
    """Open a store that is resumed, and add to it; `between` is what another process adds first."""

    def run() -> None:
        store = ReplyStore(Path("s.jsonl"))
        store.open_records("key", lambda record: (record["key"], record), "Remove the file.")
        for record in records:
            if between:
                with Path("s.jsonl").open("a", encoding="utf-8") as file:
                    file.write(between)
            store.keep(record["key"], record, record)

    return run


GRADED = "humor-tasks export submission l.eval -o {}"
OVER = "is also an input file"
INPUTS: list[Bad] = [
    bad(
        "a submission over its log", "humor-tasks export submission l.eval -o l.eval", OVER, files={"l.eval": logged()}
    ),
    bad(
        "a submission over its log by a link",
        "humor-tasks export submission l.eval -o k.eval",
        OVER,
        files={"l.eval": logged(), "k.eval": lambda path: path.symlink_to("l.eval")},
    ),
    bad(
        "a subset over its log", "humor-tasks analyse hard-subset l.eval -o ./l.eval", OVER, files={"l.eval": logged()}
    ),
    bad(
        "scores over their log",
        "humor-tasks grade l.eval --grader baseline/first -o l.eval",
        OVER,
        files={"l.eval": logged()},
    ),
    bad(
        "a report over its log",
        "humor-tasks report l.json -o l.json",
        OVER,
        files={"l.json": lambda path: path.write_bytes(log(".json"))},
    ),
    bad("an analysis over a log", "humor-tasks analyse items l.json -o l.json", OVER, files={"l.json": "{}"}),
    bad(
        "a comparison over a log",
        "humor-tasks analyse humicroedit --dataset sample a=l.json -o l.json",
        OVER,
        files={"l.json": "{}"},
    ),
    bad(
        "items over a system",
        "humor-tasks people pairs --dataset sample --system s.jsonl --against human -o s.jsonl",
        OVER,
        files={"s.jsonl": "{}"},
    ),
    bad(
        "an agreement over the votes",
        "humor-tasks people agreement v.csv --items p.jsonl -o v.csv",
        OVER,
        files={"v.csv": VOTES, "p.jsonl": ITEMS},
    ),
    bad(
        "ranks over the captions",
        "humor-tasks captions rank c.json --model baseline/longest --dataset sample -o c.json",
        OVER,
        files={"c.json": "{}"},
    ),
]

CASES: list[Bad] = [
    bad(
        "a disk that is full, submission",
        GRADED.format("s.json"),
        "s.json: cannot be written",
        files={"l.eval": logged()},
        within=full(64),
    ),
    bad(
        "a disk that is read-only, submission",
        GRADED.format("s.json"),
        "s.json: cannot be written",
        "Read-only",
        files={"l.eval": logged()},
        within=lambda: read_only(),
    ),
    bad(
        "a place that is not, submission",
        GRADED.format(NOWHERE),
        "gone/out.json: cannot be written",
        files={"l.eval": logged()},
    ),
    bad(
        "a folder in place of the output, submission",
        GRADED.format("s.json"),
        "s.json: is not a file that can be replaced",
        files={"l.eval": logged(), "s.json": Path.mkdir},
    ),
    bad(
        "a file in place of the output's folder",
        GRADED.format("f/s.json"),
        "f/s.json: cannot be written",
        files={"l.eval": logged(), "f": "mine"},
    ),
    bad(
        "a disk that is full, an old file stays",
        lambda: write_json(Path("s.json"), ["x" * 999]),
        "s.json: cannot be written",
        files={"s.json": "old"},
        within=full(64),
    ),
    bad(
        "a disk that is full, pairs",
        "humor-tasks people pairs --task ranking --dataset sample -o p.jsonl",
        "p.jsonl: cannot be written",
        within=full(64),
    ),
    bad(
        "a disk that is full, votes",
        "humor-tasks people votes x.jsonl -o v.csv",
        "v.csv: cannot be written",
        files={"x.jsonl": '{"item": "i1", "rater": "ann", "choice": "A", "time": "2024-01-01T00:00:00+00:00"}\n'},
        within=full(16),
    ),
    bad(
        "a disk that is full, agreement",
        "humor-tasks people agreement v.csv -o r.md",
        "r.md: cannot be written",
        files={"v.csv": VOTES},
        within=full(64),
    ),
    bad(
        "a disk that is read-only, agreement",
        "humor-tasks people agreement v.csv -o r.md",
        "r.md: cannot be written",
        files={"v.csv": VOTES},
        within=lambda: read_only(),
    ),
    bad(
        "a disk that is full, build",
        "humor-tasks build mock --newyorker sample -o out",
        "cannot be written",
        within=full(64),
    ),
    bad(
        "a disk that is read-only, build",
        "humor-tasks build mock --newyorker sample -o out",
        "cannot be written",
        within=lambda: read_only(),
    ),
    bad(
        "a disk that is full, training",
        "humor-tasks train humicroedit --system baseline --dataset sample -o run",
        "run/config.json: cannot be written",
        within=full(16),
        leaves=("run",),
    ),
    bad(
        "a disk that is read-only, training",
        "humor-tasks train humicroedit --system baseline --dataset sample -o run",
        "run",
        "cannot be written",
        within=lambda: read_only(),
    ),
    bad(
        "a disk that is full, annotation",
        "humor-tasks people page p.jsonl --votes v.csv",
        "v.csv",
        files={"p.jsonl": ITEMS},
        within=full(4),
    ),
    bad(
        "a disk that is full, a resumed store",
        resumed("", {"key": "a" * 99}),
        "s.jsonl: cannot be written",
        within=full(64),
        leaves=("s.jsonl",),
    ),
    bad("a store of another program", resumed(""), "s.jsonl, line 1", "Remove the file", files={"s.jsonl": "mine\n"}),
    bad("a store with a line of another program", resumed(""), "s.jsonl: its last line", files={"s.jsonl": "mine"}),
    bad(
        "a store that another process writes",
        resumed("", {"key": "a"}, between='{"key": "b"}\n'),
        "s.jsonl: was changed by another program",
        "run one at a time",
        leaves=("s.jsonl",),
    ),
    bad("a store that is a folder", resumed(""), "s.jsonl: cannot be used", files={"s.jsonl": Path.mkdir}),
    bad(
        "a store that is gone meanwhile",
        resumed("", {"key": "a"}, {"key": "b"}),
        "s.jsonl",
        within=lambda: patch(
            "humor_tasks.files.append_log.AppendLog.check_unchanged",
            side_effect=FileNotFoundError(2, "No such file or directory", "s.jsonl"),
        ),
        leaves=("s.jsonl",),
    ),
    bad(
        "answers in a folder that is a file",
        "humor-tasks describe --model baseline/first --dataset sample --task matching --fold 0 --split test -o f/out",
        "f/out",
        files={"f": "mine"},
    ),
    bad(
        "ranks of captions into a text",
        "humor-tasks captions rank c.jsonl --model baseline/longest --dataset sample -o r.txt",
        "r.txt",
        ".csv",
        files={"c.jsonl": "{}"},
    ),
    *INPUTS,
]
