"""`--model image_text/<folder or hub id>`: models of transformers that read pictures and video, as a provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentVideo,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from humor_tasks.data.media.frames import sample_frames
from humor_tasks.data.text import cut_at
from humor_tasks.errors import BadInput
from humor_tasks.models.text.language import Generation, Written
from humor_tasks.on_inspect.answer_cache import check_cache
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.messages import picture_of, reply_limit
from humor_tasks.on_inspect.providers.batching import Batcher, each
from humor_tasks.on_inspect.providers.local import LocalAPI
from humor_tasks.on_inspect.providers.text import SETTINGS, UNSUPPORTED


@dataclass(frozen=True)
class Request:
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
        from humor_tasks.models.image_text.model import ImageText

        self.frames = frames
        found = None if revision is None else str(revision)
        self.model = ImageText.load(model_name, device, precision, batch_size, found)
        self._counts: Counter[tuple[str, Generation]] = Counter()
        self._batcher: Batcher[Request, Written | BadInput] = Batcher(self._written, self.batch_size())

    def batch_size(self) -> int:
        """See LocalAPI."""
        return self.model.batches.size

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """See ModelAPI."""
        check_cache(self.model_name, self.given, config)
        try:
            asked = self._asked(input, config)
            found = await self._batcher(asked)
            if isinstance(found, BadInput):
                raise found
        except BadInput as problem:
            cannot_run(f"model {self.model_name}: {problem}")
        text = cut_at(found.text, tuple(config.stop_seqs or ())).strip()
        if not (self.model.processor.chat_template or text.startswith(asked.prefix)):
            text = f"{asked.prefix} {text}"  # the prompt, plain text, ended with the prefix
        choice = ChatCompletionChoice(
            message=ChatMessageAssistant(content=text, source="generate"),
            stop_reason="max_tokens" if found.cut else "stop",
        )
        total = found.read + found.written
        usage = ModelUsage(input_tokens=found.read, output_tokens=found.written, total_tokens=total)
        return ModelOutput(model=self.model_name, choices=[choice], usage=usage)

    def _asked(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> Request:
        """The request. Without --seed, the n-th of equal requests samples with the seed n - 1."""
        for name in UNSUPPORTED:
            if getattr(config, name):
                raise BadInput(f"{name} is not supported by image_text/; leave it out.")
        if (config.num_choices or 1) > 1:
            raise BadInput(f"{config.num_choices} choices: one text is written a request; use --epochs.")
        asked = next((m for m in reversed(messages) if isinstance(m, ChatMessageUser)), None)
        length = reply_limit(asked, config.max_tokens, Generation.max_tokens, chosen=False)
        how = Generation.of({name: getattr(config, name) for name in SETTINGS} | {"max_tokens": length})
        if how.temperature and config.seed is None:
            key = str((asked.metadata or {}).get("id", asked.text)) if asked else ""
            self._counts[key, how] += 1
            how = replace(how, seed=self._counts[key, how] - 1)
        known = (asked.metadata if asked else None) or {}
        return Request(tuple(messages), str(known.get("prefix", "")), how)

    def _written(self, asked: Sequence[Request]) -> list[Written | BadInput]:
        """Replies; requests with the same settings are batched."""
        found: dict[int, Written | BadInput] = {}
        for how, prefix in dict.fromkeys((a.how, a.prefix) for a in asked):
            places = [i for i, a in enumerate(asked) if (a.how, a.prefix) == (how, prefix)]
            write = lambda some, how=how, prefix=prefix: self.model.generate(list(map(self._seen, some)), how, prefix)  # noqa: E731
            found |= dict(zip(places, each(write, [asked[i] for i in places]), strict=True))
        return [found[i] for i in range(len(asked))]

    def _seen(self, asked: Request) -> list[Any]:
        """The conversation with decoded pictures and frames. Raises BadInput for a medium that cannot be read."""
        from humor_tasks.models.image_text.conversation import Seen

        turns = []
        for message in asked.messages:
            parts = [] if isinstance(message.content, str) else message.content
            images = [picture_of(part.image, "the question") for part in parts if isinstance(part, ContentImage)]
            # A video's bytes come as a picture's do: from a `data:` URI or a file.
            clips = [picture_of(part.video, "the question") for part in parts if isinstance(part, ContentVideo)]
            videos = [sample_frames(clip.read_bytes(), self.frames, where=clip.where) for clip in clips]
            turns.append(
                Seen(
                    message.role,
                    message.text,
                    tuple(image.open().convert("RGB") for image in images),
                    tuple([frame.image for frame in video] for video in videos),
                )
            )
        return turns
