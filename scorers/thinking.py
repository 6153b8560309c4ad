"""What a reasoning model said, without what it thought."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)


def without_thinking(reply: str) -> str | None:
    """`reply` without its <think>...</think> passages; None when the last one never closes.

    None means that the model was cut off while thinking and has said nothing yet. A closing tag
    without an opening one ends a thought that began in the prompt (chat templates of several
    reasoning models put the opening tag there): everything before it is dropped.
    """
    said: list[str] = []
    inside, start = False, 0
    for tag in _TAG.finditer(reply):
        closes = bool(tag[1])
        if closes and not inside:
            said.clear()
        elif not inside:
            said.append(reply[start : tag.start()])
        inside, start = not closes, tag.end()
    if inside:
        return None
    said.append(reply[start:])
    return "\n".join(said)
