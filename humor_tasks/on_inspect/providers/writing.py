"""Replies that a language model in this process writes: the settings of a request, its batch, and Inspect's output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, GenerateConfig, ModelOutput, ModelUsage

from humor_tasks.data.reading import cut_at
from humor_tasks.errors import BadInput
from humor_tasks.models.text.language import Generation, Written
from humor_tasks.on_inspect.providers.batching import each

SETTINGS = ("max_tokens", "temperature", "top_p", "top_k", "seed")
UNSUPPORTED = ("frequency_penalty", "presence_penalty", "logit_bias", "best_of", "logprobs", "response_schema")

Request = TypeVar("Request")
Key = TypeVar("Key", bound=Hashable)


def check_supported(config: GenerateConfig, by: str) -> None:
    """Raise BadInput for a setting that models in this process lack; `by` says by what, such as "by image_text/"."""
    for name in UNSUPPORTED:
        if getattr(config, name):
            raise BadInput(f"{name} is not supported {by}; leave it out.")


def check_writes(config: GenerateConfig, by: str) -> None:
    """As `check_supported`, and for several replies to one request."""
    check_supported(config, by)
    if (config.num_choices or 1) > 1:
        raise BadInput(f"{config.num_choices} choices: one text is written a request; use --epochs.")


class Seeds:
    """The settings of requests. Without --seed, the n-th of equal requests samples with the seed n - 1.

    So a run can be repeated, and its epochs differ.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Generation]] = Counter()

    def settings(self, asked: str, config: GenerateConfig, length: int) -> Generation:
        """How the reply to a request is written; `asked` tells requests apart, `length` is in tokens."""
        how = Generation.of({name: getattr(config, name) for name in SETTINGS} | {"max_tokens": length})
        if not how.temperature or config.seed is not None:
            return how
        self._counts[asked, how] += 1
        return replace(how, seed=self._counts[asked, how] - 1)


def written(
    asked: Sequence[Request],
    key: Callable[[Request], Key],
    write: Callable[[Key, Sequence[Request]], Sequence[Written]],
) -> list[Written | BadInput]:
    """Replies; requests with the same key are batched."""
    found: dict[int, Written | BadInput] = {}
    keys = [key(one) for one in asked]
    for same in dict.fromkeys(keys):
        places = [i for i, other in enumerate(keys) if other == same]
        batch = each(lambda some, same=same: write(same, some), [asked[i] for i in places])  # type: ignore[misc]
        found |= dict(zip(places, batch, strict=True))
    return [found[i] for i in range(len(asked))]


def output(model: str, reply: Written, prefix: str, config: GenerateConfig) -> ModelOutput:
    """The reply up to the first stop sequence, beginning with the answer's prefix."""
    text = cut_at(reply.text, tuple(config.stop_seqs or ())).strip()
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(
            content=text if text.startswith(prefix) else f"{prefix} {text}", source="generate"
        ),
        stop_reason="max_tokens" if reply.cut else "stop",
    )
    total = reply.read + reply.written
    usage = ModelUsage(input_tokens=reply.read, output_tokens=reply.written, total_tokens=total)
    return ModelOutput(model=model, choices=[choice], usage=usage)
