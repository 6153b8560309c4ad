"""Files of a built dataset without the canary of `humor_tasks.rows.canary`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from humor_tasks.files.reading import read_body
from humor_tasks.lab.corpora.audit.items import Finding, Items, Part, finding
from humor_tasks.lab.corpora.audit.tables import IN_FOLDERS, read_file
from humor_tasks.rows.canary import COLUMN, GUID

_MADE = re.compile(r"(Built|Made) by `humor-tasks (build|describe)")


def unmarked(data: Items) -> list[Finding]:
    """The card and the files of rows without the canary, of a folder that `humor-tasks build` or `describe` made.

    Other datasets have canaries of their own, or none.
    """
    folder = Path(data.dataset).expanduser()
    card = folder / "README.md"
    text = read_body(card) if card.is_file() else ""
    files = [*([] if GUID in text else [card.name]), *_files(folder)] if _MADE.search(text) else []
    what = "without the canary of built datasets, by which training data is filtered; build the dataset again."
    return finding("no_canary", "warning", "file", what, files)


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*/*")):
        if path.suffix in IN_FOLDERS and path.parent.name != "quality":
            rows = read_file(path, Part("", "", "")).rows
            if not all(GUID in str(row.get(COLUMN)) for row in rows):
                yield path.relative_to(folder).as_posix()
