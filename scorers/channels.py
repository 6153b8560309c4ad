"""The final message of a reply in the channels of gpt-oss (OpenAI's Harmony format).

https://cookbook.openai.com/articles/openai-harmony
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Names of channels, as they are left where a reply was decoded without its special tokens.
_CHANNEL = re.compile(r"\s*+(?:assistant)?(?:analysis|commentary)(?P<joined>(?=[^\W\d_]|[\"'“‘]))?")
_SPECIAL = re.compile(r"\s*+(?:<\|start\|>assistant)?(?:<\|channel\|>|(?:analysis|commentary)<\|message\|>)")
_SPECIAL_FINAL = re.compile(r"<\|channel\|>final(?>(?:[^<\n]|<\|constrain\|>)*)<\|message\|>")
_SPECIAL_END = re.compile(r"<\|(?:return|end)\|>|<\|start\|>")
_SPECIAL_OTHER = re.compile(r"<\|return\|>|<\|start\|>(?!assistant)")
_FINAL = re.compile(r"assistantfinal(?: ?(?i:json)(?=\s*+[\[{]))?")
# Behind the final message: the channels of another turn, and the role of the user's turn before it.
_AGAIN = re.compile(r"assistant(?:analysis|commentary)(?=[^\W\d_]|[\"'“‘<])")
_USER = re.compile(r"user(?=[A-Z\"“\n<])")
_USER_ALONE = re.compile(r"(?<=[A-Z0-9.!?)\"'”’*])user(?=[A-Z\n])")


class Channel(NamedTuple):
    """The final message, None where there is none or several may be meant, and the offsets where it begins and ends."""

    text: str | None
    start: int
    end: int


def final_channel(reply: str) -> Channel | None:
    """The final message of `reply`, "analysis...assistantfinal..."; None for a reply without channels.

    A reply has channels if it begins with the name of one and names the final one, or if the first name is joined to a
    text ("analysisThe user"), as no English word is. The same holds for channels that still have their special tokens,
    "<|channel|>final<|message|>". The first final message counts where another turn follows it; otherwise there must be
    only one.
    """
    if _SPECIAL.match(reply):
        return _with_tokens(reply)
    channel = _CHANNEL.match(reply)
    if channel is None:
        return None
    finals = list(_FINAL.finditer(reply))
    if not finals:
        return Channel(None, 0, len(reply)) if channel["joined"] is not None else None
    start = finals[0].end()
    end = _next_turn(reply, start)
    if len(finals) > 1 and end > finals[1].start():
        return Channel(None, 0, len(reply))
    return Channel(reply[start:end], start, end)


def _with_tokens(reply: str) -> Channel:
    other = _SPECIAL_OTHER.search(reply)
    last = other.start() if other else len(reply)
    finals = list(_SPECIAL_FINAL.finditer(reply, 0, last))
    if not finals:
        return Channel(None, 0, last)
    start = finals[0].end()
    ends = _SPECIAL_END.search(reply, start)
    end = ends.start() if ends else len(reply)
    if len(finals) > 1 and end > finals[1].start():
        return Channel(None, 0, len(reply))
    return Channel(reply[start:end], start, end)


def _next_turn(reply: str, start: int) -> int:
    """The offset of the user's turn behind a final message, or else of the model's next one; the end without any."""
    again = _AGAIN.search(reply, start)
    user = _USER.search(reply, start, again.start()) if again else _USER_ALONE.search(reply, start)
    found = user or again
    return found.start() if found else len(reply)
