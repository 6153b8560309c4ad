"""Which models take pictures and video, as far as Inspect lets it be known before they are asked.

Inspect has no list of what a model takes. Its own providers say of themselves, when asked, that they take no media, or
no video, or send the text without it: those are named here, so that a run says so at its start and says what to do. Of
other providers the server decides, model by model; its error is the sample's.
"""

from __future__ import annotations

from collections.abc import Iterable

from inspect_ai.model import ChatMessage, Model, ModelName

from humor_tasks.data.media.clip import Clip
from humor_tasks.data.media.picture import Picture
from humor_tasks.data.media.video_file import check_installed
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import CannotRun

NO_MEDIA = frozenset({"hf", "nnterp", "openai-api-completions", "transformer_lens", "vllm-completions"})
NO_VIDEO = NO_MEDIA | {"anthropic", "azureai", "bedrock", "grok", "groq", "mistral", "sagemaker", "vllm"}


def check_takes(model: Model | None, media: Iterable[Picture | Clip | None]) -> None:
    """CannotRun where the model's provider takes no such media, or what reads them is not installed; it names
    what to do instead."""
    shown = [one for one in media if one is not None]
    _check(model, {"video" if isinstance(one, Clip) and not one.frames else "image" for one in shown})
    try:
        if any(isinstance(one, Clip) for one in shown):
            check_installed()
    except BadInput as problem:
        raise CannotRun(f"{problem} Or leave clips out: input=description.") from None


def check_takes_these(model: Model, messages: Iterable[ChatMessage]) -> None:
    """The same, of messages with what they show."""
    contents = [message.content for message in messages if not isinstance(message.content, str)]
    parts: set[str] = {part.type for content in contents for part in content}
    _check(model, parts & {"image", "video"})


def _check(model: Model | None, shown: set[str]) -> None:
    if model is None or not shown:
        return
    provider = ModelName(model).api
    if provider in NO_MEDIA:
        raise CannotRun(
            f"{model}: Inspect's provider '{provider}' takes text only. Show descriptions: input=description (of the "
            "caption contest, setting=description)."
        )
    if "video" in shown and (provider in NO_VIDEO or _by_chat_completions(model)):
        raise CannotRun(
            f"{model}: Inspect's provider '{provider}' takes no video. Show frames as pictures: input=frames; or words "
            "alone: input=description."
        )


def _by_chat_completions(model: Model) -> bool:
    """Whether it is OpenAI's protocol that is spoken (by two dozen providers), and its older one, without video."""
    responses = getattr(model.api, "uses_responses_api", None)
    return responses is not None and not responses([], model.config)
