"""The folder of an audit: the page and the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from humor_tasks.data.writing import write_text
from humor_tasks.errors import BadInput
from humor_tasks.studies.audit.auditing import Audit
from humor_tasks.studies.audit.page import page
from humor_tasks.studies.audit.writing import as_json

PAGE, DATA = "index.html", "audit.json"


def check_folder(folder: Path, inputs: Sequence[str]) -> None:
    """Raise BadInput where the audit cannot be written to this folder."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; -o takes a folder, for {PAGE} and {DATA}.")
    for name in (PAGE, DATA):
        if (folder / name).exists() and not (folder / name).is_file():
            raise BadInput(f"{folder / name}: is not a file that can be replaced.")
        if any(Path(each).resolve() == (folder / name).resolve() for each in inputs):
            raise BadInput(f"{folder / name}: is an input; choose another output folder.")


def write_audit(folder: Path, audit: Audit) -> None:
    """Write the page and the JSON, each atomically. Raises BadInput where that fails."""
    files = {PAGE: page(audit), DATA: as_json(audit)}
    for name, text in files.items():
        write_text(folder / name, text)
