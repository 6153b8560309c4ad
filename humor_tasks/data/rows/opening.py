"""`open_rows`: which of the three kinds of source a name means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from humor_tasks.data.rows.table import Rows, Want, finish
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
    revision: str | None = None,
) -> Rows:
    """The rows of one split, with the columns asked for and, when `pictures`, a lazy `Picture` under "image".

    media: the column of pictures, where it is not "image"; what its files hold is for the benchmark to say.
    dataset: "sample" (the folder `cards`), a local dataset folder, or a hub id; `hub` is the benchmark's own, None
    where its corpus is not public.
    revision: branch, tag or commit of a hub dataset.
    """
    text = tuple(dict.fromkeys(name for name in columns if name != media))
    want = Want(str(dataset), config, split, text, pictures, media)
    folder = Path(cards) if want.dataset == "sample" else local_folder(want.dataset, hub)
    if folder is None:
        from humor_tasks.data.rows.hub import open_hub

        return open_hub(want, revision)
    if revision is not None:
        raise BadInput(
            f"revision={revision} is for hub datasets, and dataset={want.dataset} is a folder: leave revision out."
        )
    from humor_tasks.data.rows.folder import read_folder

    return finish(want, read_folder(want, folder), None, None)


def local_folder(dataset: str, hub: str | None) -> Path | None:
    """The local folder, or None when `dataset` can only be the id of a hub dataset."""
    path = Path(dataset).expanduser()
    if dataset and path.is_dir():
        return path
    if path.is_file():
        raise BadInput(f"dataset={dataset} is a file; name the dataset folder it lies in.")
    if _HUB_ID.fullmatch(dataset):
        return None
    known = f" such as '{hub}'" if hub else ", and the benchmark's own corpus is not public (see its card)"
    raise BadInput(
        f"dataset={dataset} is neither 'sample' (the packaged sample), nor a folder that exists, nor the id of a hub "
        f"dataset{known}.{nearest(dataset, ['sample', *([hub] if hub else [])])}"
    )
