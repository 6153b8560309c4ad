"""`open_rows`: selects the kind of source that a dataset name denotes."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.reading import missing, parse_json, read_body
from humor_tasks.rows.folder import as_bad_input, find_builder, folders_of, without_torch
from humor_tasks.rows.table import Request, Rows, fingerprint, finish, picture_in, with_pictures

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
    revision: branch, tag or commit of a hub dataset; None is its pin (`rows.pins`), and without a pin the main branch.
    on_bad_picture: "skip" checks each distinct picture and leaves out the rows of bad ones; see `table.with_pictures`.
    clips: whether the media are clips.

    Raises Absent for an unknown config or split, and BadInput for an unknown dataset or column, unreadable files, a
    revision of a folder, and a hub that cannot be reached.
    """
    text = tuple(dict.fromkeys(name for name in columns if name != media))
    request = Request(str(dataset), config, split, text, pictures, media, nulls, on_bad_picture, clips)
    folder = Path(cards) if request.dataset == "sample" else local_folder(request.dataset, hub)
    if folder is None:
        from humor_tasks.rows.hub import open_hub

        return open_hub(request, revision)
    if revision is not None:
        raise BadInput(
            f"revision={revision} is for hub datasets, and dataset={request.dataset} is a folder: leave revision out."
        )
    from humor_tasks.rows.folder import read_folder

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


def described_by(dataset: str) -> dict[str, Any] | None:
    """The section `described` of a folder's card: source, model, questions. None where the descriptions are
    human-written.

    Raises BadInput where the card's front matter is not YAML.
    """
    card = Path(dataset).expanduser() / "README.md"
    if not card.is_file():
        return None
    text = card.read_text(encoding="utf-8", errors="replace")
    if not text.startswith("---\n") or "\ndescribed:" not in text:
        return None
    import yaml

    try:
        front = yaml.safe_load(text[4:].split("\n---", 1)[0])
    except yaml.YAMLError as problem:
        raise BadInput(f"{card}: its front matter is not YAML ({problem}).") from None
    section = front.get("described") if isinstance(front, dict) else None
    return section if isinstance(section, dict) else None


# ---- configs, splits and columns -------------------------------------------------------------------


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
    folder = cards if dataset == "sample" else local_folder(dataset, hub)
    if folder is not None:
        if revision is not None:
            raise BadInput(f"revision={revision} is for hub datasets, and dataset={dataset} is a folder.")
        return str(folder.resolve()), None
    from humor_tasks.rows.hub import resolve

    return dataset, resolve(dataset, revision)


# ---- the leaderboard's format ----------------------------------------------------------------------


_FIELDS = ("instance_id", "image", "choices")


def is_leaderboard(dataset: str | Path) -> bool:
    """Whether `dataset` is a folder in the leaderboard's format: `instances.json`, but no card with configs and no
    parquet.
    """
    folder = Path(dataset).expanduser()
    card = folder / "README.md"
    if not (folder / "instances.json").is_file() or (card.is_file() and b"configs:" in card.read_bytes()):
        return False
    return not any(folder.glob("**/*.parquet"))


def read_leaderboard(folder: Path, on_bad_picture: str | None = None) -> Rows:
    """The rows of the leaderboard's format, with instance_id, caption_choices and image; label and contest_number are
    None.

    Raises BadInput naming the file and the instance. on_bad_picture: see `table.with_pictures`.
    """
    folder = Path(folder).expanduser()
    file = folder / "instances.json"
    instances = parse_json(file, read_body(file))
    if not isinstance(instances, list) or not instances:
        raise BadInput(f"{file}: must be a list of instances, each with {', '.join(_FIELDS)}.")
    rows: list[dict[str, Any]] = []
    files: list[str] = []
    seen: dict[str, int] = {}
    for i, instance in enumerate(instances):
        where = f"{file}, instance {i}"
        identity, relative, choices = _read_instance(instance, where)
        if identity in seen:
            raise BadInput(
                f"{where}: instance_id {identity} repeats that of instance {seen[identity]}; ids must be unique."
            )
        seen[identity] = i
        rows.append({"instance_id": identity, "caption_choices": choices, "label": None, "contest_number": None})
        files.append(relative)
    done = Rows(rows, str(folder), "leaderboard", "test", None, None, fingerprint(rows))
    return with_pictures(done, "image", lambda i: picture_in(folder, files[i], f"{file}, instance {i}"), on_bad_picture)


def _read_instance(instance: Any, where: str) -> tuple[str, str, list[str]]:
    if not isinstance(instance, dict):
        raise BadInput(f"{where}: must be an object with {', '.join(_FIELDS)}, not {instance!r:.80}.")
    for name in _FIELDS:
        if name not in instance:
            raise BadInput(f"{where}: '{name}' is missing; there are: {', '.join(instance)}.{nearest(name, instance)}")
    identity, relative, choices = (instance[name] for name in _FIELDS)
    for name, value in (("instance_id", identity), ("image", relative)):
        if not isinstance(value, str) or missing(value):
            raise BadInput(f"{where}: '{name}' is {value!r:.80}; it must be text.")
    letters = list(string.ascii_uppercase[: len(choices)]) if isinstance(choices, dict) else []
    if not letters or list(choices) != letters:
        raise BadInput(f"{where}: 'choices' must hold captions by letter, A, B, ... in order, not {choices!r:.80}.")
    if not all(isinstance(caption, str) for caption in choices.values()):
        raise BadInput(f"{where}: 'choices' holds something other than text: {choices!r:.80}.")
    for letter, caption in choices.items():
        if why := missing(caption):
            raise BadInput(f"{where}: 'choices': caption {letter} is {why}; it must be text.")
    return identity, relative, list(choices.values())
