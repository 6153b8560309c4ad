"""The length of replies in lm-eval's generation arguments, and whether the user gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humor_tasks.data.records import ReplyLength

LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""lm-eval's names for the number of tokens of a reply; the first one that is given takes precedence."""


class Unsaid(dict[str, Any]):
    """Generation arguments with the benchmark's length of a reply, where the user gave none.

    To lm-eval and its models it is the dictionary with max_gen_toks. The models of this package tell it from a length
    that the user gave.
    """

    def __init__(self, given: Mapping[str, Any], length: ReplyLength) -> None:
        super().__init__(given, max_gen_toks=length.tokens)
        self.length = length
