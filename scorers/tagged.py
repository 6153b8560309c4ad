"""Extraction of the text between <explanation> and </explanation>, the format that HumorBench requests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .answer import Status
from .own_turn import own_turn, unwrapped
from .refusal import is_refusal

# A code fence alone on the first or the last line; a fence within the text is kept.
_FENCES = re.compile(r"\A(?:`{3,6}|~~~)[\w+-]{0,20}[ \t]{0,8}(?:\n|\Z)|(?m:^)[ \t]{0,8}(?:`{3,6}|~~~)\Z")


@dataclass(frozen=True)
class Tagged:
    """The text to score and the status of its extraction.

    `status` is "answered"; "refused" (the text is the refusal); "empty" (no text); or "unparsed" (cut off while
    thinking). The text is empty for the last two. `tagged` is True where the text came from a complete element.
    """

    text: str
    status: Status
    tagged: bool


def read_tagged(reply: str, tag: str = "explanation") -> Tagged:
    """The content of the last complete, non-empty <tag>...</tag> in `reply`, with whitespace collapsed.

    The last one counts, because a model that drafts and revises means its last version; of nested opening tags the
    innermost counts. Without such an element: the text after the last opening tag that is followed by text (a reply cut
    off, or a missing slash). Without an opening tag: the whole reply. Only the model's own turn counts, without
    thinking (`own_turn`); the lines of a code fence around the text are removed. Tags may be in any case, with spaces
    and attributes; HTML-escaped tags are text. Time is linear in the reply.
    """
    visible = own_turn(reply, explains=True).text
    if visible is None:
        return Tagged("", "unparsed", False)
    complete, cut_off, opened = _contents(visible, tag)
    if not opened:  # the prompt may have opened the element
        complete, cut_off = "", _clean(_tags(tag).sub(" ", unwrapped(visible)))
    text = complete or cut_off
    if not text:
        return Tagged("", "empty", False)
    return Tagged(text, "refused" if is_refusal(text) else "answered", bool(complete))


def count_words(text: str) -> int:
    """The number of whitespace-separated tokens of `text` that contain a letter or a digit."""
    return sum(any(map(str.isalnum, token)) for token in text.split())


def _contents(visible: str, tag: str) -> tuple[str, str, bool]:
    """The last closed content, the last unclosed one, and whether there is an opening tag."""
    complete, cut_off, opened = "", "", False
    start: int | None = None
    for tag_match in _tags(tag).finditer(visible):
        closes = bool(tag_match[1])
        if start is not None and (text := _clean(visible[start : tag_match.start()])):
            complete, cut_off = (text, cut_off) if closes else (complete, text)
        opened = opened or not closes
        start = None if closes else tag_match.end()
    if start is not None and (text := _clean(visible[start:])):
        cut_off = text
    return complete, cut_off, opened


def _clean(part: str) -> str:
    return " ".join(_FENCES.sub("", part.strip()).split())


@lru_cache
def _tags(tag: str) -> re.Pattern[str]:
    """A pattern for opening and closing tags of that name; bounded, so that each "<" is matched in constant time."""
    return re.compile(rf"<\s{{0,4}}(/?)\s{{0,4}}{re.escape(tag)}(?:[\s/][^<>]{{0,200}})?>", re.IGNORECASE)
