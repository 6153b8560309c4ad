"""The interface of language models that score and write texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

from humor_tasks.errors import BadInput
from humor_tasks.rows.records import plain_text


class Likelihood(NamedTuple):
    """A continuation's log-likelihood (natural logarithm) over its `tokens`, end token excluded.

    greedy: whether each of its tokens is the likeliest one.
    """

    logprob: float
    tokens: int
    greedy: bool


class Continuation(NamedTuple):
    """A generated text, the number of tokens read and written, and whether it was cut at the maximum length."""

    text: str
    read: int
    written: int
    cut: bool


@dataclass(frozen=True)
class Generation:
    """Settings of generation. Raises BadInput for values out of range.

    max_tokens: maximum number of new tokens. beams: 1 is greedy search. temperature: above 0 samples, with `top_p` and
    `top_k` (0: no limit) and `seed`, and needs beams=1. Hessel et al. sample explanations with temperature=1.0 and
    top_p=0.95.
    """

    max_tokens: int = 256
    beams: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Generation:
        """The settings of this name; None means the default."""
        return cls(**{name: value for name, value in settings.items() if value is not None})

    def __post_init__(self) -> None:
        for field in fields(self):
            value, whole = getattr(self, field.name), isinstance(field.default, int)
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
                kind = "a whole number" if whole else "a number"
                raise BadInput(f"generation: {field.name} is {value!r}; it must be {kind}.")
        ranges = {
            "max_tokens": (self.max_tokens >= 1, "1 or more"),
            "beams": (self.beams >= 1, "1 or more"),
            "temperature": (0 <= self.temperature < math.inf, "0 or more"),
            "top_p": (0 < self.top_p <= 1, "above 0 and at most 1"),
            "top_k": (self.top_k >= 0, "0 or more"),
        }
        for name, (fits, wanted) in ranges.items():
            if not fits:
                raise BadInput(f"generation: {name} is {getattr(self, name)}; it must be {wanted}.")
        if self.temperature and self.beams > 1:
            raise BadInput(f"generation: {self.beams} beams and a temperature: sampling needs beams=1.")


class LanguageModel(Protocol):
    """A seq2seq or causal language model.

    cut: the number of distinct prompts so far that were longer than the model's context; their beginning was left out.
    """

    name: str
    kind: str
    cut: int

    def prompt(self, turns: Sequence[Mapping[str, str]], prefix: str) -> str:
        """What the model reads of turns (role, content), up to where the answer goes on after its prefix."""
        return plain_text((turn["content"] for turn in turns), prefix)

    def loglikelihoods(self, prompts: Sequence[str], continuations: Sequence[Sequence[str]]) -> list[list[Likelihood]]:
        """The log-likelihood of each continuation of each prompt, in order."""
        ...

    def generate(self, prompts: Sequence[str], how: Generation) -> list[Continuation]:
        """One text per prompt. With a temperature, it depends on the seed and the prompt, not on the batch."""
        ...
