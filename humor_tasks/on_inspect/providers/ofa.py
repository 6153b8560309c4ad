"""`--model ofa/<folder>` or `ofa/OWNER/NAME`: OFA as an Inspect provider of free-text answers about a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from humor_tasks.data.media.picture import Picture
from humor_tasks.data.reading import cut_at
from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.arguments import settings_for
from humor_tasks.models.ofa.settings import GenerationSettings
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.messages import images_in, picture_of, reply_limit
from humor_tasks.on_inspect.providers.batching import Batcher, each
from humor_tasks.on_inspect.providers.local import LocalAPI
from humor_tasks.on_inspect.providers.writing import check_supported


@dataclass(frozen=True)
class Request:
    """One question about one picture; `n` is the number of answers."""

    where: str
    picture: Picture
    question: str
    settings: GenerationSettings
    n: int


class OfaAPI(LocalAPI):
    """`-M image_size=384`, `-M beams=1`, `-M precision=bf16`, `-M revision=...`: see `Describer` and its settings.

    The last user message holds the question and its picture. Concurrent samples are batched; by default so many are
    asked at once as fill two batches. `--temperature` above 0 samples; otherwise decoding is beam search.
    `--max-tokens`, `--seed`, `--top-p`, `--top-k`, `--num-choices` (the n best) and stop sequences are as in Inspect.
    """

    def open(self, model_name: str, **model_args: Any) -> None:
        """See LocalAPI."""
        from humor_tasks.models.ofa import Describer

        self.describer = Describer.load(model_name, model_args)
        self.describer.features.checked.receive()
        self._batcher: Batcher[Request, Any] = Batcher(self._answered, self.batch_size())

    def identity(self) -> dict[str, Any]:
        """Everything that an answer depends on besides the question, for caches and logs."""
        about: dict[str, Any] = self.describer.identity()
        return about

    def batch_size(self) -> int:
        """See LocalAPI."""
        return int(self.describer.batch_size)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """See ModelAPI."""
        check_cache(self.model_name, self.given, config)
        try:
            asked = self._asked(input, config)
            answer = await self._batcher(asked)
        except BadInput as problem:
            cannot_run(f"model {self.model_name}: {problem}")
        stops = tuple(config.stop_seqs or ())
        choices = [
            ChatCompletionChoice(
                message=ChatMessageAssistant(content=cut_at(text, stops), source="generate"),
                stop_reason="max_tokens" if i == 0 and answer.cut else "stop",
            )
            for i, text in enumerate(answer.texts)
        ]
        usage = ModelUsage(
            input_tokens=answer.read, output_tokens=answer.written, total_tokens=answer.read + answer.written
        )
        return ModelOutput(model=self.model_name, choices=choices, usage=usage)

    def _asked(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> Request:
        message = next((m for m in reversed(messages) if isinstance(m, ChatMessageUser)), None)
        if message is None:
            raise BadInput("there is no user message to answer.")
        identity = (message.metadata or {}).get("id")
        where, images = f"question {identity}" if identity else "the question", images_in(message)
        if len(images) != 1:
            raise BadInput(
                f"{where}: there {'is no picture' if not images else f'are {len(images)} pictures'}. OFA needs exactly "
                "one picture, in the last user message: for humor_tasks' tasks, use -T setting=pixels."
            )
        check_supported(config, "by OFA")
        self.describer.tokens(message.text, where)  # report an invalid question before it joins a batch
        most = self.describer.ofa.config.most_tokens - 1
        given = {name: getattr(config, name) for name in ("temperature", "seed", "top_p", "top_k")}
        own, chosen = self.describer.settings, self.given.get("max_len") is not None
        length = reply_limit(message, config.max_tokens, own.max_len, chosen)
        settings = settings_for(own, most, length, **given)
        n = config.num_choices or 1
        if n > 1 and settings.sample:
            raise BadInput(f"{n} choices: sampling gives one answer per request; use other seeds or several epochs.")
        if n > settings.beams:
            raise BadInput(
                f"{n} choices: beam search with {settings.beams} beams gives at most that many; use -M beams."
            )
        return Request(where, picture_of(images[0], identity), message.text, settings, n)

    def _answered(self, asked: Sequence[Request]) -> list[Any]:
        """Answers to requests; those with the same settings are batched."""
        found: dict[int, Any] = {}
        for how in dict.fromkeys((a.settings, a.n) for a in asked):
            places = [i for i, a in enumerate(asked) if (a.settings, a.n) == how]
            results = each(partial(self._together, *how), [asked[i] for i in places])
            found |= dict(zip(places, results, strict=True))
        return [found[i] for i in range(len(asked))]

    def _together(self, settings: GenerationSettings, n: int, asked: Sequence[Request]) -> Sequence[Any]:
        pictures, questions = [a.picture for a in asked], [a.question for a in asked]
        found: list[Any] = self.describer.answers(pictures, questions, settings, n, [a.where for a in asked])
        return found
