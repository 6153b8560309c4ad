"""`--model text/<folder or hub id>`: seq2seq models and trained encoders as an Inspect provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)

from humor_tasks.data.reply_length import ReplyLength
from humor_tasks.data.text import cut_at
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.models.text.choosing import LanguageChooser, open_text
from humor_tasks.models.text.language import Generation, Written
from humor_tasks.on_inspect.messages import question
from humor_tasks.on_inspect.providers.batching import Batcher, each
from humor_tasks.on_inspect.providers.chooser import ChooserAPI

SETTINGS = ("max_tokens", "temperature", "top_p", "top_k", "seed")
UNSUPPORTED = ("frequency_penalty", "presence_penalty", "logit_bias", "best_of", "logprobs", "response_schema")

Request = tuple[str, Generation]


class TextAPI(ChooserAPI):
    """`-M device=cuda`, `-M precision=bf16`, `-M batch_size=N`, `-M revision=REVISION` (of a hub id).

    A question with choices is answered by the likelihoods of its letters or words after the prompt and the answer's
    prefix. A seq2seq model writes the answers to other questions, with `--max-tokens`, `--temperature`, `--top-p`,
    `--top-k`, `--seed` and stop sequences as in Inspect. Concurrent samples are batched.
    """

    def open(self, model_name: str, **model_args: Any) -> None:
        """See LocalAPI."""
        super().open(model_name, **model_args)
        self._counts: Counter[Request] = Counter()
        self._writer: Batcher[Request, Written | BadInput] = Batcher(self._written)

    def make(
        self,
        model_name: str,
        device: str = "auto",
        precision: str = "fp32",
        batch_size: int = 0,
        revision: str | int | None = None,
    ) -> Chooser:
        """The model of this folder or hub id."""
        return open_text(model_name, device, precision, batch_size, None if revision is None else str(revision))

    def asked(self, messages: Sequence[ChatMessage]) -> Question:
        """See ChooserAPI; a language model also rates headlines."""
        return question(messages, rates=isinstance(self.chooser, LanguageChooser), reads=True)

    async def write(self, asked: Question, config: GenerateConfig) -> ModelOutput:
        """The answer's prefix and the text that the model writes after it."""
        if not isinstance(self.chooser, LanguageChooser):
            return await super().write(asked, config)
        for name in UNSUPPORTED:
            if getattr(config, name):
                raise BadInput(f"{name} is not supported for texts by text/; leave it out.")
        if (config.num_choices or 1) > 1:
            raise BadInput(f"{config.num_choices} choices: one text is written a request; use --epochs.")
        written = await self._writer((asked.prompt, self._how(asked, config)))
        if isinstance(written, BadInput):
            raise written
        text = cut_at(written.text, tuple(config.stop_seqs or ())).strip()
        reply = text if text.startswith(asked.prefix) else f"{asked.prefix} {text}"
        choice = ChatCompletionChoice(
            message=ChatMessageAssistant(content=reply, source="generate"),
            stop_reason="max_tokens" if written.cut else "stop",
        )
        total = written.read + written.written
        usage = ModelUsage(input_tokens=written.read, output_tokens=written.written, total_tokens=total)
        return ModelOutput(model=self.model_name, choices=[choice], usage=usage)

    def _how(self, asked: Question, config: GenerateConfig) -> Generation:
        """The settings of a request. Without --seed, the n-th request of a prompt samples with the seed n - 1.

        So a run can be repeated, and its epochs differ.
        """
        own = Generation.max_tokens
        length = (asked.length or ReplyLength(own)).limit(config.max_tokens, own, chosen=False)
        how = Generation.of({name: getattr(config, name) for name in SETTINGS} | {"max_tokens": length})
        if not how.temperature or config.seed is not None:
            return how
        self._counts[asked.prompt, how] += 1
        return replace(how, seed=self._counts[asked.prompt, how] - 1)

    def _written(self, asked: Sequence[Request]) -> list[Written | BadInput]:
        """Texts; requests with the same settings are batched."""
        found: dict[int, Written | BadInput] = {}
        for how in dict.fromkeys(how for _, how in asked):
            places = [i for i, (_, other) in enumerate(asked) if other == how]
            # Only a language model writes.
            write: Callable[[Sequence[str]], Sequence[Written]] = partial(self.chooser.model.generate, how=how)  # type: ignore[attr-defined]
            found |= dict(zip(places, each(write, [asked[i][0] for i in places]), strict=True))
        return [found[i] for i in range(len(asked))]
