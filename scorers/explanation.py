"""Extraction of the explanation from a reply that may reason first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .answer import Status
from .markers import is_named
from .own_turn import own_turn, unwrapped
from .refusal import is_refusal

# "Explanation:" anywhere, as in the released rule; at the start of a line also in any case, bold or as a heading.
_MARKER = re.compile(
    r"[Ee]xplanation[*_]{0,3}:(?:[ ](?=[\"'`”’]))?"
    r"|(?m:^)[ \t]{0,8}[*_#>]{0,6}[ \t]{0,3}(?i:explanation)[*_]{0,3}[ \t]{0,2}[:：]"
)


@dataclass(frozen=True)
class Explanation:
    """The text to score and the status of its extraction.

    `status` is "answered"; "refused" (the text is the refusal, which the released code would score); "empty" (no text);
    or "unparsed" (cut off while thinking). The text is empty for the last two.
    """

    text: str
    status: Status


def read_explanation(reply: str) -> Explanation:
    """The text after the first "Explanation:" marker that is followed by text; without such a marker, the whole reply.

    This is the rule released with Hessel et al. 2023, with whitespace collapsed. In addition, only the model's own turn
    counts, without thinking (`own_turn`) and without a tag around all of it, such as <answer>. A marker alone in
    quotation marks is named, and is text: 'I will finish with "Explanation: ".' A repeated marker ends the text.
    Markers at the start of a line may be bold, headings or in any case, with their markup removed. Time is linear in
    the reply.
    """
    visible = own_turn(reply, explains=True).text
    if visible is None:
        return Explanation("", "unparsed")
    before, *marked = _parts(unwrapped(visible))
    text = next((cleaned for part in marked if (cleaned := _clean(part))), "") if marked else " ".join(before.split())
    if not text:
        return Explanation("", "empty")
    return Explanation(text, "refused" if is_refusal(text) else "answered")


def _parts(text: str) -> list[str]:
    """The text before the first marker, and the text behind each."""
    starts, ends = [], [0]
    for marker in _MARKER.finditer(text):
        if not is_named(text, marker):
            starts.append(marker.start())
            ends.append(marker.end())
    return [text[end:start] for end, start in zip(ends, [*starts, len(text)], strict=True)]


def _clean(part: str) -> str:
    """`part` without the markup that its own marker and the next one leave at its ends."""
    text = " ".join(part.split())
    text = re.sub(r"\A[*_]{1,3}(?=\s|\Z)|\s[*_#>]{1,6}\Z", "", text).strip()
    return text[:-2].rstrip() if text.endswith("**") and text.count("**") % 2 else text
