"""The text of a caption as entered: what is mended, and what makes an entry unusable."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from humor_tasks.files.writing import LONE
from humor_tasks.scorers.caption_text import key_of as key_of
from humor_tasks.scorers.caption_text import without_quotes as without_quotes

LONGEST = 500
"""Characters of the longest caption that is kept; the contest's form accepts 250."""
NEAR_EMPTY = 2
"""An entry with at most this many letters and digits is no caption."""
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
# Seven digits with a separator, or ten with or without an area code in parentheses.
_PHONE = re.compile(r"(?<![\w$#])(?:\+?1[-. ])?(?:\(\d{3}\) ?|\d{3} ?[-./ ] ?)?\d{3} ?[-. ] ?\d{4}(?!\w)")


class Mended(NamedTuple):
    """A caption; the kinds of mending, "quotes" among them; and why it is dropped, "" where it is kept."""

    text: str
    mended: tuple[str, ...]
    dropped: str


def mend(entry: str) -> Mended:
    """One entry of a contest as a caption.

    Mended are wrong decodings (by ftfy), control characters, white space and outer quotation marks. Dropped are entries
    with an e-mail address or a phone number, undecodable and near-empty ones, and those longer than LONGEST.
    """
    if len(entry) > 20 * LONGEST:
        return Mended("", (), "too long")
    mended = []
    text = entry
    if not text.isascii():
        decoded = _decoded(text)
        if decoded != text:
            mended.append("mojibake")
            text = decoded
    clean = " ".join(text.split())
    if not clean.isprintable():
        printed = " ".join("".join(" " if c.isspace() else c for c in clean if _is_text(c)).split())
        if printed.replace(" ", "") != clean.replace(" ", ""):
            mended.append("control characters")
        clean = printed
    bare = without_quotes(clean)
    if bare != clean:
        mended.append("quotes")
    return Mended(bare, tuple(mended), _unusable(bare, entry))


def _decoded(text: str) -> str:
    import ftfy

    return ftfy.fix_encoding(text)


def _is_text(c: str) -> bool:
    return unicodedata.category(c) not in ("Cc", "Cs", "Cf", "Co", "Cn") or c == "\u200d"


def _unusable(text: str, entry: str) -> str:
    if "�" in text or LONE.search(entry):
        return "undecodable"
    if _EMAIL.search(text) or _PHONE.search(text):
        return "personal data"
    if len(text) > LONGEST:
        return "too long"
    return "near-empty" if len(key_of(text)) <= NEAR_EMPTY and not _is_word(text) else ""


def _is_word(text: str) -> bool:
    """Whether a short text is a word ("Ow!", "No.", "死") and no stray key."""
    letters = key_of(text)
    return len(set(letters)) > 1 or (bool(letters) and not letters.isascii())
