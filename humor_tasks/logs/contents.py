"""The text of a reply whose server answers in parts, as with thinking apart from the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXTS = {"text": "text", "output_text": "text", "refusal": "refusal"}
"""Type of a part -> its key with a text to read. Parts of other types, such as thinking, have none."""


def in_parts(content: Any) -> bool:
    """Whether this is a content in parts."""
    return isinstance(content, list) and any(isinstance(part, Mapping) for part in content)


def reply_text(content: Any) -> str:
    """The text of a reply's content: a text, or the texts among its parts, joined by line breaks as in Inspect.

    Any other content, such as none or a number, has no text: it is an empty reply.
    """
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part if isinstance(part, str) else _text(part) for part in parts)
    return "\n".join(text for text in texts if text)


def _text(part: Any) -> str:
    kind = part.get("type", "text") if isinstance(part, Mapping) else None
    text = part.get(TEXTS[kind]) if isinstance(kind, str) and kind in TEXTS else None
    return text if isinstance(text, str) else ""
