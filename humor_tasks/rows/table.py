"""Rows with their provenance, and their lazily loaded pictures."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.checking import NONE_LEFT, check_media, summary
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import Picture, picture_file

IDS = ("instance_id", "id")


@dataclass(frozen=True)
class Rows:
    """The rows of one split, and their provenance.

    `revision` is the commit that the hub resolved `requested_revision` to; None for folders. `fingerprint` is the
    SHA-256 of the requested text columns: one line of canonical JSON (sorted keys) per row, in order, without pictures.
    `skipped` are the ids of rows left out because of their pictures; `numbers` are the places of the others in the
    split, where any was left out.
    """

    rows: list[dict[str, Any]]
    dataset: str
    config: str
    split: str
    requested_revision: str | None
    revision: str | None
    fingerprint: str
    skipped: tuple[str, ...] = ()
    numbers: tuple[int, ...] | None = None

    def where(self, i: int) -> str:
        """The location of row `i` (from 0), for messages."""
        name = next((name for name in IDS if self.rows[i].get(name)), None)
        identity = f" ({name} {self.rows[i][name]})" if name else ""
        number = i if self.numbers is None else self.numbers[i]
        return f"row {number}{identity} of {self.config}/{self.split} in {self.dataset}"


def provenance_of(
    parts: Sequence[Rows], dataset: str, split: str, revision: str | None, records: int
) -> dict[str, Any]:
    """The provenance of a run's `records` (their number): the requested dataset, split and revision, and the `parts`
    read. `skipped` is the number of rows left out because of their pictures, where there are any.
    """
    provenance = {
        "dataset": dataset,
        "configs": [rows.config for rows in parts],
        "split": split,
        "requested_revision": revision,
        "revision": parts[0].revision,
        "rows": records,
        "fingerprint": join_fingerprints([rows.fingerprint for rows in parts]),
    }
    skipped = sum(len(rows.skipped) for rows in parts)
    return provenance | ({"skipped": skipped} if skipped else {})


def skipped_in(parts: Sequence[Rows]) -> frozenset[str]:
    """The ids of the rows that were left out because of their pictures."""
    return frozenset(identity for rows in parts for identity in rows.skipped)


class Absent(BadInput):
    """The dataset is readable but has no such config or split."""


class Request(NamedTuple):
    """The requested dataset, config, split and columns; `on_bad_picture` as in `open_rows`."""

    dataset: str
    config: str
    split: str
    columns: tuple[str, ...]
    pictures: bool
    media: str = "image"  # the column that `pictures` requests
    nulls: bool = False  # whether a row may have no picture
    on_bad_picture: str | None = None
    clips: bool = False  # whether `media` holds clips

    @property
    def place(self) -> str:
        """The split's name, for messages."""
        return f"{self.config}/{self.split} in {self.dataset}"

    @property
    def needed(self) -> list[str]:
        """Every column to read."""
        return [*self.columns, self.media] if self.pictures else list(self.columns)


class Table(NamedTuple):
    """The data as read: text columns as rows, and pictures as a column of encoded bytes or paths."""

    rows: list[dict[str, Any]]
    images: Any  # a pyarrow array, read lazily; None without pictures
    folder: Path | None  # base of relative picture paths; None where there are no files


def finish(request: Request, table: Table, requested: str | None, revision: str | None) -> Rows:
    """Rows with their fingerprint and pictures. Raises BadInput when there are none."""
    if not table.rows:
        raise BadInput(f"{request.place}: there are no rows.")
    mark = fingerprint(table.rows)
    rows = Rows(table.rows, request.dataset, request.config, request.split, requested, revision, mark)
    if not request.pictures:
        return rows
    find = _pictures(request, table, rows.where)
    return with_pictures(rows, request.media, find, request.on_bad_picture, request.clips)


def with_pictures(
    rows: Rows, column: str, find: Callable[[int], Picture | None], on_bad_picture: str | None, clips: bool = False
) -> Rows:
    """The rows with the picture that `find` returns for each row number under `column`.

    on_bad_picture: "skip" checks all pictures, or clips, and leaves the rows of those that are missing, damaged or too
    large out with a warning. "stop" reads none: reading a missing one raises BadInput, and who asks a model checks
    first (`Run.check_media`). None reads none and raises BadInput for the first one that is missing.
    """
    pictures: dict[int, Picture | None] = {}
    problems: dict[int, str] = {}
    for i in range(len(rows.rows)):
        try:
            pictures[i] = find(i)
        except BadInput as problem:
            if on_bad_picture is None:
                raise
            problems[i] = str(problem)
            pictures[i] = _missing(rows.where(i), str(problem))
    if on_bad_picture == "skip":
        there = {i: picture for i, picture in pictures.items() if picture is not None and i not in problems}
        media = {i: Clip(p.where, p.path, p.read_bytes) if clips else p for i, p in there.items()}
        problems |= check_media(media, f"checking pictures of {rows.config}/{rows.split}")
    for i, picture in pictures.items():
        rows.rows[i][column] = picture
    if not problems or on_bad_picture == "stop":
        return rows
    place = f"{rows.config}/{rows.split} in {rows.dataset}"
    usable = [i for i in pictures if i not in problems]
    if not usable:
        raise BadInput(f"{summary(problems, len(rows.rows), place)} {NONE_LEFT}")
    warnings.warn(
        f"{summary(problems, len(rows.rows), place)} These rows are left out (on_bad_picture=skip).", stacklevel=2
    )
    ids = (next((str(rows.rows[i][name]) for name in IDS if rows.rows[i].get(name)), str(i)) for i in sorted(problems))
    return replace(rows, rows=[rows.rows[i] for i in usable], skipped=tuple(ids), numbers=tuple(usable))


def _missing(where: str, problem: str) -> Picture:
    """A picture that raises BadInput with this message when it is read."""

    def read() -> bytes:
        raise BadInput(problem)

    return Picture(where, None, read)


def fingerprint(rows: Sequence[dict[str, Any]]) -> str:
    """SHA-256 over one line of canonical JSON per row."""
    digest = hashlib.sha256()
    for row in rows:
        line = json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def join_fingerprints(fingerprints: Sequence[str]) -> str:
    """One fingerprint for several sets of rows, in their order."""
    if len(fingerprints) == 1:
        return fingerprints[0]
    return hashlib.sha256("".join(fingerprints).encode()).hexdigest()


def _pictures(request: Request, table: Table, where: Callable[[int], str]) -> Callable[[int], Picture | None]:
    """A function that returns a row's lazy Picture, or None where it may have none. It checks presence and paths, and
    reads no bytes.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column, kind = table.images, table.images.type
    inside: list[bool] = [False] * len(column)
    paths: list[str | None] = [None] * len(column)
    parts = {part.name: part.type for part in kind} if pa.types.is_struct(kind) else {}
    if parts.keys() >= {"bytes", "path"} and not pa.types.is_string(parts["bytes"]):  # JSON has no bytes
        inside = pc.is_valid(pc.struct_field(column, "bytes")).to_pylist()
        paths = pc.struct_field(column, "path").to_pylist()
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        inside = pc.is_valid(column).to_pylist()
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        paths = column.to_pylist()
    elif not pa.types.is_null(kind):
        raise BadInput(
            f"{request.place}: column '{request.media}' holds {kind}; it must hold pictures, or paths of picture files."
        )

    def find(i: int) -> Picture | None:
        if inside[i]:
            return Picture(f"row {i} of {request.config}/{request.split}", None, _reader(column, i))
        if path := paths[i]:
            return picture_in(table.folder, path, where(i), pa.types.is_struct(kind), request.media)
        if request.nulls:
            return None
        raise BadInput(
            f"{where(i)}: {request.media} is null. Restore the picture, leave the row out, or use a setting without "
            "pictures."
        )

    return find


def _reader(column: Any, i: int) -> Callable[[], bytes]:
    def read() -> bytes:
        cell = column[i].as_py()
        data: bytes = cell["bytes"] if isinstance(cell, dict) else cell
        return data

    return read


def picture_in(folder: Path | None, path: str, where: str, by_datasets: bool = False, column: str = "image") -> Picture:
    """The file that a row names. Raises BadInput naming the row. `by_datasets`: `datasets` made the path absolute."""
    if folder is None:
        raise BadInput(
            f"{where}: {column} is the path '{path}', which is not among the files downloaded from the hub. Download "
            "the dataset (`hf download`) and name its folder: dataset=<folder>."
        )
    if by_datasets and os.path.isabs(path):
        path = os.path.relpath(path, folder.resolve())
    try:
        return replace(picture_file(folder, path), where=f"{path}, {where}")
    except BadInput as error:
        raise BadInput(f"{where}: {column}: {error}") from None
