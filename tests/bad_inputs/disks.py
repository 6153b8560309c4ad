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


FULL, UNWRITABLE = {"within": full(64)}, {"within": read_only}


def over(what: str, command: str, **files: Any) -> Bad:
    """A command whose output is one of its inputs; files: by their names, with an underscore in place of the dot."""
    held = {name.replace("_", "."): content for name, content in files.items()}
    return bad(f"{what}, over an input", f"humor-tasks {command}", "is also an input file", files=held)


def submitted(name: str, output: str, *says: str, **more: Any) -> Bad:
    """A submission of a good log, to a place where it cannot be."""
    files = {"l.eval": logged()} | more.pop("files", {})
    return bad(f"{name}, submission", f"humor-tasks export submission l.eval -o {output}", *says, files=files, **more)


INPUTS: list[Bad] = [
    over("a submission", "export submission l.eval -o l.eval", l_eval=logged()),
    over(
        "a submission by a link",
        "export submission l.eval -o k.eval",
        l_eval=logged(),
        k_eval=lambda path: path.symlink_to("l.eval"),
    ),
    over("a subset", "analyse hard-subset l.eval -o ./l.eval", l_eval=logged()),
    over("scores", "grade l.eval --grader baseline/first -o l.eval", l_eval=logged()),
    over("a report", "report l.json -o l.json", l_json=lambda path: path.write_bytes(log(".json"))),
    over("an analysis", "analyse items l.json -o l.json", l_json="{}"),
    over("a comparison", "analyse humicroedit --dataset sample a=l.json -o l.json", l_json="{}"),
    over("items", "people pairs --dataset sample --system s.jsonl --against human -o s.jsonl", s_jsonl="{}"),
    over("an agreement", "people agreement v.csv --items p.jsonl -o v.csv", v_csv=VOTES, p_jsonl=ITEMS),
    over("ranks", "captions rank c.json --model baseline/longest --dataset sample -o c.json", c_json="{}"),
]

CASES: list[Bad] = [
    submitted("a disk that is full", "s.json", "s.json: cannot be written", **FULL),
    submitted("a disk that is read-only", "s.json", "s.json: cannot be written", "Read-only", **UNWRITABLE),
    submitted("a place that is not", NOWHERE, "gone/out.json: cannot be written"),
    submitted(
        "a folder in place of the output",
        "s.json",
        "s.json: is not a file that can be replaced",
        files={"s.json": Path.mkdir},
    ),
    submitted("a file in place of its folder", "f/s.json", "f/s.json: cannot be written", files={"f": "mine"}),
    bad(
        "a disk that is full, an old file stays",
        lambda: write_json(Path("s.json"), ["x" * 999]),
        "s.json: cannot be written",
        files={"s.json": "old"},
        **FULL,
    ),
    bad(
        "a disk that is full, agreement",
        "humor-tasks people agreement v.csv -o r.md",
        "r.md: cannot be written",
        files={"v.csv": VOTES},
        **FULL,
    ),
    bad(
        "a disk that is full, build",
        "humor-tasks build mock --newyorker sample -o out",
        "cannot be written",
        **FULL,
    ),
    bad(
        "a disk that is full, training",
        "humor-tasks train humicroedit --system baseline --dataset sample -o run",
        "run/config.json: cannot be written",
        within=full(16),
        leaves=("run",),
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
        **FULL,
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
