"""`--model text/<folder or hub id>`: seq2seq models and trained encoders as an Inspect provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput

from humor_tasks.data.records import ReplyLength
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.models.text.choosing import LanguageChooser, open_text
from humor_tasks.models.text.language import Generation, Written
from humor_tasks.on_inspect.messages import question
from humor_tasks.on_inspect.providers.batching import Batcher
from humor_tasks.on_inspect.providers.chooser import ChooserAPI
from humor_tasks.on_inspect.providers.writing import Seeds, check_writes, output, written

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
        self._seeds = Seeds()
        self._writer: Batcher[Request, Written] = Batcher(self._written)

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
        check_writes(config, "for texts by text/")
        own = Generation.max_tokens
        length = (asked.length or ReplyLength(own)).limit(config.max_tokens, own, chosen=False)
        reply = await self._writer((asked.prompt, self._seeds.settings(asked.prompt, config, length)))
        return output(self.model_name, reply, asked.prefix, config)

    def _written(self, asked: Sequence[Request]) -> list[Written | BadInput]:
        """Texts; requests with the same settings are batched. Only a language model writes."""
        model = self.chooser.model  # type: ignore[attr-defined]
        return written(asked, lambda a: a[1], lambda how, some: model.generate([text for text, _ in some], how=how))
