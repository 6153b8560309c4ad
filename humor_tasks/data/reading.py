"""Reading of text files and JSON lines, with the location of each line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput


def read_body(path: Path, encoding: str = "utf-8") -> str:
    """The file's text. Raises BadInput where it is missing or not UTF-8. `utf-8-sig` accepts the byte order mark of
    spreadsheets.
    """
    try:
        return path.read_text(encoding=encoding)
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({problem}).") from None


def lines_of(path: Path, encoding: str = "utf-8") -> list[tuple[str, str]]:
    """(location, line) for every line that is not blank; errors as in `read_body`."""
    lines = read_body(path, encoding).split("\n")
    return [(f"{path}, line {i}", line) for i, line in enumerate(lines, 1) if line.strip()]


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """(location, value) for every line that is not blank. Raises BadInput naming a line that is not JSON."""
    for where, line in lines_of(path):
        try:
            yield where, json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BadInput(f"{where}: not JSON ({problem}).") from None
