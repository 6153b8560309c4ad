"""Atomic writing of files and folders: results are complete or absent."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from humor_tasks.errors import BadInput
from humor_tasks.files.tables import csv_text

LONE = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which JSON can express and UTF-8 cannot encode."""


def encodable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be encoded."""
    return LONE.sub("\ufffd", text)


def check_output(path: Path | None, *inputs: str | Path | None) -> None:
    """Raise BadInput where a command would replace one of the files that it reads."""
    if path and os.path.realpath(path) in {os.path.realpath(each) for each in inputs if each}:
        raise BadInput(f"{path}: is also an input file; choose another output file.")


def is_vacant(path: Path) -> bool:
    """Whether nothing is there but possibly an empty folder."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def new_folder(out: Path) -> Path:
    """The absolute path of the folder to write. Raises BadInput where it exists and is not empty."""
    try:
        whole = out.resolve()
        if is_vacant(whole):
            return whole
    except (OSError, RuntimeError) as problem:
        raise BadInput(f"{out}: cannot be written ({problem}).") from None
    raise BadInput(f"{out}: exists already; name a new folder.")


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, atomically. Raises BadInput for a lone surrogate, which UTF-8 cannot hold."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as problem:
        near = text[max(0, problem.start - 40) : problem.start + 1]
        told = f"a text has half of a character, as in {near!r}. Correct the input."
        raise BadInput(f"{path}: cannot be written: {told}") from None
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes, durable: bool = False) -> None:
    """Write `data` atomically: a temporary file in the same folder is renamed, so readers see the old or the new file.

    With `durable`, file and folder are flushed to disk first. Raises BadInput where the file cannot be written.
    """
    if path.exists() and not path.is_file():
        raise BadInput(f"{path}: is not a file that can be replaced.")
    with replacing(path.resolve()) as temporary:
        temporary.write_bytes(data)
        if durable:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
    if durable and os.name == "posix":  # flush the folder, which holds the new name
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_json(path: Path, data: Any) -> None:
    """Write `data` as indented JSON, atomically."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def write_json_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write one JSON value a line, atomically."""
    write_text(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], types: Mapping[str, Any]) -> None:
    """Write `rows` as Parquet, atomically; types: column -> its pyarrow type. Raises OSError where that fails."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([*rows], schema=pa.schema(types.items()))
    with moved_into_place(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def write_table(path: Path, names: Sequence[str], rows: Iterable[Iterable[Any]], exact: bool = False) -> None:
    """Write a CSV file with a header, atomically; see `tables.csv_text`."""
    write_text(path, csv_text(names, rows, exact))


def link_or_copy(source: Path, target: Path) -> None:
    """Link a file that is never changed; copy it where the file system has no hard links or is another."""
    target.parent.mkdir(exist_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


@contextlib.contextmanager
def moved_into_place(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder, for a file or folder that replaces `path` when the block succeeds.

    It is removed when the block fails. A folder replaces only an empty folder. Errors pass through as they are.
    """
    # A uuid, not the process id: containers that share a folder may have equal process ids.
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if temporary.is_dir() and path.is_dir():
            path.rmdir()
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # has no effect on a file
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """`moved_into_place` for results. Raises BadInput where writing fails."""
    try:
        with moved_into_place(path) as temporary:
            yield temporary
    except OSError as problem:
        raise BadInput(f"{path}: cannot be written ({problem}).") from None
