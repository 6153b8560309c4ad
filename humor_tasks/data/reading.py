"""Text files and JSON lines, each line with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput


def read_body(path: Path, encoding: str = "utf-8") -> str:
    """The file's text; BadInput where there is none. `utf-8-sig` takes a byte order mark, as spreadsheets write it."""
    try:
        return path.read_text(encoding=encoding)
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({problem}).") from None


def lines_of(path: Path, encoding: str = "utf-8") -> list[tuple[str, str]]:
    """(where, line) of every line that is not blank; as `read_body`."""
    lines = read_body(path, encoding).split("\n")
    return [(f"{path}, line {i}", line) for i, line in enumerate(lines, 1) if line.strip()]


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """(where, value) of every line of JSON lines that is not blank; BadInput names one that is no JSON."""
    for where, line in lines_of(path):
        try:
            yield where, json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BadInput(f"{where}: not JSON that can be read ({problem}).") from None
