"""Texts of runs as the page shows them: whole where they fit, and with nothing that the eye cannot see."""

from __future__ import annotations

import html
import re

# Control characters but tab and line feed, bidirectional and other invisible format characters, and halves of surrogate
# pairs, which UTF-8 does not have. The joiners U+200C and U+200D stay: scripts and emoji are written with them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with each invisible character as its code, such as ‹U+202E›, so that it can neither hide nor reorder."""
    return _UNSEEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", text.replace("\r\n", "\n"))


def cut(text: str, most: int) -> str:
    """At most `most` characters of a text; where it is longer, its end is replaced by its length."""
    return text if len(text) <= most else f"{text[:most]}… [cut here; {len(text):,} characters in all]"


def shown(text: object, most: int = 2000) -> str:
    """Any text as HTML."""
    return html.escape(visible(cut(str(text), most)))
