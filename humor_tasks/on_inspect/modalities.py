"""Checks whether a model accepts pictures and video, as far as this is known before a request.

Inspect has no list of the input modalities of models. Some of its providers reject media or video only when a request
is made, or silently drop them. This module lists these providers, so that a run fails at its start with a remedy. For
other providers the server decides for each model, and its error becomes the sample's error.
"""

from __future__ import annotations

from collections.abc import Iterable

from inspect_ai.model import ChatMessage, Model, ModelName

from humor_tasks.data.media.clip import Clip
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.media.video_file import check_installed
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import cannot_run

NO_MEDIA = frozenset({"hf", "nnterp", "openai-api-completions", "text", "transformer_lens", "vllm-completions"})
NO_VIDEO = NO_MEDIA | {"anthropic", "azureai", "bedrock", "grok", "groq", "mistral", "sagemaker", "vllm"}


def check_takes(model: Model | None, media: Iterable[Picture | Clip | None]) -> None:
    """Raise CannotRun, with a remedy, where the provider does not accept the media or the video package is missing."""
    shown = [one for one in media if one is not None]
    _check(model, {"video" if isinstance(one, Clip) and not one.frames else "image" for one in shown})
    try:
        if any(isinstance(one, Clip) for one in shown):
            check_installed()
    except BadInput as problem:
        cannot_run(f"{problem} Or use input=description, which shows no clips.")


def check_takes_these(model: Model, messages: Iterable[ChatMessage]) -> None:
    """The same check for the media in messages."""
    contents = [message.content for message in messages if not isinstance(message.content, str)]
    parts: set[str] = {part.type for content in contents for part in content}
    _check(model, parts & {"image", "video"})


def _check(model: Model | None, shown: set[str]) -> None:
    if model is None or not shown:
        return
    provider = ModelName(model).api
    if provider in NO_MEDIA:
        cannot_run(
            f"{model}: the provider '{provider}' accepts only text. Use input=description (for the caption "
            "contest, setting=description)."
        )
    if "video" in shown and (provider in NO_VIDEO or _by_chat_completions(model)):
        cannot_run(
            f"{model}: the provider '{provider}' does not accept video. Use input=frames, which shows pictures, "
            "or input=description, which shows only text."
        )


def _by_chat_completions(model: Model) -> bool:
    """Whether the provider uses OpenAI's Chat Completions API, which has no video input; two dozen providers do."""
    responses = getattr(model.api, "uses_responses_api", None)
    return responses is not None and not responses([], model.config)
