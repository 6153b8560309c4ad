"""Rows of files, dataset folders and hub datasets, as they are: no column has a meaning yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.reading import json_lines, parse_json, read_body
from humor_tasks.lab.corpora.audit.items import Part
from humor_tasks.rows import read_csv
from humor_tasks.rows.media.picture import Picture, picture_file

SHARD = re.compile(r"-\d{5}-of-\d{5}$")
DEFAULT = "default"


@dataclass(frozen=True)
class Table:
    """The rows of one split. where: the place of row i. picture: of row i in a column; None where it has none."""

    part: Part
    config: str
    columns: tuple[str, ...]
    rows: Sequence[dict[str, Any]]
    where: Callable[[int], str]
    picture: Callable[[int, str], Picture | None]


def read_file(path: Path, part: Part, config: str = DEFAULT) -> Table:
    """The rows of a file by its ending.

    Raises BadInput for another ending, an unreadable or empty file, and a row that is no object.
    """
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"{path}: the ending must be one of {', '.join(READERS)}.")
    rows, where = read(path)
    if not rows:
        raise BadInput(f"{path}: there are no rows; the file is empty.")
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise BadInput(f"{where(i)}: is {type(row).__name__}; each row must be an object with named columns.")

    def picture(i: int, column: str) -> Picture | None:
        held = rows[i].get(column)
        if isinstance(held, dict) and held.get("bytes") is not None:
            held = held["bytes"]
        if isinstance(held, bytes):
            return Picture(where(i), None, lambda data=held: data)  # type: ignore[misc]
        name = held.get("path") if isinstance(held, dict) else held
        if name is None:
            return None
        if not isinstance(name, str):
            raise BadInput(f"{where(i)}: '{column}' is {name!r:.60}; it must be a picture or the path of one.")
        try:
            return replace(picture_file(path.parent, name), where=f"{name}, {where(i)}")
        except BadInput as problem:
            raise BadInput(f"{where(i)}: {column}: {problem}") from None

    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table(part, config, columns, rows, where, picture)


Read = tuple[list[dict[str, Any]], Callable[[int], str]]


def _of_csv(path: Path, delimiter: str = ",") -> Read:
    table = read_csv(path, (), delimiter)
    return list(table.rows), table.where


def _of_json_lines(path: Path) -> Read:
    lines = list(json_lines(path))
    return [row for _, row in lines], lambda i: lines[i][0]


def _of_json(path: Path) -> Read:
    value = parse_json(path, read_body(path))
    if isinstance(value, dict) and value and all(isinstance(row, dict) for row in value.values()):
        value = [{"id": name, **row} for name, row in value.items()]  # {id: row}, as MUStARD is published
    if isinstance(value, dict) and len(lists := [part for part in value.values() if isinstance(part, list)]) == 1:
        value = lists[0]  # {"examples": [row], ...}, as BBEH is published
    if not isinstance(value, list):
        raise BadInput(
            f"{path}: is {type(value).__name__}; it must be a list of rows, an object with one, or of rows by id."
        )
    return value, lambda i: f"{path}, row {i}"


def _of_parquet(path: Path) -> Read:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as problem:
        raise BadInput(f"{path}: cannot be read as parquet ({' '.join(str(problem).split()):.200}).") from None
    return rows, lambda i: f"{path}, row {i}"


READERS: dict[str, Callable[[Path], Read]] = {
    ".jsonl": _of_json_lines,
    ".ndjson": _of_json_lines,
    ".json": _of_json,
    ".csv": _of_csv,
    ".tsv": partial(_of_csv, delimiter="\t"),
    ".parquet": _of_parquet,
}
IN_FOLDERS = tuple(ending for ending in READERS if ending != ".json")
"""Endings of the files that a folder's rows are in; .json files in folders are as often settings."""


def row_files(folder: Path) -> list[Path]:
    """The files of a folder that hold rows; .json files only where there are no others. Raises BadInput for none."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part[0] in "._" for part in path.relative_to(folder).parts)
    ]
    for endings in (IN_FOLDERS, (".json",)):
        if matching := [path for path in files if path.suffix.lower() in endings]:
            return matching
    raise BadInput(f"{folder}: there is no file that ends in {', '.join(READERS)}.")


def read_tables(dataset: str, configs: Sequence[str], splits: Sequence[str]) -> list[Table]:
    """The splits of a file, of a folder or of a hub dataset.

    configs, splits: those to read; by default all. In a folder, a file's name is its split, and its folder, relative to
    the dataset's, its config. Raises BadInput where there is nothing to read, and naming the configs where they have
    other columns.
    """
    path = Path(dataset).expanduser()
    if path.is_file():
        if configs or splits:
            raise BadInput(f"{path} is a file; --config and --split choose among the files of a folder.")
        return [read_file(path, Part(path.stem, DEFAULT, path.stem))]
    tables = _of_folder(path, configs, splits) if path.is_dir() else _of_hub(dataset, configs, splits)
    kinds = {frozenset(table.columns): table.config for table in tables}
    if len(kinds) > 1 and len({table.config for table in tables}) > 1:
        names = ", ".join(dict.fromkeys(table.config for table in tables))
        raise BadInput(f"{dataset} has configs with other columns: {names}. Choose among them with --config.")
    return tables


def _of_folder(folder: Path, configs: Sequence[str], splits: Sequence[str]) -> list[Table]:
    by_split: dict[tuple[str, str], list[Path]] = {}
    for path in row_files(folder):
        inside = path.relative_to(folder)
        config = inside.parent.as_posix() if len(inside.parts) > 1 else DEFAULT
        by_split.setdefault((config, SHARD.sub("", path.stem)), []).append(path)
    _check_named("--config", configs, [config for config, _ in by_split])
    chosen = {name: paths for name, paths in by_split.items() if not configs or name[0] in configs}
    _check_named("--split", splits, [split for _, split in chosen])
    return [
        read_file(path, _part(config, split, len({c for c, _ in chosen}) > 1), config)
        for (config, split), paths in chosen.items()
        if not splits or split in splits
        for path in paths
    ]


def _check_named(option: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            there = ", ".join(dict.fromkeys(known))
            raise BadInput(f"{option} {name}: not found; available: {there}.{nearest(name, known)}")


def _part(config: str, split: str, several: bool) -> Part:
    return Part(f"{config}/{split}" if several else split, config, split)


def _of_hub(dataset: str, configs: Sequence[str], splits: Sequence[str]) -> list[Table]:
    from humor_tasks.rows import catalogue, open_rows

    wanted = (lambda name: name in configs) if configs else (lambda name: True)
    offered = catalogue(dataset, hub="", cards=Path(), wanted=wanted)
    _check_named("--config", configs, offered.configs)
    _check_named("--split", splits, [split for offer in offered.offers.values() for split in offer.splits])
    tables = []
    for config, offer in offered.offers.items():
        for split in offer.splits if not splits else [name for name in offer.splits if name in splits]:
            columns = [name for name in offer.columns if name != "image"]
            rows = open_rows(
                dataset,
                hub=None,
                cards=Path(),
                config=config,
                split=split,
                columns=columns,
                pictures="image" in offer.columns,
                nulls=True,
            )
            part = _part(config, split, len(offered.offers) > 1)
            tables.append(Table(part, config, offer.columns, rows.rows, rows.where, _held(rows.rows)))
    return tables


def _held(rows: Sequence[dict[str, Any]]) -> Callable[[int, str], Picture | None]:
    return lambda i, column: rows[i].get(column)
