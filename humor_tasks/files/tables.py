"""Tables and estimates as text: Markdown and CSV, in which names are escaped, and JSON. Values of the cells as text."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # every writer of files imports this module, also without numpy
    from humor_tasks.scorers.estimate import Estimate

MOST_SHOWN = 100
"""Characters of a system's name in a table."""
_MARKUP = r"[\\`*_<>|$~&]"
_ESCAPED = re.compile(rf"\\({_MARKUP})")
_BAR = re.compile(r"(?<!\\)\|")
# What makes a cell of a CSV file a formula for a spreadsheet (OWASP, "CSV Injection"); a lone hyphen is none.
_FORMULA = re.compile("'*(?!-\\Z)[=+\\-@\t\r\n＝＋－＠]")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, aligned."""
    return aligned([[safe(str(cell)) for cell in row] for row in (head, *rows)])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of cells that are already escaped, the head first, with columns of equal width."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        return f"| {' | '.join(cells)} |"

    return "\n".join([line(rows[0]), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows[1:])])


def unescaped(markdown: str) -> str:
    """Markdown with its escapes removed and its tables aligned again."""
    parts: list[str] = []
    for in_table, lines in groupby(markdown.split("\n"), key=lambda line: line.startswith("|")):
        if not in_table:
            parts += map(_bare, lines)
            continue
        head, _, *rows = lines
        parts.append(aligned([[_bare(cell.strip()) for cell in _BAR.split(line)[1:-1]] for line in (head, *rows)]))
    return "\n".join(parts)


def _bare(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


# ---- cells --------------------------------------------------------------------------------------


def interval(e: Estimate | None, digits: int = 3, times: float = 1) -> str:
    """ "0.644 [0.551, 0.737]"; without an unknown interval, and "-" for an unknown value."""
    if e is None or math.isnan(e.value):
        return "-"
    value, low, high = (f"{times * x:.{digits}f}" for x in (e.value, e.low, e.high))
    return value if math.isnan(e.low) else f"{value} [{low}, {high}]"


def percent(e: Estimate | None) -> str:
    """ "84.7"; "-" for an unknown value."""
    return "-" if e is None or math.isnan(e.value) else f"{100 * e.value:.1f}"


def short(name: str) -> str:
    """A system's name as far as a table has room; tables in JSON and CSV have all of it."""
    return name if len(name) <= MOST_SHOWN else f"{name[: MOST_SHOWN - 1]}…"


def safe(text: str) -> str:
    """`text` on one line with Markdown escaped, without invisible characters: control, bidi and other format ones."""
    seen = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))
    return re.sub(rf"({_MARKUP})", r"\\\1", " ".join(seen.split()))


# ---- CSV and JSON -------------------------------------------------------------------------------


def csv_text(names: Sequence[str], rows: Iterable[Iterable[Any]], exact: bool = False) -> str:
    """The text of a CSV file with a header, in which a spreadsheet finds no formula.

    A text that a spreadsheet would run, such as =1+1, gets an apostrophe in front, which `cell_text` takes away. So
    does a text that begins with apostrophes and then such a character. Numbers stay numbers. With `exact`, for files
    that another program reads, every cell stays as it is. A NUL character, which ends a text in many programs, becomes
    U+FFFD.
    """
    lines: list[str] = []
    for row in chain((names,), rows):
        line = io.StringIO(newline="")
        # The writer's own \r\n: else Python before 3.13 writes a text's \r without quotes.
        csv.writer(line).writerow(row if exact else map(_inert, row))
        lines.append(line.getvalue().removesuffix("\r\n").replace("\0", "\ufffd"))
    return "".join(f"{line}\n" for line in lines)


def _inert(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def cell_text(cell: str) -> str:
    """The text of a cell of `csv_text`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def json_text(data: Any) -> str:
    """Data as the text of an indented JSON file, in which `plain` has converted what JSON does not have."""
    return json.dumps(to_json(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_json(value: Any) -> Any:
    """Convert to JSON types: dataclasses become objects, and numbers that are not finite become None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
