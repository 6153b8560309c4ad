"""An image-text model with its processor: replies to conversations with pictures and videos, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import torch

from humor_tasks.models.devices import default_precision, pick_device
from humor_tasks.models.image_text.conversation import Conversation, kinds_of, tensors_of, text_of
from humor_tasks.models.text.batches import Batches
from humor_tasks.models.text.language import Generation, Written
from humor_tasks.models.text.opening import open_network, open_processor
from humor_tasks.models.text.sampling import arguments, written

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

    def generate(self, conversations: Sequence[Conversation], how: Generation, prefix: str = "") -> list[Written]:
        """One reply per conversation. With a temperature, it depends on the seed and the text, not on the batch.

        prefix: begins the answers of a model without a chat template. Raises BadInput for turns that the model cannot
        take.
        """
        rows = [(text_of(self.processor, turns, prefix), turns) for turns in conversations]
        found: dict[int, Written] = {}
        for kinds in dict.fromkeys(map(kinds_of, conversations)):
            places = [i for i, turns in enumerate(conversations) if kinds_of(turns) == kinds]
            some = [rows[i] for i in places]
            made = self.batches.run(lambda part: self._write(part, how), some, [_length(*row) for row in some])
            found |= dict(zip(places, made, strict=True))
        return [found[i] for i in range(len(rows))]

    def _write(self, rows: Sequence[tuple[str, Conversation]], how: Generation) -> list[Written]:
        texts = [text for text, _ in rows]
        given = on_device(tensors_of(self.processor, texts, [turns for _, turns in rows]), self.network, self.device)
        tokenizer, read = self.processor.tokenizer, given["attention_mask"].sum(1).tolist()
        more = arguments(how, texts, self.device) | {"pad_token_id": tokenizer.pad_token_id}
        with torch.inference_mode():
            made = self.network.generate(**given, **more)[:, given["input_ids"].shape[1] :].tolist()
        ends = self.network.generation_config.eos_token_id or tokenizer.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends])
        return [written(tokenizer, count, own, stops) for count, own in zip(read, made, strict=True)]


def on_device(tensors: dict[str, torch.Tensor], network: Any, device: torch.device) -> dict[str, torch.Tensor]:
    """The tensors on the device, pixels in the network's precision."""
    return {
        name: tensor.to(device, network.dtype if tensor.is_floating_point() else None)
        for name, tensor in tensors.items()
    }


def _length(text: str, turns: Conversation) -> int:
    return len(text) // 4 + sum(_PICTURE * len(turn.pictures) + _VIDEO * len(turn.videos) for turn in turns)
