"""The text between <explanation> and </explanation>, as HumorBench asks for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .answer import Status
from .refusal import is_refusal
from .thinking import without_thinking

# A fence alone on the first or the last line; in the text it is part of what was said.
_FENCES = re.compile(r"\A(?:`{3,6}|~~~)[\w+-]{0,20}[ \t]{0,8}(?:\n|\Z)|(?m:^)[ \t]{0,8}(?:`{3,6}|~~~)\Z")


@dataclass(frozen=True)
class Tagged:
    """The text to score and how it was come by.

    `status` is "answered"; "refused" (the text is the refusal); "empty" (nothing said) or "unparsed"
    (cut off while thinking), both with an empty text. `tagged` says that a complete element held it.
    """

    text: str
    status: Status
    tagged: bool


def read_tagged(reply: str, tag: str = "explanation") -> Tagged:
    """The content of the last complete <tag>...</tag> in `reply` that has any, with whitespace collapsed.

    The last one, because a model that drafts and revises means what it wrote last; of nested opening
    tags the innermost counts. Without such an element: the text behind the last opening tag that has
    any (a reply cut off, or a slash forgotten). Without an opening tag: the whole reply. Thinking is
    left out, and so are the lines of a code fence around the text. Tags may be in any case, with
    spaces and attributes; HTML-escaped ones are text. Time is linear in the reply.
    """
    said = without_thinking(reply)
    if said is None:
        return Tagged("", "unparsed", False)
    complete, cut_off, opened = _contents(said, tag)
    if not opened:  # a closing tag alone may end what the prompt has begun
        complete, cut_off = "", _clean(_tags(tag).sub(" ", said))
    text = complete or cut_off
    if not text:
        return Tagged("", "empty", False)
    return Tagged(text, "refused" if is_refusal(text) else "answered", bool(complete))


def count_words(text: str) -> int:
    """How many words `text` has: what stands between whitespace and holds a letter or a digit."""
    return sum(any(map(str.isalnum, token)) for token in text.split())


def _contents(said: str, tag: str) -> tuple[str, str, bool]:
    """The last content that is closed, the last that is not, and whether there is an opening tag at all."""
    complete, cut_off, opened = "", "", False
    start: int | None = None
    for found in _tags(tag).finditer(said):
        closes = bool(found[1])
        if start is not None and (text := _clean(said[start : found.start()])):
            complete, cut_off = (text, cut_off) if closes else (complete, text)
        opened = opened or not closes
        start = None if closes else found.end()
    if start is not None and (text := _clean(said[start:])):
        cut_off = text
    return complete, cut_off, opened


def _clean(part: str) -> str:
    return " ".join(_FENCES.sub("", part.strip()).split())


@lru_cache
def _tags(tag: str) -> re.Pattern[str]:
    """The opening and closing tags of that name; bounded, so that a "<" costs the same whatever follows."""
    return re.compile(rf"<\s{{0,4}}(/?)\s{{0,4}}{re.escape(tag)}(?:[\s/][^<>]{{0,200}})?>", re.IGNORECASE)
