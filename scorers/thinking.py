"""Removal of a reasoning model's thinking from its reply: tags, and the channels of gpt-oss (OpenAI's Harmony format).

https://cookbook.openai.com/articles/openai-harmony
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
# Names of channels, as they are left where a reply was decoded without its special tokens.
_CHANNEL = re.compile(r"\s*+(?:assistant)?(?:analysis|commentary)(?P<joined>(?=[^\W\d_]|[\"'“‘]))?")
_SPECIAL = re.compile(r"\s*+(?:<\|start\|>assistant)?(?:<\|channel\|>|(?:analysis|commentary)<\|message\|>)")
_SPECIAL_FINAL = re.compile(r"<\|channel\|>final(?>(?:[^<\n]|<\|constrain\|>)*)<\|message\|>")
_SPECIAL_END = re.compile(r"<\|(?:return|end)\|>")
_FINAL = re.compile(r"assistantfinal(?: ?(?i:json)(?=\s*+[\[{]))?")


def without_thinking(reply: str) -> str | None:
    """`reply` without its <think>...</think> passages; None where the last one is not closed.

    None means that the model was cut off while thinking, before any answer. A closing tag without an opening one ends
    thinking that began in the prompt (chat templates of several reasoning models put the opening tag there), so
    everything before it is dropped.

    Of a reply in channels, "analysis...assistantfinal...", only the final message is kept. A reply has channels if it
    begins with the name of one and names the final one, or if the first name is joined to a text ("analysisThe user"),
    as no English word is. None where it has no final message, or where more than one may be meant. The same holds for
    channels that still have their special tokens, "<|channel|>final<|message|>".
    """
    if _SPECIAL.match(reply):
        parts = _SPECIAL_FINAL.split(reply)
        return _SPECIAL_END.split(parts[1])[0] if len(parts) == 2 else None
    channel = _CHANNEL.match(reply)
    if channel:
        parts = _FINAL.split(reply)
        if len(parts) == 2:
            return parts[1]
        if len(parts) > 2 or channel["joined"] is not None:
            return None
    visible: list[str] = []
    inside, start = False, 0
    for tag in _TAG.finditer(reply):
        closes = bool(tag[1])
        if closes and not inside:
            visible.clear()
        elif not inside:
            visible.append(reply[start : tag.start()])
        inside, start = not closes, tag.end()
    if inside:
        return None
    visible.append(reply[start:])
    return "\n".join(visible)


def begun_in_prompt(reply: str) -> str:
    """The text before the last </think> that has no opening tag; empty where there is none. See `without_thinking`."""
    inside, end = False, 0
    for tag in _TAG.finditer(reply):
        closes = bool(tag[1])
        if closes and not inside:
            end = tag.start()
        inside = not closes
    return reply[:end]
