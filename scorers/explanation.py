"""The explanation inside a reply that may reason first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .answer import Status
from .refusal import is_refusal
from .thinking import without_thinking

# Exact and anywhere in the text as in the released rule; in any case, bold or as a heading at a line start.
_MARKER = re.compile(
    r"[Ee]xplanation[*_]{0,3}:"
    r"|(?m:^)[ \t]{0,8}[*_#>]{0,6}[ \t]{0,3}(?i:explanation)[*_]{0,3}[ \t]{0,2}[:：]"
)


@dataclass(frozen=True)
class Explanation:
    """The text to score and how it was come by.

    `status` is "answered"; "refused" (the text is the refusal, which the released code would score);
    "empty" (nothing said) or "unparsed" (cut off while thinking), both with an empty text.
    """

    text: str
    status: Status


def read_explanation(reply: str) -> Explanation:
    """The text behind the first "Explanation:" marker that has any; otherwise the whole reply.

    As released with Hessel et al. 2023, with whitespace collapsed. Beyond it: thinking is left out, a
    repeated marker ends the text, and markers may be bold, headings or in any case at a line start,
    whose markup is dropped. Time is linear in the reply.
    """
    said = without_thinking(reply)
    if said is None:
        return Explanation("", "unparsed")
    before, *marked = _MARKER.split(said)
    text = next((cleaned for part in marked if (cleaned := _clean(part))), "") if marked else " ".join(before.split())
    if not text:
        return Explanation("", "empty")
    return Explanation(text, "refused" if is_refusal(text) else "answered")


def _clean(part: str) -> str:
    """`part` without the markup that its own marker and the next one left at its ends."""
    text = " ".join(part.split())
    text = re.sub(r"\A[*_]{1,3}(?=\s|\Z)|\s[*_#>]{1,6}\Z", "", text).strip()
    return text[:-2].rstrip() if text.endswith("**") and text.count("**") % 2 else text
