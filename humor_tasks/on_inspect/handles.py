"""Pictures by their SHA-256 for models that run in this process, instead of base64 in every message.

A handle is a `data:` URI with the picture's identity (`Facts.identity`) in place of the data. It is not base64, so a
model elsewhere refuses it and never answers without the picture. The pictures stay with the records of a run; nothing
here keeps one alive. The log gets the pictures themselves: `restore` replaces the handles when a sample ends.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Sequence

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, Content, ContentImage, Model, get_model, model_roles

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.local import LocalAPI
from humor_tasks.rows.media.picture import Picture

_HANDLE = re.compile(r"data:[a-z/]+;base64,sha256:([0-9a-f]{64})")
_shown: weakref.WeakValueDictionary[str, Picture] = weakref.WeakValueDictionary()


def handle(picture: Picture) -> str:
    """The handle of a picture. Raises BadInput where the picture cannot be used."""
    pinned = picture.pinned()
    identity = pinned.identity()
    # Pictures with equal bytes share the first one, which lives as long as any of them.
    picture.__dict__["_shown"] = _shown.setdefault(identity, pinned)
    return f"data:{picture.mime()};base64,sha256:{identity}"


def digest_in(image: str) -> str | None:
    """The identity in a handle; None for any other image."""
    match = _HANDLE.fullmatch(image) if len(image) < 128 else None
    return match[1] if match else None


def picture_by(image: str, where: str) -> Picture | None:
    """The picture of a handle; None for any other image. Raises BadInput where it is not in this process."""
    digest = digest_in(image)
    if digest is None:
        return None
    if digest not in _shown:
        raise BadInput(
            f"Picture {where}: its message has the SHA-256 {digest} in place of the picture, and no picture of this "
            "process has it. Run the sample again."
        )
    return _shown[digest]


def in_process(model: Model | None) -> bool:
    """Whether the model runs in this process and finds pictures by their handles."""
    return model is not None and isinstance(model.api, LocalAPI)


def models_of_roles() -> list[Model]:
    """The models that are bound to roles."""
    return [model for given in model_roles().values() for model in (given if isinstance(given, list) else [given])]


def all_in_process() -> bool:
    """Whether the model under test and the models of all roles run in this process."""
    return all(map(in_process, [get_model(), *models_of_roles()]))


def with_pictures(contents: Iterable[Content], where: str, known: dict[str, str] | None = None) -> list[Content]:
    """The contents with the pictures themselves in place of handles. Raises BadInput as `picture_by` does.

    known: `data:` URIs by handle, which are added to.
    """
    uris = {} if known is None else known

    def whole(part: Content) -> Content:
        if not isinstance(part, ContentImage) or (picture := picture_by(part.image, where)) is None:
            return part
        if part.image not in uris:
            uris[part.image] = picture.data_uri()
        return part.model_copy(update={"image": uris[part.image]})

    return [whole(part) for part in contents]


def restore(messages: Sequence[ChatMessage], where: str) -> list[ChatMessage]:
    """The messages with pictures in place of handles, and the same in the running sample's model calls."""
    known: dict[str, str] = {}

    def whole(message: ChatMessage) -> ChatMessage:
        if isinstance(message.content, str) or not any(isinstance(part, ContentImage) for part in message.content):
            return message
        return message.model_copy(update={"content": with_pictures(message.content, where, known)})

    for event in transcript().events:
        if isinstance(event, ModelEvent):
            event.input = [whole(message) for message in event.input]
    return [whole(message) for message in messages]
