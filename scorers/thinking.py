"""Removal of a reasoning model's thinking from its reply."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)


def without_thinking(reply: str) -> str | None:
    """`reply` without its <think>...</think> passages; None where the last one is not closed.

    None means that the model was cut off while thinking, before any answer. A closing tag without an opening one ends
    thinking that began in the prompt (chat templates of several reasoning models put the opening tag there), so
    everything before it is dropped.
    """
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
