"""Whether a reader sees a text: one of white space and invisible characters is as good as empty. Stop sequences."""

from __future__ import annotations

import unicodedata

from humor_tasks.errors import BadInput

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


def cut_at(text: str, stops: tuple[str, ...]) -> str:
    """The text before the first stop sequence."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text


def as_seen(text: str) -> str:
    """A text normalized to compare what a reader sees: NFKC, casefolded, without invisible characters."""
    marks = (c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf")
    return " ".join("".join(marks).split())
