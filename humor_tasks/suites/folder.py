"""The folder of a run: what was asked for, the logs, and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from humor_tasks._version import __version__
from humor_tasks.errors import BadInput, one_line
from humor_tasks.files.locks import LOCK
from humor_tasks.files.reading import read_body
from humor_tasks.files.writing import write_json

RUN, LOGS, REPORT = "run.json", "logs", "report"
"""Names in the folder: what was asked for, the folder of the logs, and that of the report."""


def check_folder(folder: Path, asked: Mapping[str, Any]) -> str | None:
    """The id of the run that a folder holds; None for a folder that is new or empty.

    asked: what the run is of, as JSON values. Raises BadInput for a folder of another run, or of something else.
    """
    file = folder / RUN
    if not file.is_file():
        if folder.exists() and (not folder.is_dir() or any(path.name != LOCK for path in folder.iterdir())):
            raise BadInput(f"{folder}: is no folder of `humor-tasks run`, and is not empty; choose another.")
        return None
    try:
        held = json.loads(read_body(file))
        identity = str(held["id"])
    except (ValueError, KeyError, TypeError) as problem:
        raise BadInput(f"{file}: cannot be read ({problem!r}); choose another folder.") from None
    plain = json.loads(json.dumps(asked))
    if changed := [name for name in plain if held.get(name) != plain[name]]:
        told = "; ".join(f"{name}: {_short(held.get(name))} there, {_short(plain[name])} here" for name in changed)
        raise BadInput(
            f"{folder}: holds another run ({told}). Give its command to resume it, or choose another folder."
        )
    return identity


def begin(folder: Path, asked: Mapping[str, Any]) -> str:
    """The id of the run in a folder, as `check_folder`, or a new one, which is written."""
    if identity := check_folder(folder, asked):
        return identity
    identity = uuid4().hex
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / RUN, {"id": identity, "humor_tasks": __version__, **asked})
    except OSError as problem:
        raise BadInput(f"{folder}: cannot be written ({problem}); choose another folder.") from None
    return identity


def _short(value: Any) -> str:
    return one_line(json.dumps(value), 120)
