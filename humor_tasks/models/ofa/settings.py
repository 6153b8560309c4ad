"""Generation settings of OFA. It imports no torch, so that a harness can validate arguments first."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humor_tasks.errors import BadInput, check_choice

STYLES = ("fairseq", "hf")


@dataclass(frozen=True)
class GenerationSettings:
    """Settings of search and sampling. The defaults are those of OFA's published captioning.

    style: fairseq, whose search produced the published scores, or hf, that of transformers 4.18. They differ in when an
      input is finished, in the score of a hypothesis and in the score of the forced end token.
    beams: number of beams; 1 is greedy decoding.
    max_len: maximum number of tokens before the end token. transformers' max_length is 2 more, as it counts the begin
      and end tokens.
    min_len: minimum number of tokens before the end token.
    lenpen: length penalty; the score is log-probability / length ** lenpen. fairseq's length includes the end token but
      not the begin token, hf's the reverse.
    normalize: false scores by the log-probability alone.
    no_repeat_ngram: n-grams of this length do not repeat; 0 disables it.
    sample: sample tokens instead; `beams` must be 1. The logits are divided by temperature, then restricted to the most
      likely tokens by top_k (0: all) and top_p. Random numbers depend on seed + the index in the batch.
    use_cache: false recomputes everything at each step, which is slow and only for comparison.

    Raises BadInput for values out of range.
    """

    style: str = "fairseq"
    beams: int = 5
    max_len: int = 16
    min_len: int = 0
    lenpen: float = 1.0
    normalize: bool = True
    no_repeat_ngram: int = 3
    sample: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    use_cache: bool = True

    def __post_init__(self) -> None:
        check_choice("ofa: style", self.style, STYLES)
        for name, least in (("beams", 1), ("max_len", 0), ("min_len", 0), ("no_repeat_ngram", 0), ("top_k", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadInput(f"ofa: {name} is {value!r}; give a whole number of {least} or more.")
        if not isinstance(self.seed, int) or isinstance(self.seed, bool) or not -(2**63) <= self.seed < 2**63:
            raise BadInput(f"ofa: seed is {self.seed!r}; give a 64-bit whole number.")
        for name in ("normalize", "sample", "use_cache"):
            if not isinstance(getattr(self, name), bool):
                raise BadInput(f"ofa: {name} is {getattr(self, name)!r}; give true or false.")
        for name in ("lenpen", "temperature", "top_p"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
                raise BadInput(f"ofa: {name} is {value!r}; give a number.")
        if not -10 <= self.lenpen <= 10:
            raise BadInput(f"ofa: lenpen is {self.lenpen!r}; give a number from -10 to 10.")
        if self.min_len > self.max_len:
            raise BadInput(f"ofa: min_len {self.min_len} is above max_len {self.max_len}.")
        if not self.temperature > 0:
            raise BadInput(f"ofa: temperature is {self.temperature!r}; give a number above 0, or sample=False.")
        if not 0 < self.top_p <= 1:
            raise BadInput(f"ofa: top_p is {self.top_p!r}; give a number above 0 and at most 1.")
        if self.sample and self.beams != 1:
            raise BadInput(f"ofa: sample draws one answer at a time; beams is {self.beams}, give 1.")
