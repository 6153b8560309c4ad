"""The one reader of CSV and TSV files, as spreadsheets and programs write them: read right, or refused with the line.

Read besides RFC 4180: a byte order mark, line ends of every system, cells of any length, a first line `sep=;`, header
names with blanks around them or in other capitals, trailing delimiters and rows of empty cells, and, with a warning,
semicolons or tabs in the place of commas.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.reading import LINE_END, decode, read_bytes

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_SEP = re.compile(r'"?sep=([,;\t|])"?[,;\t|]*(?:\r\n|\r|\n|$)', re.I)
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_LIMIT = threading.Lock()  # csv has one limit of a cell's length for the whole process


@dataclass(frozen=True)
class CsvRows:
    """The rows of one file; `sha256` is the hash of the whole file, `lines` holds line numbers (the header is 1).

    delimiter: what separates the cells.
    """

    path: Path
    rows: list[dict[str, str]]
    lines: list[int]
    sha256: str
    delimiter: str = ","

    def where(self, i: int) -> str:
        """The location of row `i` (from 0), for messages."""
        return f"{self.path}, line {self.lines[i]}"

    def number(self, i: int, column: str) -> float:
        """The number in row `i`. Raises BadInput naming the line for anything else, also for nan and inf."""
        text = self.rows[i][column]
        try:
            value = math.nan if "_" in text else float(text)  # Python reads 0_1 as 1
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise BadInput(
                f"{self.where(i)}: {column} is {text!r:.60}; it must be a number. Correct the row or the header."
            )
        return value


def read_csv(
    path: Path,
    columns: Sequence[str],
    delimiter: str = ",",
    quoted: bool = True,
    *,
    known: Sequence[str] = (),
    ids: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> CsvRows:
    """The rows of a UTF-8 file with a header that has at least `columns`.

    quoted: whether quotation marks around a cell belong to the format; else they are part of its text. known: further
    columns; these and `columns` are also found in other capitals. ids: columns of ids, see `as_ids`. numbers: columns
    of numbers, see `with_decimal_points`.

    Raises BadInput for a file that cannot be read, missing or repeated columns, a quotation mark that is not closed, a
    row of another length than the header (naming its line), and a file without rows.
    """
    data = read_bytes(path)
    text, skipped = decode(path, data), 0
    if text.lstrip()[:1] in ("{", "["):
        wanted = f" with the columns {', '.join(columns)}" if columns else ""
        raise BadInput(f"{path}: it looks like JSON, and CSV{wanted} is wanted.")
    if told := _SEP.match(text):
        delimiter, quoted, text, skipped = told[1], True, text[told.end() :], 1
    delimiter, quoted = _delimiter(path, text, columns, delimiter, quoted)
    found = split_cells(path, text, delimiter, quoted, 1 + skipped)
    header: list[str] = []
    first: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, cells in found:
        if not header and any(map(_clean, cells)):
            header, first = _header(path, cells, columns, known), cells
            _check_row_names(path, found, len(header))
        elif header and cells and len(cells) > 1 and [*map(_clean, cells)] == [*map(_clean, first)]:
            raise BadInput(f"{path}, line {line}: repeats the header. Remove this line; files joined into one have it.")
        elif header and cells and (len(header) == 1 or any(map(str.strip, cells))):  # spreadsheets leave empty rows
            rows.append(_of_length(cells, len(header), f"{path}, line {line}", delimiter))
            lines.append(line)
    if found and not header:
        _header(path, [], columns, known)
    if not rows:
        raise BadInput(f"{path}: there are no rows{'' if data.strip() else '; the file is empty'}.")
    kept = [i for i, name in enumerate(header) if name or any(row[i].strip() for row in rows)]
    names = [header[i] or f"column {i + 1}" for i in kept]
    _check_header(path, names)
    dicts = [dict(zip(names, (row[i] for i in kept), strict=True)) for row in rows]
    table = CsvRows(path, dicts, lines, hashlib.sha256(data).hexdigest(), delimiter)
    return with_decimal_points(as_ids(table, ids), numbers)


def read_tsv(path: Path, columns: Sequence[str], *, known: Sequence[str] = (), ids: Sequence[str] = ()) -> CsvRows:
    """As `read_csv`, with tabs between the cells.

    Quotation marks are text, as many programs write them into such files, but for those around a cell with doubled ones
    inside or none, which other programs write.
    """
    table = read_csv(path, columns, "\t", quoted=False, known=known, ids=ids)
    if table.delimiter != "\t":
        return table
    rows = [{name: _unquoted(cell) for name, cell in row.items()} for row in table.rows]
    return replace(table, rows=rows)


def _unquoted(cell: str) -> str:
    match = _QUOTED.fullmatch(cell)
    return match[1].replace('""', '"') if match else cell


# ---- cells --------------------------------------------------------------------------------------


def split_cells(
    path: Path, text: str, delimiter: str, quoted: bool = True, first: int = 1
) -> list[tuple[int, list[str]]]:
    """(line, cells) of every row, also of empty ones; `first` is the number of the text's first line.

    Raises BadInput with line and column of a quotation mark that is not closed.
    """
    blanks = quoted and _blanks_follow(text, delimiter)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        strict=True,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        skipinitialspace=blanks,
    )
    rows, last = [], 0
    with _LIMIT:
        limit = csv.field_size_limit(max(len(text), 1))
        try:
            for cells in reader:
                rows.append((first + last, cells))
                last = reader.line_num
        except csv.Error as problem:
            raise BadInput(f"{path}, {_at_quote(text, last, delimiter, first, blanks)}") from problem
        finally:
            csv.field_size_limit(limit)
    return rows


def _blanks_follow(text: str, delimiter: str) -> bool:
    """Whether each name of the header but the first has a blank in front, as in `id, text`."""
    others = LINE_END.split(text, maxsplit=1)[0].split(delimiter)[1:]
    return bool(others) and all(name.startswith(" ") for name in others)


def _at_quote(text: str, read: int, delimiter: str, first: int, blanks: bool) -> str:
    """Where the quotation mark is that a row after the first `read` lines does not close, and the remedy."""
    ends = [match.end() for match in LINE_END.finditer(text)]
    start = at = ends[read - 1] if read else 0

    def place(of: int) -> str:
        line = sum(end <= of for end in ends)
        return f"line {first + line}, column {of - (ends[line - 1] if line else 0) + 1}"

    while at < len(text):
        at += len(text[at:]) - len(text[at:].lstrip(" ")) if blanks else 0
        if text[at : at + 1] != '"':
            at = next((i for i in range(at, len(text)) if text[i] in f"{delimiter}\r\n"), len(text)) + 1
            continue
        closed = text.find('"', at + 1)
        while closed >= 0 and text[closed + 1 : closed + 2] == '"':
            closed = text.find('"', closed + 2)
        if closed < 0:
            return f"{place(at)}: a quotation mark is opened here and never closed. Close it, or write it twice."
        after = text[closed + 1 : closed + 13]
        if after[:1] not in (delimiter, "\r", "\n", ""):
            return (
                f"{place(closed)}: the cell whose quotation mark is opened in {place(at)} ends here, before {after!r}. "
                "Close it where it ends, and write quotation marks within a text twice."
            )
        at = closed + 2
    return f"{place(start)}: is not CSV."


def _of_length(cells: list[str], length: int, where: str, delimiter: str) -> list[str]:
    """The cells without empty ones beyond the header's. Raises BadInput where there are more, or too few."""
    while len(cells) > length and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) == length:
        return cells
    remedy = f"Put quotation marks around a text with {DELIMITERS.get(delimiter, repr(delimiter))} in it."
    if len(cells) < length:
        remedy = "Add what is missing; where a text goes on in the next line, put quotation marks around it."
    raise BadInput(f"{where}: has {len(cells)} fields, the header has {length}. {remedy}")


# ---- header -------------------------------------------------------------------------------------


def _delimiter(path: Path, text: str, columns: Sequence[str], delimiter: str, quoted: bool) -> tuple[str, bool]:
    """The delimiter, and whether quotation marks belong to the format: another one than asked for is told."""
    first = next((line for line in LINE_END.split(text) if line.strip()), "")
    wanted = {column.casefold() for column in columns}

    def fits(by: str) -> bool:
        names = [_clean(name.strip('"')) for name in first.split(by)]
        return wanted <= {name.casefold() for name in names} and (bool(wanted) or len(names) > 1)

    others = [other for other in DELIMITERS if other != delimiter and other in first and fits(other)]
    if fits(delimiter) or len(others) != 1:
        return delimiter, quoted
    warnings.warn(
        f"{path}: {DELIMITERS[others[0]]} separate the columns, not {DELIMITERS[delimiter]}, and are read so.",
        stacklevel=3,
    )
    return others[0], True


def _clean(name: str) -> str:
    return name.strip().strip("\ufeff\u200b").strip()


def _header(path: Path, cells: Sequence[str], columns: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names, without blanks around them; `columns` and `known` as they are asked for. "" for a column without."""
    names = [_clean(cell) for cell in cells]
    for column in (*columns, *known):
        alike = [i for i, name in enumerate(names) if name.casefold() == column.casefold()]
        if column not in names and len(alike) == 1:
            names[alike[0]] = column
    for column in columns:
        if column not in names:
            raise BadInput(
                f"{path}: there is no column '{column}'; there are: {', '.join(names) or 'none'}."
                f"{nearest(column, [name for name in names if name not in columns])}"
            )
    return names


def _check_row_names(path: Path, found: Sequence[tuple[int, Sequence[str]]], length: int) -> None:
    """Raise BadInput where all rows have one cell more than the header and count 1, 2, 3 in their first one."""
    rows = [(line, cells) for line, cells in found if any(map(str.strip, cells))][1:]
    names = [cells[0].strip(' "') for _, cells in rows]
    counted = len(rows) > 1 and names == [*map(str, range(1, len(rows) + 1))]
    if counted and {len(cells) for _, cells in rows} == {length + 1}:
        raise BadInput(
            f"{path}, line {rows[0][0]}: {length + 1} fields, the header has {length}, as where R writes row names. "
            "If so, begin the header with a name for them. If not, put quotation marks around texts with the delimiter "
            "in them, and end the header as the rows end."
        )


def _check_header(path: Path, names: Sequence[str]) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"{path}: the header repeats the column {', '.join(repeated)}.")


# ---- ids and numbers ----------------------------------------------------------------------------

_SHORTENED = re.compile(r"[+-]?\d(?:[.,]\d+)?E\+\d+", re.I)
_WHOLE_FLOAT = re.compile(r"(\d+)\.0+")
_KEPT = 15
"""Digits of a number that a spreadsheet keeps; it writes zeros for the others."""
_SURE = 6
"""So many zeros beyond them, in all ids together, are no chance."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_PLAIN_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_FINITE = re.compile(r"[+-]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.I)
_NUMBER = re.compile(r"[+-]?(?:(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?|nan|inf|null|none|n/a|#.*)", re.I)


def as_ids(table: CsvRows, columns: Sequence[str]) -> CsvRows:
    """The table with the ids of these columns as they were before a program took them for numbers.

    Floats such as 610.0 become whole numbers where all ids are such, with a warning. Raises BadInput for an id that has
    lost digits, as in 1.23457E+17, and for ids that differ only in how a number is written, as 1, 01 and 1.0.
    """
    for column in columns:
        cells = {i: row[column].strip() for i, row in enumerate(table.rows) if row.get(column, "").strip()}
        long = {i: cell[_KEPT:] for i, cell in cells.items() if cell.isdecimal() and len(cell) > _KEPT}
        rounded = not any(rest.strip("0") for rest in long.values()) and sum(map(len, long.values())) >= _SURE
        floats = bool(cells) and all(map(_WHOLE_FLOAT.fullmatch, cells.values()))
        for i, cell in cells.items():
            lost = _SHORTENED.fullmatch(cell) or (rounded and i in long) or (floats and len(cell) > _KEPT + 2)
            if lost:
                raise BadInput(
                    f"{table.where(i)}: {column} is {cell!r:.60}: a program took it for a number, and digits are lost. "
                    "Take the ids from their source again; in a spreadsheet, format the column as text before."
                )
        seen: dict[str, int] = {}
        for i, cell in cells.items():
            first = seen.setdefault(id_key(cell), i)
            if cells[first] != cell:
                raise BadInput(
                    f"{table.where(i)}: {column} is {cell!r:.60}, the same number as {cells[first]!r:.60} in "
                    f"{table.where(first)}. Write an id in one way, and give each row an id of its own."
                )
        if floats:
            warnings.warn(
                f"{table.path}: the ids in {column} are written as {cells[min(cells)]!r:.40}; they are read as whole "
                "numbers.",
                stacklevel=4,
            )
            table = _changed(table, column, lambda cell: cell.strip().partition(".")[0])
    return table


def id_key(identity: str) -> str:
    """What a spreadsheet makes of an id: 1 of 01 and of 1.0."""
    match = re.fullmatch(r"0*(\d+?)(?:\.0+)?", identity)
    return match[1] if match else identity


def claim(places: dict[str, str], identity: str, where: str, remedy: str) -> None:
    """Enter an id and its place. Raises BadInput with both places where another row has it."""
    if (there := places.setdefault(identity, where)) != where:
        raise BadInput(f"{where}: id {identity!r:.60} is also that of {there}. {remedy}")


def with_decimal_points(table: CsvRows, columns: Sequence[str]) -> CsvRows:
    """The table with points in the place of decimal commas in the columns, as far as they hold numbers alone.

    Raises BadInput for decimal commas in a file whose delimiter is the comma, for a column with points, too, and for
    commas that may as well divide thousands.
    """
    for column in columns:
        cells = {i: row[column].strip() for i, row in enumerate(table.rows) if row.get(column, "").strip()}
        commas = [i for i, cell in cells.items() if _DECIMAL_COMMA.fullmatch(cell)]
        if not commas or not all(map(_NUMBER.fullmatch, cells.values())):
            continue
        said = f"{table.where(commas[0])}: {column} is {cells[commas[0]]!r:.60}"
        thousands = table.delimiter == "\t" and all(re.fullmatch(r"[+-]?\d{1,3},\d{3}", cells[i]) for i in commas)
        if table.delimiter == "," or thousands or any("." in cell for cell in cells.values()):
            point, whole = (cells[commas[0]].replace(",", mark) for mark in (".", ""))
            such = f"{point} or {whole}" if re.fullmatch(r"[+-]?\d{1,3},\d{3}", cells[commas[0]]) else point
            raise BadInput(f"{said}; write numbers with a decimal point and nothing between thousands: {such}.")
        table = _changed(table, column, lambda cell: cell.replace(",", "."))
    return table


def typed(cells: Sequence[str]) -> list[Any]:
    """The cells of a column as whole numbers or numbers where all are such, else as texts; None for an empty cell."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    for form, kind in ((_PLAIN_WHOLE, int), (_FINITE, float)) if filled else ():
        if all(map(form.fullmatch, filled)):
            return [kind(cell) if cell.strip() else None for cell in cells]
    return [cell or None for cell in cells]


def _changed(table: CsvRows, column: str, change: Callable[[str], str]) -> CsvRows:
    return replace(table, rows=[{**row, column: change(row[column])} for row in table.rows])
