"""`--model image_text/<folder or hub id>`: models of transformers that read pictures and video, as a provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageUser, ContentImage, ContentVideo, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from humor_tasks.data.media.frames import sample_frames
from humor_tasks.errors import BadInput
from humor_tasks.models.text.language import Generation, Written
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.messages import picture_of, reply_limit
from humor_tasks.on_inspect.providers.batching import Batcher
from humor_tasks.on_inspect.providers.local import LocalAPI
from humor_tasks.on_inspect.providers.writing import Seeds, check_writes, output, written


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
        self._seeds = Seeds()
        self._batcher: Batcher[Request, Written] = Batcher(self._written, self.batch_size())

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
            reply = await self._batcher(asked)
        except BadInput as problem:
            cannot_run(f"model {self.model_name}: {problem}")
        # Without a chat template the prompt, plain text, ended with the prefix.
        return output(self.model_name, reply, "" if self.model.processor.chat_template else asked.prefix, config)

    def _asked(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> Request:
        check_writes(config, "by image_text/")
        asked = next((m for m in reversed(messages) if isinstance(m, ChatMessageUser)), None)
        known = (asked.metadata if asked else None) or {}
        length = reply_limit(asked, config.max_tokens, Generation.max_tokens, chosen=False)
        how = self._seeds.settings(str(known.get("id", asked.text if asked else "")), config, length)
        return Request(tuple(messages), str(known.get("prefix", "")), how)

    def _written(self, asked: Sequence[Request]) -> list[Written | BadInput]:
        """Replies; requests with the same settings are batched."""

        def write(key: tuple[Generation, str], some: Sequence[Request]) -> Sequence[Written]:
            return self.model.generate(list(map(self._seen, some)), *key)

        return written(asked, lambda a: (a.how, a.prefix), write)

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
