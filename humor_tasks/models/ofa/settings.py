"""How OFA writes. Imports no torch, so that a harness can check its arguments first."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humor_tasks.errors import BadInput, check_choice

STYLES = ("fairseq", "hf")


@dataclass(frozen=True)
class GenerationSettings:
    """How an answer is searched for. The defaults are those of OFA's published captions.

    style: fairseq, whose search gave the published scores, or hf, that of transformers 4.18. They differ in when a
      sample is finished, in what a hypothesis is worth and in what the last step costs.
    beams: hypotheses held at once; 1 is the greedy choice.
    max_len: most tokens before the end mark, which has to follow then; hf's own max_length is 2 more, as it counts
      begin and end.
    min_len: fewest tokens before the end mark.
    lenpen: a hypothesis is worth its log-probability / length ** lenpen. fairseq counts the end in the length and
      not the begin, hf the begin and not the end.
    normalize: false is worth the log-probability itself.
    no_repeat_ngram: as many tokens do not come twice in the same order; 0 is no rule.
    sample: draws each token instead; `beams` must be 1. temperature divides the logits before; top_k (0: all) and
      top_p then leave the likeliest tokens. A sample's draws follow from seed + its number in the batch.
    use_cache: false computes everything again at each step, which is slow and for comparison.
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
                raise BadInput(f"ofa: {name} is {value!r}; give a whole number from {least} up.")
        if not isinstance(self.seed, int) or isinstance(self.seed, bool) or not -(2**63) <= self.seed < 2**63:
            raise BadInput(f"ofa: seed is {self.seed!r}; give a whole number of 64 bits.")
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
            raise BadInput(f"ofa: top_p is {self.top_p!r}; give a number above 0 and up to 1.")
        if self.sample and self.beams != 1:
            raise BadInput(f"ofa: sample draws one answer at a time; beams is {self.beams}, give 1.")
