"""Reading of a dataset folder through `datasets`, with config, split and columns validated."""

from __future__ import annotations

import contextlib
import copy
import errno
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.csv_files import read_csv, typed
from humor_tasks.files.reading import json_lines
from humor_tasks.rows.table import IDS, Absent, Request, Table

RESTORE = "Restore or correct the files listed in its README.md."


def read_folder(request: Request, folder: Path) -> Table:
    """The requested columns of a folder's split. Raises BadInput as `open_rows` does."""
    source = str(folder.resolve())  # absolute, because `datasets` reads the name "json" as a file format
    with as_bad_input(request):
        builder = of_sample(request, source) if request.dataset == "sample" else find_builder(request, source, None)
        files = choose_split(request, builder)
    with as_bad_input(request, files), without_torch():
        _check_rows(request, folder, files)
        if request.pictures and is_parquet(builder):
            return _through_cache(request, folder, builder, files)
        _check_lines(request, files)
        rows = (
            _of_csv(request, builder, files) if _is_plain_csv(builder) else list(stream_split(request, builder, files))
        )
        check_columns(request, dict.fromkeys(key for row in rows for key in row), files)
        images = None
        if request.pictures:
            import pyarrow as pa

            images = pa.array([row[request.media] for row in rows])
        return Table([{c: row[c] for c in request.columns} for row in rows], images, folder)


def _through_cache(request: Request, folder: Path, builder: Any, files: Sequence[str]) -> Table:
    """Read pictures in parquet through the memory-mapped cache of `datasets`, so that they are not held in memory."""
    from datasets import load_dataset

    check_columns(request, builder.as_streaming_dataset(request.split).features, files)
    source = str(folder.resolve())
    data_files = {request.split: list(files)}
    data = load_dataset(source, data_files=data_files, split=request.split, verification_mode="no_checks")
    return from_dataset(request, data, folder)


def from_dataset(request: Request, data: Any, folder: Path | None) -> Table:
    """The requested columns of a `datasets.Dataset`."""
    check_columns(request, data.column_names)
    images = data.data.column(request.media) if request.pictures else None
    return Table(data.select_columns(list(request.columns)).to_list(), images, folder)


def find_builder(request: Request, source: str, revision: str | None) -> Any:
    """The `datasets` builder of the config. Raises Absent with the existing configs where it does not exist."""
    from datasets import get_dataset_config_names, load_dataset_builder

    # By default the hub's file system reads 5 MiB ahead at every step, which is mostly pictures.
    options: dict[str, Any] = {"revision": revision, "storage_options": {"hf": {"block_size": 1}}}
    try:
        return load_dataset_builder(source, request.config, **options)
    except ValueError:
        names = get_dataset_config_names(source, revision=revision)
        if request.config in names and names != ["default"]:
            raise
    if names == ["default"]:
        # No card: a plain copy, or the hub's parquet branch. Each config is a separate folder.
        names = folders_of(source, revision)
        if request.config in names:
            return load_dataset_builder(source, data_dir=request.config, **options)
    raise Absent(
        f"{request.dataset}: there is no config '{request.config}'; there are: {', '.join(names) or 'none'}."
        f"{nearest(request.config, names)}"
    )


_SAMPLES: dict[tuple[str, str], Any] = {}
"""Builders of packaged samples by folder and config."""


def of_sample(request: Request, source: str) -> Any:
    """As `find_builder`, for a packaged sample: its files do not change, and it is opened for every fold and scene."""
    key = source, request.config
    if key not in _SAMPLES:
        _SAMPLES[key] = find_builder(request, source, None)
    builder = copy.copy(_SAMPLES[key])
    builder.config = copy.copy(builder.config)  # `choose_split` restricts it
    return builder


def folders_of(source: str, revision: str | None) -> list[str]:
    """The subfolders of a dataset without a card, which are its configs."""
    from fsspec.core import url_to_fs

    filesystem, base = url_to_fs(source if Path(source).is_dir() else f"hf://datasets/{source}@{revision}")
    listed = filesystem.ls(base, detail=True)
    return sorted(Path(entry["name"]).name for entry in listed if entry["type"] == "directory")


def choose_split(request: Request, builder: Any) -> list[str]:
    """Restrict the builder to the requested split, and return that split's files."""
    from datasets.data_files import DataFilesDict

    files = {str(name): value for name, value in (builder.config.data_files or {}).items()}
    check_split(request, files)
    builder.config.data_files = DataFilesDict({request.split: files[request.split]})
    return [str(name) for name in files[request.split]]


def check_split(request: Request, known: Iterable[str]) -> None:
    """Raise Absent with the existing splits unless the requested one exists."""
    names = list(known)
    if request.split not in names:
        raise Absent(
            f"{request.dataset}: config '{request.config}' has no split '{request.split}'; there are: "
            f"{', '.join(names) or 'none'}.{nearest(request.split, names)}"
        )


def check_columns(request: Request, known: Iterable[str], files: Sequence[str] = ()) -> None:
    """Raise BadInput with the existing columns unless all needed ones exist."""
    names = list(known)
    for column in request.needed:
        if column not in names:
            raise BadInput(
                f"{request.place}{_shown(files)}: there is no column '{column}'; there are: {', '.join(names)}."
                f"{nearest(column, [name for name in names if name not in request.needed])}"
            )


def is_parquet(builder: Any) -> bool:
    """Whether columns can be read separately."""
    from datasets.packaged_modules.parquet.parquet import Parquet

    return isinstance(builder, Parquet)


def _is_plain_csv(builder: Any) -> bool:
    """Whether the files are CSV, and the card sets no option of their reader but the delimiter."""
    from datasets.packaged_modules.csv.csv import Csv, CsvConfig

    if not isinstance(builder, Csv):
        return False
    options, usual = builder.config.pd_read_csv_kwargs, CsvConfig().pd_read_csv_kwargs
    return {name: value for name, value in options.items() if name != "sep"} == {
        name: value for name, value in usual.items() if name != "sep"
    }


def _of_csv(request: Request, builder: Any, files: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of CSV files, with the types that `datasets` finds, but for ids, which are texts.

    The reader of `datasets` takes 01 for 1, and texts such as nan, None and NA for missing ones.
    """
    texts = {n for n, kind in (builder.config.features or {}).items() if getattr(kind, "dtype", "") == "string"} | {
        *IDS
    }
    tables = [read_csv(Path(name), (), builder.config.sep, known=request.needed, ids=IDS) for name in files]
    rows: list[dict[str, Any]] = [row for table in tables for row in table.rows]
    for column in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(column, "") for row in rows]
        values = [cell or None for cell in cells] if column in texts else typed(cells)
        for row, value in zip(rows, values, strict=True):
            row[column] = value
    return rows


def stream_split(request: Request, builder: Any, files: Sequence[str]) -> Any:
    """The split as a stream, restricted to the needed columns where the format allows it; pictures stay encoded."""
    from datasets import Image

    stream = builder.as_streaming_dataset(request.split)
    if is_parquet(builder):
        import pyarrow as pa
        from pyarrow.dataset import ParquetFragmentScanOptions

        check_columns(request, stream.features, files)
        builder.config.columns = request.needed
        # One request may span an unneeded text column between needed columns, but never a column of pictures.
        near = pa.CacheOptions(hole_size_limit=64 * 2**10)
        builder.config.fragment_scan_options = ParquetFragmentScanOptions(pre_buffer=True, cache_options=near)
        stream = builder.as_streaming_dataset(request.split)
    if request.pictures and isinstance((stream.features or {}).get(request.media), Image):
        stream = stream.cast_column(request.media, Image(decode=False))
    return stream


@contextlib.contextmanager
def without_torch() -> Iterator[None]:
    """Prevent the streams of `datasets` from importing torch, which takes seconds at every start."""
    import datasets

    available = datasets.config.TORCH_AVAILABLE
    datasets.config.TORCH_AVAILABLE = available and "torch" in sys.modules
    try:
        yield
    finally:
        datasets.config.TORCH_AVAILABLE = available


def _check_rows(request: Request, folder: Path, files: Sequence[str]) -> None:
    """Raise BadInput for a file outside the folder, and where the files hold no row, which `datasets` reports as an
    error of its own.
    """
    for name in files:  # links are followed: a snapshot of the hub consists of them
        if not Path(os.path.normpath(name)).is_relative_to(folder.resolve()):
            raise BadInput(f"{request.place}: {name} is not in the folder; correct the paths in its README.md.")
    held = [name for name in files if Path(name).stat().st_size]
    if held and all(name.endswith(".parquet") for name in held):
        from pyarrow.parquet import read_metadata

        held = [name for name in held if read_metadata(name).num_rows]
    if not held:
        raise BadInput(f"{request.place}{_shown(files)}: there are no rows.")


def _check_lines(request: Request, files: Sequence[str]) -> None:
    """Raise BadInput naming the line of a JSONL file that is no object, which the reader of `datasets` does not."""
    lines = 0
    for name in files:
        if not name.endswith((".jsonl", ".ndjson")):
            return
        for where, value in json_lines(Path(name)):
            lines += 1
            if not isinstance(value, dict):
                raise BadInput(
                    f"{request.place}: {where}: is {type(value).__name__}; each line must be an object. Correct the "
                    "line."
                )
    if not lines:
        raise BadInput(f"{request.place}{_shown(files)}: there are no rows.")


@contextlib.contextmanager
def as_bad_input(request: Request, files: Sequence[str] = (), remedy: str = RESTORE) -> Iterator[None]:
    """Convert any exception of `datasets`, pyarrow, PyYAML or the network to BadInput that names what was read."""
    try:
        yield
    except BadInput:
        raise
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.ENOSPC, errno.EDQUOT):
            raise BadInput(f"{request.place}{_shown(files)}: cannot be read: {brief(error)}. {remedy}") from error
        raise BadInput(
            f"{request.place}: its cache cannot be written: {brief(error)}. Make room, or set HF_HOME to a folder that "
            "can be written."
        ) from error
    except StopIteration as error:  # raised by `datasets` for an empty file
        raise BadInput(f"{request.place}{_shown(files)}: there are no rows.") from error
    except Exception as error:
        if "scripts are no longer supported" in str(error):
            raise BadInput(
                f"{request.dataset} is made by a loading script, which is never run. Name its parquet branch: "
                "revision=refs/convert/parquet."
            ) from error
        raise BadInput(f"{request.place}{_shown(files)}: cannot be read: {brief(error)}. {remedy}") from error


def brief(error: BaseException) -> str:
    """An error in one line, without the list of 100 file extensions that `datasets` appends."""
    text = " ".join(str(error).split()).split(" with any supported extension")[0]
    return f"{type(error).__name__}: {text[:300]}".rstrip(".: ")


def _shown(files: Sequence[str]) -> str:
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f" ({', '.join(files[:3])}{more})" if files else ""
