"""The length of replies of models that run in this process, the same in both harnesses. It imports no torch."""

from __future__ import annotations

from typing import NamedTuple


class ReplyLength(NamedTuple):
    """A benchmark's length of a reply in tokens; `prescribed`: whether its protocol sets it, also for short replies."""

    tokens: int
    prescribed: bool = False

    def limit(self, asked: int | None, own: int, chosen: bool) -> int:
        """The most tokens of a reply to a request with the limit `asked`, where one that the protocol prescribes may
        arrive as the request's.
        """
        if asked is None or (self.prescribed and asked == self.tokens):
            return self.within(own, chosen)
        return asked

    def within(self, own: int, chosen: bool) -> int:
        """The most tokens of a reply to a request that names no limit.

        own: the model's length of a reply, and whether the user has `chosen` it, as by `max_len`. What the user says
        takes precedence over the protocol, and the protocol over the model's default.
        """
        if chosen:
            return own
        return self.tokens if self.prescribed else min(self.tokens, own)
