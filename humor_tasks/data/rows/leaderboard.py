"""The leaderboard's format: an unlabelled `instances.json` with pictures in the same folder."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

from humor_tasks.data.reading import parse_json, read_body
from humor_tasks.data.rows.table import Rows, fingerprint, picture_in, with_pictures
from humor_tasks.data.text import missing
from humor_tasks.errors import BadInput, nearest

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
    instances = parse_json(file, read_body(file), object_pairs_hook=_without_repeats)
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


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"'{key}' occurs twice in one object")
        found[key] = value
    return found
