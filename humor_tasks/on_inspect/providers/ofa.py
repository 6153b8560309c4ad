"""`--model ofa/<folder>` or `ofa/OWNER/NAME`: OFA as an Inspect provider of free-text answers about a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import cut_at
from humor_tasks.models.ofa.config import GenerationSettings, settings_for
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.local import Batcher, LocalAPI, by_settings, check_supported, last_user_message
from humor_tasks.on_inspect.messages import images_in, picture_of, reply_limit
from humor_tasks.rows.media.picture import Picture


class Request(NamedTuple):
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

    async def reply(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """See LocalAPI."""
        check_cache(self.model_name, self.model_args, config)
        answer = await self._batcher(self._request(messages, config))
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

    def _request(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> Request:
        message = last_user_message(messages)
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
        sampling = {name: getattr(config, name) for name in ("temperature", "seed", "top_p", "top_k")}
        defaults, chosen = self.describer.settings, self.model_args.get("max_len") is not None
        length = reply_limit(message, config.max_tokens, defaults.max_len, chosen)
        settings = settings_for(defaults, most, length, **sampling)
        n = config.num_choices or 1
        if n > 1 and settings.sample:
            raise BadInput(f"{n} choices: sampling gives one answer per request; use other seeds or several epochs.")
        if n > settings.beams:
            raise BadInput(
                f"{n} choices: beam search with {settings.beams} beams gives at most that many; use -M beams."
            )
        return Request(where, picture_of(images[0], identity), message.text, settings, n)

    def _answered(self, requests: Sequence[Request]) -> list[Any]:
        return by_settings(requests, lambda request: (request.settings, request.n), self._answers)

    def _answers(self, how: tuple[GenerationSettings, int], requests: Sequence[Request]) -> Sequence[Any]:
        wheres, pictures, questions, _, _ = zip(*requests, strict=True)
        answers: list[Any] = self.describer.answers(pictures, questions, *how, wheres)
        return answers
