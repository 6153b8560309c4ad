"""Turns with pictures and videos, as the text and the tensors that a processor of transformers makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from humor_tasks.data.records import plain_text
from humor_tasks.errors import BadInput


class Seen(NamedTuple):
    """A turn: its text, and before it pictures (RGB images) and videos (each a list of frames, RGB images)."""

    role: str
    text: str
    pictures: tuple[Any, ...] = ()
    videos: tuple[Any, ...] = ()


Conversation = Sequence[Seen]


def text_of(processor: Any, turns: Conversation, prefix: str = "") -> str:
    """The turns as the model's chat template shows them, up to where the answer begins.

    A model without a template gets plain text up to `prefix`. Raises BadInput for turns that the model cannot take.
    """
    marks = {"image": getattr(processor, "image_token", None), "video": getattr(processor, "video_token", None)}
    shown: list[tuple[str, list[str], str]] = []
    for turn in turns:
        media = ["image"] * len(turn.pictures) + ["video"] * len(turn.videos)
        if lacking := [kind for kind in media if not marks[kind]]:
            raise BadInput(f"the model takes no {lacking[0]}; for video, show pictures: input=frames.")
        text = turn.text
        for mark in filter(None, marks.values()):  # would stand for a picture
            text = text.replace(mark, " ".join([mark[:1], mark[1:-1], mark[-1:]]))
        shown.append((turn.role, media, text))
    if not processor.chat_template:
        return plain_text(
            ("".join([*(f"{marks[kind]}\n" for kind in media), text]) for _, media, text in shown), prefix
        )
    messages = [
        {"role": role, "content": [*({"type": kind} for kind in media), {"type": "text", "text": text}]}
        for role, media, text in shown
    ]
    try:
        found: str = processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    except Exception as problem:  # jinja2's errors, and what a template raises itself
        message = " ".join(str(problem).split())[:200]
        raise BadInput(f"the model's chat template cannot show the benchmark's turns ({message}).") from None
    return found


def tensors_of(processor: Any, texts: Sequence[str], conversations: Sequence[Conversation]) -> dict[str, torch.Tensor]:
    """The network's inputs, padded at the left. All conversations have pictures, or none; the same for videos."""
    pictures = [[picture for turn in turns for picture in turn.pictures] for turns in conversations]
    videos = [
        np.stack([np.asarray(f) for f in video]) for turns in conversations for turn in turns for video in turn.videos
    ]
    media: dict[str, Any] = {"images": pictures} if any(pictures) else {}
    media |= {"videos": videos, "do_sample_frames": False} if videos else {}
    tokenizer = processor.tokenizer
    tokenizer.padding_side = "left"
    written = bool(tokenizer.bos_token) and all(text.startswith(tokenizer.bos_token) for text in texts)
    more = {"add_special_tokens": False} if written else {}  # chat templates may write the first token themselves
    return dict(processor(text=list(texts), padding=True, return_tensors="pt", **media, **more))


def kinds_of(turns: Conversation) -> tuple[bool, bool]:
    """Whether there are pictures, and videos: what conversations of one batch have in common."""
    return any(turn.pictures for turn in turns), any(turn.videos for turn in turns)
