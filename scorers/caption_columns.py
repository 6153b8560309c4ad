"""Captions as a column: of objects in JSON, or of a table in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

REASON = r"(?:explanation|reason(?:ing)?|rationale|why)"
COMMENTED = re.compile(rf"\W*+(?:{REASON}|analysis|notes?)s?\b", re.IGNORECASE)
"""A name of comments, also as a heading: "Why these work:", "### Explanations"."""

_START = re.compile(r'(?:\[\s*+)?\{\s*+"')
_TRIES = 1_000
"""Beginnings of objects that are tried, more than any list has; an error counts the lines from the text's start."""
_NUMBERED_KEY = re.compile(r"(?P<named>caption)?[ _#]*+(?P<number>\d{1,3}+)", re.IGNORECASE)
_RULE = re.compile(r"[ \t>]*+(?=[^|]*+\|)\|?+(?>(?:[ \t]*+:?-++:?[ \t]*+(?:\||\Z))+)[ \t]*+")
_CELL_ENDS = re.compile(r"(?<!\\)\|")


class Column(NamedTuple):
    """Captions of one column: the line that it begins on, whether it is named as one of captions, and the texts.

    There are no texts where it cannot be told which column has the captions.
    """

    line: int
    named: bool
    texts: list[str]


def without_columns(text: str) -> tuple[list[Column], str]:
    """The columns of captions in a reply, and the reply with blanks in the place of their objects and tables.

    Captions are the texts named "caption" or "captions" in any case. Without that name they are the only texts with
    letters, if these are not named as comments. A list of objects, an object with such a list or with numbered keys,
    objects with that name one after another, and tables with a line |---| below their head are read. Time is linear in
    the text.
    """
    columns, text = _in_json(text)
    tables, lines = _in_tables(text.split("\n"))
    return columns + tables, "\n".join(lines)


def _column(line: int, columns: Sequence[tuple[str, Sequence[Any]]]) -> Column:
    texts = [(name, cells) for name, cells in columns if any(map(_has_letters, cells))]
    named = [(name, cells) for name, cells in texts if _is_named(name)]
    chosen = named or texts
    if len(chosen) == 1:
        [(name, cells)] = chosen
        if all(isinstance(cell, str) for cell in cells) and not COMMENTED.match(name):
            return Column(line, bool(named), list(cells))
    return Column(line, False, [])


def _has_letters(cell: Any) -> bool:
    return isinstance(cell, str) and any(map(str.isalpha, cell))


def _is_named(name: str) -> bool:
    return name.strip(" \t*_`:").lower() in ("caption", "captions")


# ---- JSON ---------------------------------------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    """An object; None where a key is repeated, because one value would be lost."""
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else None


# float(), because Python refuses to convert very long ints.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=float)


def _in_json(text: str) -> tuple[list[Column], str]:
    columns: list[Column] = []
    single: list[tuple[int, dict[str, Any]]] = []
    rest: list[str] = []
    at, line = 0, 0
    for _ in range(_TRIES):
        start = _START.search(text, at)
        if start is None:
            break
        begin = start.start()
        rest.append(text[at:begin])
        line += text.count("\n", at, begin)
        try:
            value, at = _DECODER.raw_decode(text, begin)
        except RecursionError:
            at = begin
            break
        except json.JSONDecodeError as error:
            value, at = None, max(error.pos, begin + 1)
        column = _of_list(line, value) if isinstance(value, list) else None
        if isinstance(value, dict):
            column = _of_object(line, value)
            if column is None and any(_is_named(name) and isinstance(text, str) for name, text in value.items()):
                single.append((line, value))
                column = Column(line, False, [])
        rest.append(text[begin:at] if column is None else re.sub(r"[^\n]", " ", text[begin:at]))
        line += text.count("\n", begin, at)
        columns += [column] if column and column.texts else []
    if single:
        columns.append(_of_objects(single[0][0], [fields for _, fields in single]))
    return columns, "".join(rest) + text[at:]


def _of_object(line: int, fields: Mapping[str, Any]) -> Column | None:
    """The captions of an object with a list or with numbered keys; None for any other."""
    lists = [name for name, value in fields.items() if isinstance(value, list)]
    chosen = [name for name in lists if _is_named(name)] or [name for name in lists if not COMMENTED.match(name)]
    if len(chosen) == 1:
        [name] = chosen
        column = _of_list(line, fields[name])
        if column is None and all(isinstance(text, str) for text in fields[name]):
            column = Column(line, False, fields[name])
        return column and column._replace(named=column.named or _is_named(name))
    if lists:
        return None if chosen else Column(line, False, [])
    keys = [_NUMBERED_KEY.fullmatch(name) for name in fields]
    if fields and all(key and int(key["number"]) == i for i, key in enumerate(keys, 1)):
        values = list(fields.values())
        named = all(key and key["named"] for key in keys)
        return _of_list(line, values) or _column(line, [("caption" if named else "", values)])
    return None


def _of_list(line: int, values: Sequence[Any]) -> Column | None:
    """The captions of a list of objects; None for any other list."""
    if any(isinstance(value, dict) for value in values):
        return _of_objects(line, values)
    return None


def _of_objects(line: int, values: Sequence[Any]) -> Column:
    rows = [value for value in values if isinstance(value, dict)]
    names = dict.fromkeys(name for row in rows for name in row)
    if len(rows) < len(values):
        return Column(line, False, [])
    return _column(line, [(name, [row.get(name) for row in rows]) for name in names])


# ---- tables -------------------------------------------------------------------------------------


def _in_tables(lines: list[str]) -> tuple[list[Column], list[str]]:
    columns: list[Column] = []
    rest: list[str] = []
    i = 0
    while i < len(lines):
        if i + 1 < len(lines) and "|" in lines[i] and _RULE.fullmatch(lines[i + 1]):
            end = next((j for j in range(i + 2, len(lines)) if "|" not in lines[j]), len(lines))
            columns.append(_table(i, [_cells(line) for line in (lines[i], *lines[i + 2 : end])]))
            rest += [""] * (end - i)
            i = end
        else:
            rest.append(lines[i])
            i += 1
    return [column for column in columns if column.texts], rest


def _table(line: int, rows: Sequence[Sequence[str]]) -> Column:
    if len(set(map(len, rows))) > 1:  # a caption with "|" that is not escaped
        return Column(line, False, [])
    return _column(line, [(name, cells) for name, *cells in zip(*rows, strict=True)])


def _cells(line: str) -> list[str]:
    """The cells of a row, with "\\\\|" as a bar."""
    row = line.strip(" \t>")
    row = row.removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    return [cell.replace("\\|", "|").strip() for cell in _CELL_ENDS.split(row)]
