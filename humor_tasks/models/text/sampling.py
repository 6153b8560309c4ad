"""Generation by transformers: the arguments of `generate`, with random numbers of each prompt's own, and its texts.

transformers draws the next tokens of a whole batch from one stream of random numbers, so that a text depends on the
other prompts of its batch. Here each prompt has a generator, seeded by the seed and the prompt. The token with the
highest sum of log-probability and Gumbel noise is a draw from the distribution (Gumbel 1954, "Statistical theory of
extreme values and some practical applications").
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import torch
from transformers import LogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from humor_tasks.models.text.language import Generation, Written


def arguments(how: Generation, prompts: Sequence[str], device: torch.device) -> dict[str, Any]:
    """The arguments of `generate` for a batch of prompts, one row a prompt."""
    # None takes away what the model's own generation configuration may set; the end token is not forced, because the
    # texts without one are those that were cut.
    found: dict[str, Any] = {
        "max_new_tokens": how.max_tokens,
        "max_length": None,
        "num_beams": how.beams,
        "do_sample": False,
        "temperature": None,
        "top_p": None,
        "top_k": None,
        "forced_eos_token_id": None,
        "use_cache": True,
    }
    if how.temperature == 0:
        return found
    steps: list[LogitsProcessor] = [TemperatureLogitsWarper(float(how.temperature))]  # transformers refuses 1
    steps += [TopKLogitsWarper(how.top_k)] if how.top_k else []
    steps += [TopPLogitsWarper(how.top_p)] if how.top_p < 1 else []
    return found | {"logits_processor": [*steps, _Noise(how.seed, prompts, device)]}


def written(tokenizer: Any, read: int, tokens: Sequence[int], stops: AbstractSet[int]) -> Written:
    """The text of one row of new token ids, up to the first of `stops`; `read`: tokens of its prompt."""
    length = next((i + 1 for i, token in enumerate(tokens) if token in stops), len(tokens))
    text = tokenizer.decode(tokens[:length], skip_special_tokens=True)
    return Written(text, read, length, cut=length == 0 or tokens[length - 1] not in stops)


class _Noise(LogitsProcessor):
    """Adds Gumbel noise to the logits [rows, words], from one generator a row."""

    def __init__(self, seed: int, prompts: Sequence[str], device: torch.device) -> None:
        self.generators = [torch.Generator(device).manual_seed(_seed(seed, prompt)) for prompt in prompts]

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.Tensor:
        """See LogitsProcessor."""
        noise = torch.empty_like(scores, dtype=torch.float32)
        for row, generator in zip(noise, self.generators, strict=True):
            row.exponential_(generator=generator)
        return scores.float() - noise.log()


def _seed(seed: int, prompt: str) -> int:
    digest = hashlib.sha256(f"{seed}\0{prompt}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1
