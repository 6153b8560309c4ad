"""A caption's text without what is no part of the caption: its key for comparison, its outer quotation marks."""

from __future__ import annotations

import unicodedata

_DOUBLE = '"“”„«»'
_CLOSED = {'"': '"', "“": "”", "„": "“”", "«": "»", "‘": "’"}


def key_of(text: str) -> str:
    """A caption reduced to its letters and digits, without case: captions with equal keys are duplicates."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def without_quotes(text: str) -> str:
    """The text without quotation marks around all of it, and without a single stray one at an end."""
    while len(text) > 1 and text[-1] in _CLOSED.get(text[0], "") and not _inside(text):
        text = text[1:-1].strip()
    if sum(text.count(mark) for mark in _DOUBLE) == 1 and text[:1] in _DOUBLE:
        return text[1:].strip()
    if sum(text.count(mark) for mark in _DOUBLE) == 1 and text[-1:] in _DOUBLE:
        return text[:-1].strip()
    return text


def _inside(text: str) -> bool:
    """Whether a quotation mark of the outer pair's kind is also inside."""
    marks = _DOUBLE if text[0] in _DOUBLE else text[0]
    return any(mark in text[1:-1] for mark in marks)
