"""Models of transformers that read pictures or video with text and write text. The extra `image-text`.

Families: LLaVA, LLaVA-NeXT, Video-LLaVA, LLaVA-NeXT-Video, Qwen-VL, GLM-V and others that
`AutoModelForImageTextToText` loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import torch

from humor_tasks.errors import BadInput
from humor_tasks.models.devices import Batches, default_precision, pick_device
from humor_tasks.models.text.language import Continuation, Generation
from humor_tasks.models.text.pretrained import generate, open_network, open_processor
from humor_tasks.models.text.templates import fit_template, shown
from humor_tasks.rows.records import plain_text

# ---- turns as the text and the tensors of a processor ---------------------------------------------


class ModelTurn(NamedTuple):
    """A turn: its text, and before it pictures (RGB images) and videos (each a list of frames, RGB images)."""

    role: str
    text: str
    pictures: tuple[Any, ...] = ()
    videos: tuple[Any, ...] = ()


Conversation = Sequence[ModelTurn]


def text_of(processor: Any, turns: Conversation, prefix: str = "") -> str:
    """The turns as the model's chat template shows them, up to where the answer begins.

    A model without a template gets plain text up to `prefix`. Raises BadInput for turns that the model cannot take.
    """
    marks = {"image": getattr(processor, "image_token", None), "video": getattr(processor, "video_token", None)}
    parts: list[tuple[str, list[str], str]] = []
    for turn in turns:
        media = ["image"] * len(turn.pictures) + ["video"] * len(turn.videos)
        if lacking := [kind for kind in media if not marks[kind]]:
            raise BadInput(f"the model takes no {lacking[0]}; for video, show pictures: input=frames.")
        text = turn.text
        for mark in filter(None, marks.values()):  # would stand for a picture
            text = text.replace(mark, " ".join([mark[:1], mark[1:-1], mark[-1:]]))
        parts.append((turn.role, media, text))
    texts = ["".join([*(f"{marks[kind]}\n" for kind in media), text]) for _, media, text in parts]
    if not processor.chat_template:
        return plain_text(texts, prefix)
    if not fit_template(processor, parts=True).parts:
        return shown(processor, [{"role": turn.role, "content": text} for turn, text in zip(turns, texts, strict=True)])
    return shown(
        processor,
        [
            {"role": role, "content": [*({"type": kind} for kind in media), {"type": "text", "text": text}]}
            for role, media, text in parts
        ],
    )


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


# ---- the network ----------------------------------------------------------------------------------

ROWS = 8
"""Conversations at once by default; their pictures make them long."""
_PICTURE, _VIDEO = 600, 2000  # tokens, only to sort by


class ImageText:
    """A network with its processor. batch_size: conversations at once; fewer where memory runs out."""

    def __init__(
        self, network: Any, processor: Any, name: str, device: str | torch.device = "cpu", batch_size: int = 0
    ) -> None:
        self.network, self.processor, self.name = network, processor, name
        self.device = torch.device(device)
        self.batches = Batches(name, self.device, batch_size or ROWS)

    @classmethod
    def load(
        cls, name: str, device: str = "auto", precision: str = "", batch_size: int = 0, revision: str | None = None
    ) -> Self:
        """The model of a hub id or a folder. precision: fp32, fp16 or bf16. Raises BadInput for an unknown model."""
        where = pick_device(device, name)
        network = open_network(name, "image_text", precision or default_precision(where), revision).to(where).eval()
        return cls(network, open_processor(name, revision), name, where, batch_size)

    def generate(self, conversations: Sequence[Conversation], how: Generation, prefix: str = "") -> list[Continuation]:
        """One reply per conversation. With a temperature, it depends on the seed and the text, not on the batch.

        prefix: begins the answers of a model without a chat template. Raises BadInput for turns that the model cannot
        take.
        """
        rows = [(text_of(self.processor, turns, prefix), turns) for turns in conversations]
        replies: dict[int, Continuation] = {}
        for kinds in dict.fromkeys(map(kinds_of, conversations)):
            places = [i for i, turns in enumerate(conversations) if kinds_of(turns) == kinds]
            part = [rows[i] for i in places]
            texts = self.batches.run(partial(self._write, how), part, [_length(*row) for row in part])
            replies |= dict(zip(places, texts, strict=True))
        return [replies[i] for i in range(len(rows))]

    def _write(self, how: Generation, rows: Sequence[tuple[str, Conversation]]) -> list[Continuation]:
        texts = [text for text, _ in rows]
        inputs = on_device(tensors_of(self.processor, texts, [turns for _, turns in rows]), self.network, self.device)
        with torch.inference_mode():
            return generate(
                self.network, self.processor.tokenizer, inputs, texts, how, skip=inputs["input_ids"].shape[1]
            )


def on_device(tensors: dict[str, torch.Tensor], network: Any, device: torch.device) -> dict[str, torch.Tensor]:
    """The tensors on the device, pixels in the network's precision."""
    return {
        name: tensor.to(device, network.dtype if tensor.is_floating_point() else None)
        for name, tensor in tensors.items()
    }


def _length(text: str, turns: Conversation) -> int:
    return len(text) // 4 + sum(_PICTURE * len(turn.pictures) + _VIDEO * len(turn.videos) for turn in turns)
