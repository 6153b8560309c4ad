"""Reading of text files, JSON and JSON lines, with the location of each line and what a file is instead."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput

LINE_END = re.compile(r"\r\n|\r|\n")
_SAVE = "save it as UTF-8 (Excel: CSV UTF-8), or convert it: iconv -t UTF-8 -f"
# First bytes of files that are no text -> what they are, and the remedy.
_OTHERS = {
    b"\xff\xfe\0\0": f"it is UTF-32; {_SAVE} UTF-32",
    b"\xff\xfe": f"it is UTF-16; {_SAVE} UTF-16",
    b"\xfe\xff": f"it is UTF-16; {_SAVE} UTF-16",
    b"+/v8": f"it is UTF-7; {_SAVE} UTF-7",
    b"\x1f\x8b": "it is compressed with gzip; unpack it",
    b"PK\x03\x04": "it is a zip archive, as spreadsheets and .eval logs are; save it as text",
    b"\xd0\xcf\x11\xe0": "it is a file of an old office program, such as .xls; save it as text",
    b"%PDF-": "it is a PDF file",
    b"PAR1": "it is a parquet file",
}
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


def decode(path: Path, data: bytes, first: int = 1) -> str:
    """The text of these bytes of the file, without a byte order mark, which editors and spreadsheets put in front.
    `first` is the number of their first line.

    Raises BadInput where they are not UTF-8, naming what they are, and line and column of a character that is not.
    """
    other = next((what for start, what in _OTHERS.items() if data.startswith(start)), "")
    if other and not (data[:4].isalnum() and b"\0" not in data):  # a text may begin with PAR1
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({other}).")
    try:
        text = data.decode("utf-8-sig").lstrip("\ufeff")
    except UnicodeDecodeError as problem:
        before, why = _not_utf8(data, problem)
        raise BadInput(f"{path}{_place(before, first)}: cannot be read as UTF-8 text ({why}).") from None
    if (nul := text.find("\0")) >= 0:
        why = _with_nul(data) or "remove it"
        raise BadInput(f"{path}{_place(text[:nul], first)}: has a NUL character, which no text has ({why}).")
    if shift := _JAPANESE.search(text):
        why = f"it is ISO-2022-JP; {_SAVE} ISO-2022-JP"
        raise BadInput(f"{path}{_place(text[: shift.start()], first)}: cannot be read as UTF-8 text ({why}).")
    return text


_JAPANESE = re.compile(r"\x1b\$[@B]")
"""The escape sequences by which Japanese characters begin in ISO-2022-JP, whose bytes are all ASCII."""


def _with_nul(data: bytes) -> str:
    """Which encoding bytes without a byte order mark are in, judged by the places of their NULs; "" for none."""
    share = data.count(0) / len(data)
    if share <= 1 / 4:
        return ""
    first = data.find(0)
    name, begins = ("UTF-32", first < 3 and data[:3] == b"\0\0\0") if share > 1 / 2 else ("UTF-16", first % 2 == 0)
    return f"it is {name}; {_SAVE} {name}{'BE' if begins else 'LE'}"


def _place(before: str, first: int) -> str:
    """Line and column of what follows this text, which begins in line `first`."""
    lines = LINE_END.split(before)
    return f", line {first + len(lines) - 1}, column {len(lines[-1]) + 1}"


_FOREIGN = 0.3
"""Above this share of bytes beyond ASCII a text is not in a Western encoding."""
_RUNS = re.compile(rb"[\x80-\xff]{3,}")
"""Nor is it where most such bytes stand in runs, as in Shift-JIS and GBK: letters with accents stand among others."""


def _not_utf8(data: bytes, problem: UnicodeDecodeError) -> tuple[str, str]:
    """The text before the first byte that is not UTF-8, and which encoding fits."""
    before, after = data[: problem.start].decode("utf-8-sig"), data[problem.end :]
    what = f"byte 0x{data[problem.start]:02X}"
    if not after and problem.reason == "unexpected end of data":
        return before, "the file ends within a character; it was cut off"
    if not before.isascii() or any(map(_is_utf8, re.findall(rb"[\x80-\xff]{2,}", after))):
        return before, f"{what}, and the rest is UTF-8: the character is damaged; correct it"
    if b"\0" in data:
        return before, f"{what} and NUL: {_with_nul(data) or 'it is UTF-16 or no text'}"
    codec, name = ("mac_roman", "MACINTOSH") if b"\r" in data and b"\n" not in data else ("cp1252", "CP1252")
    beyond = sum(byte > 127 for byte in data)
    foreign = beyond > _FOREIGN * len(data) or sum(map(len, _RUNS.findall(data))) > beyond / 2
    try:
        line = LINE_END.split(data.decode(codec)[problem.start :])[0]
    except UnicodeDecodeError:
        line = ""
    if not line or foreign:
        return before, f"{what}; {_SAVE} ENCODING"
    word = re.split(r'[\s,;"]', before)[-1] + re.split(r'[\s,;"]', line, maxsplit=1)[0]
    return before, f"{what}; in {name} it is {word[:40]!r}: {_SAVE} {name}"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


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
    text is instead, and for a key that is repeated in one object, unless `how` has a hook for objects.
    """
    if not text.strip():
        raise BadInput(f"{path}: is empty.")
    try:
        return json.loads(text, **{"object_pairs_hook": without_repeats} | how)
    except json.JSONDecodeError as problem:
        at = f"{path}, line {problem.lineno}, column {problem.colno}"
        lines = [line for line in text.split("\n") if line.strip()]
        many = len(lines) > 1 and all(map(_is_json, lines[:2]))
        instead = " It holds JSON lines; name it .jsonl." if many else _comma(problem) or _instead(text)
        raise BadInput(f"{at}: not JSON ({problem.msg}).{instead}") from None
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{path}: not JSON ({problem}).") from None


def parse_line(line: str, where: str, **how: Any) -> Any:
    """The value of one JSON line, as in `parse_json`. Raises BadInput naming the line and what it is instead."""
    try:
        return json.loads(line, **{"object_pairs_hook": without_repeats} | how)
    except (ValueError, RecursionError) as problem:
        said = f"{problem.msg}, column {problem.colno}" if isinstance(problem, json.JSONDecodeError) else str(problem)
        comma = _comma(problem) if isinstance(problem, json.JSONDecodeError) else ""
        listed = " Write one object a line, without a list around them." if line.strip() == "[" else ""
        instead = listed or comma or _instead(line)
        raise BadInput(f"{where}: not JSON ({said}).{instead}") from None


def _comma(problem: json.JSONDecodeError) -> str:
    """The remedy for a comma after the last entry of an object or list."""
    before, after = problem.doc[: problem.pos].rstrip()[-1:], problem.doc[problem.pos :].lstrip(", \r\n\t")[:1]
    is_last = after in ("}", "]") and "," in (before, problem.doc[problem.pos : problem.pos + 1])
    return " Remove the comma after the last entry." if is_last else ""


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
    data = parse_json(path, read_body(path))
    if not isinstance(data, dict):
        raise BadInput(f"{path}: must be one JSON object{of and f' of {of}'}.")
    return data


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs of JSON. Raises ValueError for a repeated key, of which `json` would keep the last."""
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
    if isinstance(value, str) and is_visible(value):
        return value
    raise BadInput(f"{where} is {missing(value)}; it must be text.")


def as_seen(text: str) -> str:
    """A text normalized to compare what a reader sees: NFKC, casefolded, without invisible characters."""
    marks = (c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf")
    return " ".join("".join(marks).split())


def words_in(text: str) -> str:
    """A text reduced to lower-case letters and digits, to compare lines."""
    return " ".join(re.findall(r"[^\W_]+", as_seen(text).replace("’", "").replace("'", "")))


def cut_at(text: str, stops: tuple[str, ...]) -> str:
    """The text before the first stop sequence."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text
