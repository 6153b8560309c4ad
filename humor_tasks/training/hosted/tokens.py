"""Tokens of chat examples, counted as the provider documents it, or estimated where the vocabulary is not at hand.

Rule: https://cookbook.openai.com/examples/chat_finetuning_data_prep. A message costs three tokens beside those of its
role and its text, and an example three more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PER_MESSAGE = PER_EXAMPLE = 3
CHARACTERS = 4
"""Characters of English text a token, by the provider's rule of thumb
(https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them)."""
DEFAULT_EPOCHS, LEAST_ROWS, MOST_ROWS, MOST_EPOCHS = 3, 100, 25_000, 25


@dataclass(frozen=True)
class Counter:
    """Counts tokens with a vocabulary of tiktoken; without one it estimates, and `problem` says why."""

    name: str
    encoding: Any = None
    problem: str = ""

    @property
    def exact(self) -> bool:
        """Whether tokens are counted and not estimated."""
        return self.encoding is not None

    def count(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of one example; without a vocabulary, characters / 4 a text, rounded up."""
        return self._sum(messages, self._tokens)

    def most(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """No example has more tokens than this: without a vocabulary, a token a byte."""
        return self._sum(messages, self._tokens if self.exact else lambda text: len(text.encode()))

    def _sum(self, messages: Sequence[Mapping[str, Any]], tokens: Callable[[str], int]) -> int:
        each = (PER_MESSAGE + tokens(message["role"]) + tokens(message["content"]) for message in messages)
        return PER_EXAMPLE + sum(each)

    def _tokens(self, text: str) -> int:
        if self.exact:
            return len(self.encoding.encode(text, disallowed_special=()))
        return math.ceil(len(text) / CHARACTERS)


def open_counter(name: str) -> Counter:
    """A counter with the vocabulary of this name, which tiktoken downloads once; an estimating one where it fails."""
    import tiktoken

    try:
        return Counter(name, tiktoken.get_encoding(name))
    except (OSError, ValueError) as problem:  # no network, an unwritable cache, a damaged download, an unknown name
        return Counter(name, None, type(problem).__name__)


def default_epochs(rows: int) -> int:
    """The number of epochs that the provider documents as its choice for this many rows, where none is given.

    3; more where 3 show fewer than 100 examples, fewer where they show more than 25,000 (the same notebook).
    """
    if rows * DEFAULT_EPOCHS < LEAST_ROWS:
        return min(MOST_EPOCHS, LEAST_ROWS // rows)
    return max(1, MOST_ROWS // rows) if rows * DEFAULT_EPOCHS > MOST_ROWS else DEFAULT_EPOCHS
