"""A dataset's configs, with their splits and columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from humor_tasks.data.rows.folder import as_bad_input, find_builder, folders_of, without_torch
from humor_tasks.data.rows.opening import local_folder
from humor_tasks.data.rows.table import Request
from humor_tasks.errors import BadInput


class Offer(NamedTuple):
    """The splits of one config, and the columns of the first split."""

    splits: tuple[str, ...]
    columns: tuple[str, ...]


class Catalogue(NamedTuple):
    """A dataset's configs, in the order of its card. `revision` is the commit; None for folders."""

    configs: tuple[str, ...]
    offers: dict[str, Offer]
    revision: str | None


def catalogue(
    dataset: str, *, hub: str, cards: Path, revision: str | None = None, wanted: Callable[[str], bool] = lambda _: True
) -> Catalogue:
    """The configs of a dataset (names as in `open_rows`), with the splits and columns of those that `wanted` accepts.

    A hub dataset needs network access. Raises BadInput where the dataset cannot be read or reached.
    """
    from datasets import get_dataset_config_names

    source, commit = _locate(dataset, hub, cards, revision)
    request = Request(dataset, "any config", "any split", (), False)
    offers: dict[str, Offer] = {}
    with as_bad_input(request), without_torch():
        names = get_dataset_config_names(source, revision=commit)
        if names == ["default"]:
            names = folders_of(source, commit)
        for name in filter(wanted, names):
            builder = find_builder(request._replace(config=name), source, commit)
            splits = tuple(str(split) for split in builder.config.data_files or {})
            stream: Any = builder.as_streaming_dataset(splits[0]) if splits else None
            offers[name] = Offer(splits, tuple(stream.features or next(iter(stream))) if splits else ())
    return Catalogue(tuple(names), offers, commit)


def _locate(dataset: str, hub: str, cards: Path, revision: str | None) -> tuple[str, str | None]:
    """The dataset's name for `datasets`, and its commit."""
    folder = cards if dataset == "sample" else local_folder(dataset, hub)
    if folder is not None:
        if revision is not None:
            raise BadInput(f"revision={revision} is for hub datasets, and dataset={dataset} is a folder.")
        return str(folder.resolve()), None
    from humor_tasks.data.rows.hub import resolve

    return dataset, resolve(dataset, revision)
