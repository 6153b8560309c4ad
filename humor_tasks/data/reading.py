"""Reading of text files, JSON and JSON lines, with the location of each line and what a file is instead."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, nearest

# First bytes of files that are no text -> what they are, and the remedy.
_OTHERS = {
    b"\xff\xfe": "it is UTF-16; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16; save it as UTF-8",
    b"\x1f\x8b": "it is compressed with gzip; unpack it",
    b"PK\x03\x04": "it is a zip archive, as spreadsheets and .eval logs are; save it as text",
    b"PAR1": "it is a parquet file",
}
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_CELLS = re.compile(r"""[^\[\]{}:]*[^\s\[\]{}:][,;\t][^\[\]{}:]*""")


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises BadInput where it is missing, a folder, or cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder; name a file.") from None
    except OSError as problem:
        raise BadInput(f"{path}: cannot be read ({problem}).") from None


def decode(path: Path, data: bytes) -> str:
    """The text of these bytes of the file, without a byte order mark, which editors and spreadsheets put in front.

    Raises BadInput where they are not UTF-8, naming what they are.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        other = next((what for start, what in _OTHERS.items() if data.startswith(start)), str(problem))
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({other}).") from None


def read_body(path: Path) -> str:
    """The file's text, as in `decode`. Raises BadInput where it is missing, a folder, or not UTF-8."""
    return decode(path, read_bytes(path)).replace("\r\n", "\n").replace("\r", "\n")


def lines_of(path: Path) -> list[tuple[str, str]]:
    """(location, line) for every line that is not blank; errors as in `read_body`."""
    lines = read_body(path).split("\n")
    return [(f"{path}, line {i}", line) for i, line in enumerate(lines, 1) if line.strip()]


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """(location, value) for every line that is not blank. Raises BadInput naming a line that is not JSON."""
    for where, line in lines_of(path):
        yield where, parse_line(line, where)


def parse_json(path: Path, text: str, **how: Any) -> Any:
    """The value of the file's JSON text; `how` is passed to `json.loads`. Raises BadInput naming the line and what the
    text is instead.
    """
    if not text.strip():
        raise BadInput(f"{path}: is empty.")
    try:
        return json.loads(text, **how)
    except json.JSONDecodeError as problem:
        at = f"{path}, line {problem.lineno}, column {problem.colno}"
        lines = [line for line in text.split("\n") if line.strip()]
        many = len(lines) > 1 and all(map(_is_json, lines[:2]))
        instead = " It holds JSON lines; name it .jsonl." if many else _instead(text)
        raise BadInput(f"{at}: not JSON ({problem.msg}).{instead}") from None
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{path}: not JSON ({problem}).") from None


def parse_line(line: str, where: str, **how: Any) -> Any:
    """The value of one JSON line. Raises BadInput naming the line and what it is instead."""
    try:
        return json.loads(line, **how)
    except (ValueError, RecursionError) as problem:
        said = f"{problem.msg}, column {problem.colno}" if isinstance(problem, json.JSONDecodeError) else str(problem)
        instead = " Write one object a line, without a list around them." if line.strip() == "[" else _instead(line)
        raise BadInput(f"{where}: not JSON ({said}).{instead}") from None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _instead(text: str) -> str:
    """What a text that is not JSON seems to be, judged by its first line."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    if first.startswith("version https://git-lfs"):
        return " It is a pointer of git LFS instead of the content: run `git lfs pull` in its repository."
    return " It looks like CSV, and JSON is wanted." if _CELLS.fullmatch(first) else ""


def json_object(path: Path, of: str = "") -> dict[str, Any]:
    """The JSON object of a file; `of` describes its content in messages. Raises BadInput for other content and repeated
    keys.
    """
    data = parse_json(path, read_body(path), object_pairs_hook=_reject_duplicate_keys)
    if not isinstance(data, dict):
        raise BadInput(f"{path}: must be one JSON object{of and f' of {of}'}.")
    return data


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        raise ValueError(f"{repeated[0]!r:.60} is repeated in one object")
    return unique


# ---- visible text ----------------------------------------------------------------------------------


UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me"})
"""Unicode categories without a glyph of their own: control, format, separator, and marks on another character."""
FILLERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters of other categories that are drawn as a blank, such as the Hangul filler and the empty Braille cell."""


def is_visible(text: str) -> bool:
    """Whether the text has a character that is drawn."""
    return any(c not in FILLERS and unicodedata.category(c) not in UNSEEN for c in text)


def missing(value: object) -> str:
    """Why a value is no visible text ("empty", "invisible: U+200B", its repr); an empty string where it is one."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return "empty"
    if not isinstance(value, str):
        return repr(value)
    if is_visible(value):
        return ""
    points = dict.fromkeys(f"U+{ord(c):04X}" for c in value if not c.isspace())
    return f"invisible: {', '.join(list(points)[:3])}"


def check_text(value: object, where: str) -> str:
    """The value if it is a visible text; otherwise BadInput, which begins with `where` (place and field)."""
    if why := missing(value):
        raise BadInput(f"{where} is {why}; it must be text.")
    return str(value)


def as_seen(text: str) -> str:
    """A text normalized to compare what a reader sees: NFKC, casefolded, without invisible characters."""
    marks = (c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf")
    return " ".join("".join(marks).split())


def cut_at(text: str, stops: tuple[str, ...]) -> str:
    """The text before the first stop sequence."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text


# ---- CSV -------------------------------------------------------------------------------------------


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


def read_csv(path: Path, columns: Sequence[str], delimiter: str = ",", quoted: bool = True) -> CsvRows:
    """The rows of a UTF-8 file with a header that has at least `columns`.

    quoted: whether quotation marks around a cell belong to the format; else they are part of its text.
    Raises BadInput for a file that cannot be read, missing or repeated columns, a row of another
    length than the header (naming its line), and a file without rows.
    """
    data = read_bytes(path)
    text = io.StringIO(decode(path, data), newline="")
    reader = csv.reader(text, strict=True, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    header: list[str] = []
    last = 0
    try:
        for cells in reader:
            start, last = last + 1, reader.line_num
            if not header:
                header = _csv_header(path, cells, columns)
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


def read_tsv(path: Path, columns: Sequence[str]) -> CsvRows:
    """As `read_csv`, with tabs between the cells.

    Quotation marks are text, as many programs write them into such files, but for those around a cell with doubled ones
    inside or none, which other programs write.
    """
    table = read_csv(path, columns, "\t", quoted=False)
    rows = [{name: _unquoted(cell) for name, cell in row.items()} for row in table.rows]
    return replace(table, rows=rows)


def _unquoted(cell: str) -> str:
    match = _QUOTED.fullmatch(cell)
    return match[1].replace('""', '"') if match else cell


def _csv_header(path: Path, cells: list[str], columns: Sequence[str]) -> list[str]:
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
