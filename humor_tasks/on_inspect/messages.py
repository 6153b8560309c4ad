"""Prompt -> Inspect chat messages, with the choices in the last message's metadata; and the reverse."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    ContentVideo,
)

from humor_tasks.contract.answers import AnswerForm
from humor_tasks.contract.variations import variation_of
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Question, check_chooses, from_text
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.handles import handle, picture_by, with_pictures
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import VARIATION, Grouped, Prompt, Record, ReplyLength, Turn, plain_text


def chat_messages(
    prompt: Prompt, record: Record, form: AnswerForm, length: ReplyLength, pictures: bool, handles: bool = False
) -> list[ChatMessage]:
    """The prompt's turns; pictures and clips are read and encoded only when `pictures` is true.

    form, length: of the answer. handles: as in `turn_messages`.
    """
    messages = prompt_messages(prompt, pictures, handles)
    # ModelAPI.generate does not get Sample.choices, so models that score choices read them from the metadata.
    # Models that rate edited headlines read the fields, and language models go on after the prefix. Models in this
    # process write as much as the benchmark's length of a reply allows.
    known = {
        "id": variation_of(record).item if VARIATION in record.facts else record.id,
        "context": record.context,
        "choices": list(record.choices),
        "cluster": record.cluster,
    }
    structure = {"fields": dict(record.fields), "prefix": form.prefix, "reply_length": list(length)}
    structure |= {"gap": form.gap} if form.worked else {}
    structure |= {"grouped": dataclasses.asdict(record.grouped)} if record.grouped else {}
    messages[-1].metadata = known | structure
    return messages


def reply_limit(message: ChatMessage | None, asked: int | None, own: int, chosen: bool) -> int:
    """The most tokens of the reply to this message by a model in this process.

    asked: the request's limit; own, chosen: see `ReplyLength.within`.
    """
    known = (message.metadata if message else None) or {}
    return (ReplyLength.of(known.get("reply_length")) or ReplyLength(own)).limit(asked, own, chosen)


FIRST = "asked_first"
"""The key of a message's metadata that ends a first request."""


def prompt_messages(prompt: Prompt, pictures: bool = False, handles: bool = False) -> list[ChatMessage]:
    """The prompt's turns as messages; `split_first` finds the first request among them."""
    messages = turn_messages(prompt.turns, pictures, handles)
    if prompt.first:
        messages[prompt.first - 1].metadata = {FIRST: True}
    return messages


def split_first(messages: Sequence[ChatMessage]) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """The messages of a first request (`Prompt.first`) and the others; none where there is no first request."""
    ends = [i for i, message in enumerate(messages, 1) if (message.metadata or {}).get(FIRST)]
    return list(messages[: sum(ends[:1])]), list(messages[sum(ends[:1]) :])


def turn_messages(turns: Sequence[Turn], pictures: bool = False, handles: bool = False) -> list[ChatMessage]:
    """The turns as messages. handles: turns' pictures by their SHA-256, for models in this process."""
    return [_message(turn, pictures, handles) for turn in turns]


def _message(turn: Turn, pictures: bool, handles: bool) -> ChatMessage:
    if turn.role == "system":
        return ChatMessageSystem(content=turn.text)
    if turn.role == "assistant":
        return ChatMessageAssistant(content=turn.text)
    media = _shown(turn, handles) if pictures else []
    return ChatMessageUser(content=[*media, ContentText(text=turn.text)] if media else turn.text)


def _shown(turn: Turn, handles: bool) -> list[Content]:
    """A turn's picture, its clip, or the clip's frames."""
    if turn.clip is not None and not turn.clip.frames:
        uri, kind = turn.clip.whole()
        return [ContentVideo(video=uri, format=kind)]
    pictures = [picture_content(turn.picture, handles)] if turn.picture is not None else []
    # A clip's frames are made when they are shown, so that nothing would keep the pictures of handles.
    frames = turn.clip.pictures() if turn.clip is not None else ()
    return [*pictures, *(picture_content(frame, by_handle=False) for frame in frames)]


def picture_content(picture: Picture, by_handle: bool) -> ContentImage:
    """The picture as content, or its handle for a model in this process. Raises BadInput where it cannot be used."""
    return ContentImage(image=handle(picture) if by_handle else picture.data_uri())


def media_of(message: ChatMessageUser, where: str) -> list[Content]:
    """A message's pictures and clips, for any model. where: the message in errors, such as "of sample 3"."""
    media = [part for part in message.content if isinstance(part, ContentImage | ContentVideo)]
    try:
        return with_pictures(media, where)
    except BadInput as problem:
        cannot_run(str(problem))


def question(messages: Sequence[ChatMessage], reads: bool = False) -> Question:
    """The question in a conversation, from the metadata of the last user message, otherwise from its text.

    reads: whether the model reads the whole conversation as text, which is then `Question.prompt`. Such a model also
    rates headlines.

    Its picture is the last one of that message, read when it is used. Raises BadInput for a rating question, which has
    no choices, unless the model `reads`.
    """
    asked = asked_last(messages)
    known = asked.metadata or {}
    if "choices" in known:
        if not reads:
            check_chooses(known["choices"], known.get("fields", {}))
        fields = known.get("fields", {})
        of: dict[str, Any] = {name: str(known.get(name, "")) for name in ("id", "context", "cluster")}
        of |= {"about": str(fields.get("punchline", "")), "grouped": Grouped.of(known.get("grouped"))}
        read = Question(choices=tuple(known["choices"]), **of)
    else:
        read = from_text(asked.text, asked.text)
    prefix = str(known.get("prefix", "Answer:" if read.choices else ""))
    gap = str(known.get("gap", AnswerForm.gap))
    prompt = plain_text((m.text for m in messages), prefix, gap) if reads else ""
    read = dataclasses.replace(read, length=ReplyLength.of(known.get("reply_length")), prompt=prompt, prefix=prefix)
    images = images_in(asked)
    return dataclasses.replace(read, picture=picture_of(images[-1], known.get("id"))) if images else read


def asked_last(messages: Sequence[ChatMessage]) -> ChatMessageUser:
    """The last user message. Raises ValueError where there is none."""
    asked = next((message for message in reversed(messages) if isinstance(message, ChatMessageUser)), None)
    if asked is None:
        raise ValueError("there is no user message to answer")
    return asked


def images_in(message: ChatMessage) -> list[str]:
    """The images of a message in order, as `data:` URIs or files."""
    return [] if isinstance(message.content, str) else [c.image for c in message.content if isinstance(c, ContentImage)]


def picture_of(image: str, identity: object) -> Picture:
    """The picture of a handle, a `data:` URI or a file. Raises BadInput for a handle of another process."""
    where = f"of {identity or 'the question'}"
    if (known := picture_by(image, where)) is not None:
        return known
    if not re.match("data:|https?:", image):
        return Picture(image, image, Path(image).read_bytes)

    def read() -> bytes:
        start, _, encoded = image.partition(";base64,")
        if not start.startswith("data:"):
            raise BadInput(f"Picture {where}: {image} is a URL; download the picture and give the file.")
        try:
            return base64.b64decode(encoded, validate=True)
        except binascii.Error as problem:
            raise BadInput(f"Picture {where}: its data: URI is not base64 ({problem}).") from None

    return Picture(where, None, read)


Result = TypeVar("Result")
THREADS = 4  # so many pictures or clips are read at once
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("humor_tasks_limiter")


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """function(*arguments) in one of a few threads."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return await anyio.to_thread.run_sync(function, *arguments, limiter=limiter)
