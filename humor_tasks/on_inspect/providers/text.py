"""Text models and image-text models as Inspect providers: text/ and image_text/."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentImage,
    ContentVideo,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import cut_at
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.models.image_text import ImageText, ModelTurn
from humor_tasks.models.text.choosing import LanguageChooser, open_text
from humor_tasks.models.text.language import Continuation, Generation
from humor_tasks.models.text.templates import FOLDED, is_folding
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.local import Batcher, LocalAPI, by_settings, check_supported, last_user_message
from humor_tasks.on_inspect.messages import picture_of, reply_limit
from humor_tasks.on_inspect.providers.chooser import ChooserAPI
from humor_tasks.rows.media.frames import sample_frames
from humor_tasks.rows.records import ReplyLength

SETTINGS = ("max_tokens", "temperature", "top_p", "top_k", "seed")


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

    def settings(self, request: str, config: GenerateConfig, length: int) -> Generation:
        """How the reply to a request is written; `request` tells requests apart, `length` is in tokens."""
        how = Generation.of({name: getattr(config, name) for name in SETTINGS} | {"max_tokens": length})
        if not how.temperature or config.seed is not None:
            return how
        self._counts[request, how] += 1
        return replace(how, seed=self._counts[request, how] - 1)


def output(model: str, reply: Continuation, prefix: str, config: GenerateConfig) -> ModelOutput:
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


class TextAPI(ChooserAPI):
    """`-M device=cuda`, `-M precision=bf16`, `-M batch_size=N`, `-M revision=REVISION` (of a hub id).

    A question with choices is answered by the likelihoods of its letters or words after the prompt and the answer's
    prefix, which a causal model reads under its own chat template, where it has one. Language models write the answers
    to other questions, with `--max-tokens`, `--temperature`, `--top-p`, `--top-k`, `--seed` and stop sequences as in
    Inspect. Concurrent samples are batched.
    """

    def open(self, model_name: str, **model_args: Any) -> None:
        """See LocalAPI."""
        super().open(model_name, **model_args)
        self._seeds = Seeds()
        self._writer: Batcher[tuple[str, Generation], Continuation] = Batcher(self._written)

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

    def question(self, messages: Sequence[ChatMessage]) -> Question:
        """See ChooserAPI; a language model shows the turns itself."""
        asked = super().question(messages)
        if not isinstance(self.chooser, LanguageChooser):
            return asked
        turns = [{"role": message.role, "content": message.text} for message in messages]
        return replace(asked, prompt=self.chooser.model.prompt(turns, asked.prefix))

    async def write(self, question: Question, config: GenerateConfig) -> ModelOutput:
        """The answer's prefix and the text that the model writes after it."""
        if not isinstance(self.chooser, LanguageChooser):
            return await super().write(question, config)
        check_writes(config, "for texts by text/")
        most = Generation.max_tokens
        length = (question.length or ReplyLength(most)).limit(config.max_tokens, most, chosen=False)
        reply = await self._writer((question.prompt, self._seeds.settings(question.prompt, config, length)))
        written = output(self.model_name, reply, question.prefix, config)
        written.metadata = dict(self.chooser.signed) or None
        return written

    def _written(self, requests: Sequence[tuple[str, Generation]]) -> list[Continuation | BadInput]:
        model = self.chooser.model  # type: ignore[attr-defined]  # only a language model writes

        def write(how: Generation, some: Sequence[tuple[str, Generation]]) -> Sequence[Continuation]:
            texts: list[Continuation] = model.generate([prompt for prompt, _ in some], how=how)
            return texts

        return by_settings(requests, lambda request: request[1], write)


class ImageTextRequest(NamedTuple):
    """The messages of a request, and how the reply is written."""

    messages: tuple[ChatMessage, ...]
    prefix: str
    how: Generation


class ImageTextAPI(LocalAPI):
    """`-M device=cuda`, `-M precision=bf16`, `-M batch_size=N`, `-M frames=N`, `-M revision=REVISION` (of a hub id).

    Messages may have any number of pictures and videos, as far as the model takes them. Of a video it sees `frames`
    frames at even distances. `--max-tokens`, `--temperature`, `--top-p`, `--top-k`, `--seed` and stop sequences are as
    in Inspect. Concurrent samples are batched.
    """

    def open(
        self,
        model_name: str,
        device: str = "auto",
        precision: str = "",
        batch_size: int = 0,
        frames: int = 8,
        revision: str | int | None = None,
    ) -> None:
        """See LocalAPI."""
        self.frames = frames
        named = None if revision is None else str(revision)
        self.model = ImageText.load(model_name, device, precision, batch_size, named)
        self._seeds = Seeds()
        self._batcher: Batcher[ImageTextRequest, Continuation] = Batcher(self._written, self.batch_size())

    def batch_size(self) -> int:
        """See LocalAPI."""
        return self.model.batches.size

    async def reply(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """See LocalAPI."""
        check_cache(self.model_name, self.model_args, config)
        check_writes(config, "by image_text/")
        message = last_user_message(messages)
        metadata = (message.metadata if message else None) or {}
        length = reply_limit(message, config.max_tokens, Generation.max_tokens, chosen=False)
        how = self._seeds.settings(str(metadata.get("id", message.text if message else "")), config, length)
        prefix = str(metadata.get("prefix", ""))
        reply = await self._batcher(ImageTextRequest(tuple(messages), prefix, how))
        # Without a chat template the prompt, plain text, ended with the prefix.
        written = output(self.model_name, reply, "" if self.model.processor.chat_template else prefix, config)
        if is_folding(self.model.processor):
            written.metadata = {"chat_template": FOLDED}
        return written

    def _written(self, requests: Sequence[ImageTextRequest]) -> list[Continuation | BadInput]:
        def write(key: tuple[Generation, str], some: Sequence[ImageTextRequest]) -> Sequence[Continuation]:
            return self.model.generate([self._turns(request.messages) for request in some], *key)

        return by_settings(requests, lambda request: (request.how, request.prefix), write)

    def _turns(self, messages: Sequence[ChatMessage]) -> list[ModelTurn]:
        """The conversation with decoded pictures and frames. Raises BadInput for a medium that cannot be read."""
        turns = []
        for message in messages:
            parts = [] if isinstance(message.content, str) else message.content
            images = [picture_of(part.image, "the question") for part in parts if isinstance(part, ContentImage)]
            # A video's bytes come as a picture's do: from a `data:` URI or a file.
            clips = [picture_of(part.video, "the question") for part in parts if isinstance(part, ContentVideo)]
            videos = [sample_frames(clip.read_bytes(), self.frames, where=clip.where) for clip in clips]
            pictures = tuple(image.open() for image in images)
            frames = tuple([frame.image for frame in video] for video in videos)
            turns.append(ModelTurn(message.role, message.text, pictures, frames))
        return turns
