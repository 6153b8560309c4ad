"""Rows of a CSV file, with the line number of each.

The standard library reads the file, because the reader of `datasets` converts captions such as "None" or "NA" to
missing values and numbers to floats.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.data.reading import decode, read_bytes
from humor_tasks.errors import BadInput, nearest


@dataclass(frozen=True)
class CsvRows:
    """The rows of one file; `sha256` is the hash of the whole file, `lines` holds line numbers (the header is 1)."""

    path: Path
    rows: list[dict[str, str]]
    lines: list[int]
    sha256: str

    def where(self, i: int) -> str:
        """The location of row `i` (from 0), for messages."""
        return f"{self.path}, line {self.lines[i]}"


def read_csv(path: Path, columns: Sequence[str], delimiter: str = ",") -> CsvRows:
    """The rows of a UTF-8 file with a header that has at least `columns`.

    Raises BadInput for a file that cannot be read, missing or repeated columns, a row of another
    length than the header (naming its line), and a file without rows.
    """
    data = read_bytes(path)
    reader = csv.reader(io.StringIO(decode(path, data), newline=""), strict=True, delimiter=delimiter)
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    header: list[str] = []
    last = 0
    try:
        for cells in reader:
            start, last = last + 1, reader.line_num
            if not header:
                header = _header(path, cells, columns)
            elif cells:  # blank lines are skipped
                if len(cells) != len(header):
                    raise BadInput(f"{path}, line {start}: has {len(cells)} fields, the header has {len(header)}.")
                rows.append(dict(zip(header, cells, strict=True)))
                lines.append(start)
    except csv.Error as problem:
        raise BadInput(f"{path}, line {reader.line_num}: is not CSV ({problem}).") from None
    if not rows:
        raise BadInput(f"{path}: there are no rows{'' if data.strip() else '; the file is empty'}.")
    return CsvRows(path, rows, lines, hashlib.sha256(data).hexdigest())


def _header(path: Path, cells: list[str], columns: Sequence[str]) -> list[str]:
    for column in columns:
        if column not in cells:
            if cells and cells[0].lstrip()[:1] in ("{", "["):
                raise BadInput(f"{path}: it looks like JSON, and CSV with the columns {', '.join(columns)} is wanted.")
            raise BadInput(
                f"{path}: there is no column '{column}'; there are: {', '.join(cells) or 'none'}."
                f"{nearest(column, [cell for cell in cells if cell not in columns])}"
            )
    repeated = sorted({cell for cell in cells if cells.count(cell) > 1})
    if repeated:
        raise BadInput(f"{path}: the header repeats the column {', '.join(repeated)}.")
    return cells
