"""Scripts of replies: a constant, a sequence, or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any


class Flag(Enum):
    """Replies that are not text."""

    REFUSED = "refused"


REFUSED = Flag.REFUSED
"""A reply without text that the provider flags as a refusal (stop reason `content_filter`)."""


def by_rule(script: Any) -> Callable[..., Any]:
    """A script as a function of the request.

    A function is used as it is. A list, tuple or iterator gives one reply per request, in order, and raises IndexError
    after the last one. Any other value is the reply to every request. A reply that is an exception is raised.
    """
    reply = script if callable(script) else _in_sequence(iter(script)) if _is_sequence(script) else lambda *_: script

    def answer(*asked: Any) -> Any:
        result = reply(*asked)
        if isinstance(result, BaseException):
            raise result
        return result

    return answer


def _is_sequence(script: Any) -> bool:
    return isinstance(script, list | tuple | Iterator)


def _in_sequence(replies: Iterator[Any]) -> Callable[..., Any]:
    given = 0

    def following(*asked: Any) -> Any:
        nonlocal given
        for reply in replies:
            given += 1
            return reply
        raise IndexError(f"The script has only {given} replies, but there was another request.")

    return following
