"""Files whose names differ a little from those that rows give: other Unicode form, other case, backslashes.

Archives made on a Mac hold decomposed names (NFD), editors write composed ones (NFC), and Windows knows no case and
writes backslashes. A folder is listed once for all names that are looked for in it, until it changes.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from humor_tasks.errors import listed

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://?")


def alike(folder: Path, relative: str) -> list[str]:
    """The paths in a folder that differ from this one least: in Unicode form and backslashes, else also in case.

    They are relative to the folder. One path is the file that is meant; several are as good as none.
    """
    parts = PurePosixPath(relative.replace("\\", "/")).parts
    for same in (_composed, _caseless):
        found = [""]
        for part in parts:
            found = [os.path.join(base, name) for base in found for name in _names(folder / base, same(part), same)]
        if files := [path for path in found if path and os.path.isfile(folder / path)]:
            return files
    return []


def near_miss(folder: Path, relative: str) -> str:
    """What to say of a path without a file: what is near it; "" where nothing is."""
    if len(near := alike(folder, relative)) > 1:
        return f"{listed('file', map(ascii, near))} differ from it in Unicode form, case or slashes; name one exactly."
    if _ADDRESS.match(relative):
        return "It is an address, and nothing is downloaded; give the path relative to the folder."
    for change in (_trimmed, unquote):
        if (other := change(relative)) != relative and (near := alike(folder, other)):
            return f"There is {' and '.join(map(repr, near))}; correct the row."
    return ""


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _caseless(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _trimmed(relative: str) -> str:
    return "/".join(part.strip() for part in relative.replace("\\", "/").split("/"))


def _names(folder: Path, wanted: str, same: Callable[[str], str]) -> tuple[str, ...]:
    try:
        changed = os.stat(folder).st_mtime_ns
    except (OSError, ValueError):
        return ()
    return _listing(str(folder), changed, same).get(wanted, ())


@lru_cache(maxsize=32)
def _listing(folder: str, changed: int, same: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    """The names in a folder by what makes them the `same`; `changed` is the time of its last change."""
    names: dict[str, tuple[str, ...]] = {}
    try:
        for name in sorted(os.listdir(folder)):
            names[same(name)] = (*names.get(same(name), ()), name)
    except OSError:  # a file, or a folder that may not be read
        return {}
    return names
