"""Files of writing requests: one joke, caption or other short text to write in each line.

JSON lines (.jsonl) of {id, text, picture, system}, or CSV and TSV with these columns; picture and system are optional.
The released files of two test sets are read as they are, by the names of their columns:

- MWAHAHA, SemEval-2026 Task 1 (Castro et al. 2026): TSV with id, word1, word2 and headline, or id and url, or id, url
  and prompt. A cell "-" is empty, and quotation marks are text, as in the organisers' own reader.
- Humor Transfer Bench (Ajayi and Mitra 2026, arXiv 2604.09629): TSV with id, domain and prompt.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.csv_files import claim, read_csv, read_tsv
from humor_tasks.files.reading import check_text, is_visible, json_lines
from humor_tasks.files.writing import LONE
from humor_tasks.rows import canary
from humor_tasks.rows.media.names import alike
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.table import Rows, fingerprint, picture_in, with_pictures

FORM = "{id, text}, and if wanted picture and system"
OWN = ("id", "text", "picture", "system")
RELEASED = ("word1", "word2", "headline", "prompt", "url", "domain")
"""The columns of the released files; a domain is a label, and not shown."""
PICTURES = (".gif", ".png", ".jpg", ".jpeg", ".webp", ".bmp")
"""The ends of a picture's file name that are looked for in the place of a web address."""
LONGEST = 20
"""The most words of a caption in MWAHAHA's subtask B."""
LANGUAGES = {"es": "Spanish", "zh": "Chinese"}
"""The languages that the ids of MWAHAHA's subtask A name beside English."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class Request:
    """One text to write.

    id: its name, once in a file. text: what is asked for, or its topic. picture: what it is about, or None. system: the
    system message that it comes with, or "".
    """

    id: str
    text: str
    picture: Picture | None = None
    system: str = ""


def read_requests(path: Path, images: Path | None = None) -> list[Request]:
    """The requests of a file, in its order.

    images: the folder of the pictures; by default that of the file. Raises BadInput naming file, line and field for
    what cannot be read, for an id without text or given twice, and for a picture that is missing or outside the folder.
    """
    return [Request(**row) for row in open_requests(path, images).rows]


def open_requests(path: Path, images: Path | None = None, on_bad_picture: str | None = None) -> Rows:
    """As `read_requests`, but rows with the fields of a Request, the file's name and a fingerprint of the texts.

    on_bad_picture: see `rows.table.with_pictures`.
    """
    folder = path.parent if images is None else images
    if images is not None and not images.is_dir():
        raise BadInput(f"images={images}: there is no such folder.")
    rows: list[dict[str, Any]] = []
    pictured: list[tuple[str, str, str]] = []  # location, column and cell
    places: dict[str, str] = {}
    for where, cells in _cells(path):
        identity = " ".join(check_text(cells.get("id"), f"{where}: id").split())
        claim(places, identity, where, "Give each request an id of its own.")
        rows.append({"id": identity, "text": _text(identity, cells, where), "system": cells.get("system", "")})
        column = "picture" if cells.get("picture") else "url"
        pictured.append((where, column, cells.get(column, "")))
    if not rows:
        raise BadInput(f"{path}: holds no requests; each line is {FORM}.")
    found = Rows(rows, str(path), path.name, "test", None, None, fingerprint(rows))

    def picture(i: int) -> Picture | None:
        where, column, cell = pictured[i]
        return _picture(folder, rows[i]["id"], cell, where, column) if cell else None

    return with_pictures(found, "picture", picture, on_bad_picture)


# ---- lines ----------------------------------------------------------------------------------------


def _cells(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The location and the cells of each line that are not empty."""
    read = {".jsonl": _of_json, ".csv": _of_table, ".tsv": _of_table}.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"{path}: the name must end in .jsonl, .csv or .tsv, by which the file is read.")
    known = {*OWN, *RELEASED, canary.COLUMN}
    for where, cells in read(path):
        if unused := [name for name in cells if name not in known]:
            warnings.warn(f"{where}: not used: {', '.join(unused)}. A request is {FORM}.", stacklevel=4)
            known.update(unused)
        yield where, {name: cell for name, cell in cells.items() if not _is_empty(name, cell)}


def _is_empty(name: str, cell: str) -> bool:
    return not is_visible(cell) or (cell.strip() == "-" and name in RELEASED)


def _of_json(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for where, row in json_lines(path):
        if not isinstance(row, dict):
            raise BadInput(f"{where}: must be an object of {FORM}.")
        cells = {name: str(value) if name == "id" and type(value) is int else value for name, value in row.items()}
        for name in (*OWN, *RELEASED):
            if not isinstance(cell := cells.get(name, ""), str | None) or LONE.search(cell or ""):
                raise BadInput(f"{where}: {name} is {cell!r:.60}; it must be text.")
        yield where, {name: value if isinstance(value, str) else "" for name, value in cells.items()}


def _of_table(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    read = read_tsv if path.suffix.lower() == ".tsv" else read_csv
    table = read(path, ("id",), known=(*OWN, *RELEASED), ids=("id",))
    columns = table.rows[0]
    if not {"text", "headline", "prompt", "url"} & columns.keys() and not {"word1", "word2"} <= columns.keys():
        raise BadInput(
            f"{path}: there is no column of requests; there are: {', '.join(columns)}. Name it text, or keep the "
            "names of MWAHAHA (word1 and word2, headline, url, prompt) or Humor Transfer Bench (prompt)."
        )
    for i, row in enumerate(table.rows):
        yield table.where(i), row


# ---- fields ---------------------------------------------------------------------------------------


def _text(identity: str, cells: Mapping[str, str], where: str) -> str:
    """What is asked for, in words. Raises BadInput for a line without a request, and for one with two."""
    shown = {name: " ".join(cell.split()) for name, cell in cells.items()}
    in_language = f" in {LANGUAGES[identity[:2]]}" if identity[:3] in ("es_", "zh_") else ""
    forms = {name: cells[name].strip() for name in ("text", "prompt") if name in cells}
    if "word1" in cells and "word2" in cells:
        words = f"{shown['word1']}, {shown['word2']}"
        forms["word1 and word2"] = f"Write a joke{in_language} that contains both of these words: {words}"
    elif "word1" in cells or "word2" in cells:
        raise BadInput(f"{where}: has one of word1 and word2; fill both in, or neither.")
    if "headline" in cells:
        forms["headline"] = f"Write a joke{in_language} about this news headline: “{shown['headline']}”"
    if "url" in cells:
        asked = "Complete this text into a funny caption" if "prompt" in cells else "Write a funny caption"
        start = f": “{shown['prompt']}”" if "prompt" in cells else "."
        forms["url"] = f"{asked} for the picture, in at most {LONGEST} words{start}"
        forms.pop("prompt", None)
    if len(forms) > 1:
        raise BadInput(f"{where}: has {' and '.join(forms)}; a line is one request, so leave all but one empty.")
    if not forms:
        raise BadInput(f"{where}: text is empty; write what is asked for, or leave the line out.")
    return next(iter(forms.values()))


def _picture(folder: Path, identity: str, cell: str, where: str, column: str) -> Picture:
    """The picture that a cell names by its path in the folder; of a web address, the file that has the request's id."""
    name = cell.strip()
    if _ADDRESS.match(name):
        files = [f"{identity}{ending}" for ending in PICTURES]
        name = next((file for file in files if os.path.isfile(folder / file) or len(alike(folder, file)) == 1), "")
    if not name:
        raise BadInput(
            f"{where}: {column} is a web address, and nothing is downloaded. Save the picture in {folder} as "
            f"{identity}.gif (or .png, .jpg, .webp), or name the folder that has it: images=FOLDER."
        )
    return picture_in(folder, name, where, column=column)
