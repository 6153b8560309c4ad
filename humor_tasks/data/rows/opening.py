"""`open_rows`: selects the kind of source that a dataset name denotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from humor_tasks.data.rows.table import Request, Rows, finish
from humor_tasks.errors import BadInput, nearest

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def open_rows(
    dataset: str,
    *,
    hub: str | None,
    cards: Path,
    config: str,
    split: str,
    columns: Sequence[str],
    pictures: bool = False,
    media: str = "image",
    nulls: bool = False,
    revision: str | None = None,
    on_bad_picture: str | None = None,
    clips: bool = False,
) -> Rows:
    """The rows of one split, with the requested columns and, if `pictures`, a lazy `Picture` under "image".

    media: the column of pictures, where it is not "image"; the benchmark decides what its files hold.
    nulls: whether a row may have no picture (None).
    dataset: "sample" (the folder `cards`), a local dataset folder, or a hub id.
    hub: the benchmark's default hub id; None where its corpus is not public.
    revision: branch, tag or commit of a hub dataset.
    on_bad_picture: "skip" checks each distinct picture and leaves out the rows of bad ones; see `table.with_pictures`.
    clips: whether the media are clips.

    Raises Absent for an unknown config or split, and BadInput for an unknown dataset or column, unreadable files, a
    revision of a folder, and a hub that cannot be reached.
    """
    text = tuple(dict.fromkeys(name for name in columns if name != media))
    request = Request(str(dataset), config, split, text, pictures, media, nulls, on_bad_picture, clips)
    folder = Path(cards) if request.dataset == "sample" else local_folder(request.dataset, hub)
    if folder is None:
        from humor_tasks.data.rows.hub import open_hub

        return open_hub(request, revision)
    if revision is not None:
        raise BadInput(
            f"revision={revision} is for hub datasets, and dataset={request.dataset} is a folder: leave revision out."
        )
    from humor_tasks.data.rows.folder import read_folder

    return finish(request, read_folder(request, folder), None, None)


def local_folder(dataset: str, hub: str | None) -> Path | None:
    """The local folder, or None where `dataset` can only be a hub id. Raises BadInput where it is neither."""
    path = Path(dataset).expanduser()
    if dataset and path.is_dir():
        return path
    if path.is_file():
        raise BadInput(f"dataset={dataset} is a file; name the dataset folder that contains it.")
    if _HUB_ID.fullmatch(dataset):
        return None
    known = f" such as '{hub}'" if hub else ", and this benchmark's corpus is not public (see its card)"
    raise BadInput(
        f"dataset={dataset} is neither 'sample' (the packaged sample), nor a folder that exists, nor the id of a hub "
        f"dataset{known}.{nearest(dataset, ['sample', *([hub] if hub else [])])}"
    )
