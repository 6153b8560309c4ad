"""Reading a dataset folder through `datasets`: config, split and columns, each checked by name."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.data.rows.table import Absent, Table, Want
from humor_tasks.errors import BadInput, nearest

RESTORE = "Restore the files that its README.md names, or correct them."


def read_folder(want: Want, folder: Path) -> Table:
    """The wanted columns of a folder's split."""
    source = str(folder.resolve())  # absolute: `datasets` takes a folder called "json" for the file format
    with explained(want):
        builder = find_builder(want, source, None)
        files = choose_split(want, builder)
    with explained(want, files), without_torch():
        if want.pictures and is_parquet(builder):
            return _through_cache(want, folder, builder, files)
        _check_json_lines(want, files)
        rows = list(stream_split(want, builder, files))
        check_columns(want, dict.fromkeys(key for row in rows for key in row), files)
        images = None
        if want.pictures:
            import pyarrow as pa

            images = pa.array([row[want.media] for row in rows])
        return Table([{c: row[c] for c in want.columns} for row in rows], images, folder)


def _through_cache(want: Want, folder: Path, builder: Any, files: Sequence[str]) -> Table:
    """Pictures inside parquet go through datasets' memory-mapped cache, so that they stay out of memory."""
    from datasets import load_dataset

    check_columns(want, builder.as_streaming_dataset(want.split).features, files)
    source = str(folder.resolve())
    data_files = {want.split: list(files)}
    data = load_dataset(source, data_files=data_files, split=want.split, verification_mode="no_checks")
    return from_dataset(want, data, folder)


def from_dataset(want: Want, data: Any, folder: Path | None) -> Table:
    """The wanted columns of a `datasets.Dataset`."""
    check_columns(want, data.column_names)
    images = data.data.column(want.media) if want.pictures else None
    return Table(data.select_columns(list(want.columns)).to_list(), images, folder)


def find_builder(want: Want, source: str, revision: str | None) -> Any:
    """The `datasets` builder of the config; BadInput with the configs there are when it does not exist."""
    from datasets import get_dataset_config_names, load_dataset_builder

    # Left to itself the hub's file system reads 5 MiB ahead at every step, which is mostly pictures.
    options: dict[str, Any] = {"revision": revision, "storage_options": {"hf": {"block_size": 1}}}
    try:
        return load_dataset_builder(source, want.config, **options)
    except ValueError:
        names = get_dataset_config_names(source, revision=revision)
        if want.config in names and names != ["default"]:
            raise
    if names == ["default"]:
        # No card: a bare copy, or the hub's parquet branch. Each config is a folder of its own.
        names = folders_of(source, revision)
        if want.config in names:
            return load_dataset_builder(source, data_dir=want.config, **options)
    raise Absent(
        f"{want.dataset}: there is no config '{want.config}'; there are: {', '.join(names) or 'none'}."
        f"{nearest(want.config, names)}"
    )


def folders_of(source: str, revision: str | None) -> list[str]:
    """The folders of a dataset without a card: its configs."""
    from fsspec.core import url_to_fs

    filesystem, base = url_to_fs(source if Path(source).is_dir() else f"hf://datasets/{source}@{revision}")
    listed = filesystem.ls(base, detail=True)
    return sorted(Path(entry["name"]).name for entry in listed if entry["type"] == "directory")


def choose_split(want: Want, builder: Any) -> list[str]:
    """Narrows the builder to the wanted split; returns that split's files."""
    from datasets.data_files import DataFilesDict

    files = {str(name): value for name, value in (builder.config.data_files or {}).items()}
    check_split(want, files)
    builder.config.data_files = DataFilesDict({want.split: files[want.split]})
    return [str(name) for name in files[want.split]]


def check_split(want: Want, known: Iterable[str]) -> None:
    """BadInput with the splits there are, unless the wanted one is among them."""
    names = list(known)
    if want.split not in names:
        raise Absent(
            f"{want.dataset}: config '{want.config}' has no split '{want.split}'; there are: "
            f"{', '.join(names) or 'none'}.{nearest(want.split, names)}"
        )


def check_columns(want: Want, known: Iterable[str], files: Sequence[str] = ()) -> None:
    """BadInput with the columns there are, unless all needed ones are among them."""
    names = list(known)
    for column in want.needed:
        if column not in names:
            raise BadInput(
                f"{want.place}{_shown(files)}: there is no column '{column}'; there are: {', '.join(names)}."
                f"{nearest(column, [name for name in names if name not in want.needed])}"
            )


def is_parquet(builder: Any) -> bool:
    """Whether columns can be read on their own."""
    from datasets.packaged_modules.parquet.parquet import Parquet

    return isinstance(builder, Parquet)


def stream_split(want: Want, builder: Any, files: Sequence[str]) -> Any:
    """The split as a stream, of the needed columns alone where the format allows it; pictures stay encoded."""
    from datasets import Image

    stream = builder.as_streaming_dataset(want.split)
    if is_parquet(builder):
        import pyarrow as pa
        from pyarrow.dataset import ParquetFragmentScanOptions

        check_columns(want, stream.features, files)
        builder.config.columns = want.needed
        # One request fetches neighbouring columns, with an unwanted column of text between them, never of pictures.
        near = pa.CacheOptions(hole_size_limit=64 * 2**10)
        builder.config.fragment_scan_options = ParquetFragmentScanOptions(pre_buffer=True, cache_options=near)
        stream = builder.as_streaming_dataset(want.split)
    if want.pictures and isinstance((stream.features or {}).get(want.media), Image):
        stream = stream.cast_column(want.media, Image(decode=False))
    return stream


@contextlib.contextmanager
def without_torch() -> Iterator[None]:
    """Keeps `datasets` from importing torch, as its streams do where torch is installed: seconds at every start."""
    import datasets

    available = datasets.config.TORCH_AVAILABLE
    datasets.config.TORCH_AVAILABLE = available and "torch" in sys.modules
    try:
        yield
    finally:
        datasets.config.TORCH_AVAILABLE = available


def _check_json_lines(want: Want, files: Sequence[str]) -> None:
    """Names the line of a broken JSONL file, which the reader of `datasets` does not."""
    for name in files:
        if not name.endswith((".jsonl", ".ndjson")):
            continue
        for number, line in enumerate(Path(name).read_text(encoding="utf-8").split("\n"), 1):
            try:
                json.loads(line.strip() or "null")
            except ValueError as error:
                raise BadInput(f"{want.place}: {name}, line {number}: not JSON ({error}). Correct the line.") from error


@contextlib.contextmanager
def explained(want: Want, files: Sequence[str] = (), remedy: str = RESTORE) -> Iterator[None]:
    """Whatever `datasets`, pyarrow, PyYAML or the network raises, as BadInput saying what was being read."""
    try:
        yield
    except BadInput:
        raise
    except StopIteration as error:  # how `datasets` says that a file is empty
        raise BadInput(f"{want.place}{_shown(files)}: there are no rows.") from error
    except Exception as error:
        if "scripts are no longer supported" in str(error):
            raise BadInput(
                f"{want.dataset} is made by a loading script, which is never run. Name its parquet branch: "
                "revision=refs/convert/parquet."
            ) from error
        raise BadInput(f"{want.place}{_shown(files)}: cannot be read: {brief(error)}. {remedy}") from error


def brief(error: BaseException) -> str:
    """An error in one line, without the list of 100 file extensions that `datasets` adds."""
    text = " ".join(str(error).split()).split(" with any supported extension")[0]
    return f"{type(error).__name__}: {text[:300]}".rstrip(".: ")


def _shown(files: Sequence[str]) -> str:
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f" ({', '.join(files[:3])}{more})" if files else ""
