"""What a stand-in replies: always the same, one reply after another, or by a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any


class Flag(Enum):
    """Replies that are no text."""

    REFUSED = "refused"


REFUSED = Flag.REFUSED
"""A reply that the provider flags as a refusal (stop reason `content_filter`) and that holds no text."""


def by_rule(script: Any) -> Callable[..., Any]:
    """A script as a function of what is asked.

    A function is taken as it is. A list, a tuple or an iterator gives one reply a request, in the order of the
    requests, and fails when it is over. Anything else is the reply to every request. An exception that is a reply
    is raised.
    """
    reply = script if callable(script) else _in_sequence(iter(script)) if _is_sequence(script) else lambda *_: script

    def answer(*asked: Any) -> Any:
        said = reply(*asked)
        if isinstance(said, BaseException):
            raise said
        return said

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
        raise IndexError(f"The script is over: it holds {given} replies, and one more was asked for.")

    return following
