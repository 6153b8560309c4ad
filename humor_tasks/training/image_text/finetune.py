"""One training with one learning rate, by the loop of text models; rows have pictures or clips."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.records import Record
from humor_tasks.models.image_text import on_device, tensors_of, text_of
from humor_tasks.models.text.causal import Pair, PairTokenizer, accepted
from humor_tasks.models.text.pretrained import open_network, open_processor
from humor_tasks.training.image_text.config import ImageTextTrainConfig
from humor_tasks.training.image_text.data import Rows, read, unread
from humor_tasks.training.text.adapters import adapt, base_of
from humor_tasks.training.text.finetune import Trainer
from humor_tasks.training.text.systems import IGNORED, Writer, padded


class ImageTextTrainer(Trainer):
    """See Trainer; `data` are the `Rows` of all sub-tasks, in one random order."""

    def _opened(self, data: Any) -> ImageTextWriter:
        config: ImageTextTrainConfig = self.config
        precision = "bf16" if config.lora and config.precision == "bf16" else "fp32"
        network = open_network(config.model, "image_text", precision, config.model_revision)
        if config.checkpointing:
            network.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        torch.manual_seed(config.seed)  # for adapters
        if config.lora:
            network = adapt(network, config.lora, config.lora_alpha)
        system = ImageTextWriter(network, open_processor(config.model, config.model_revision), config.frames)
        system.prepare_all(data)
        self.kind, self.rows, self.judged = config.kind, len(system.train_pairs), len(system.judged_pairs)
        return system


class ImageTextWriter(Writer):
    """An image-text model that is trained to write the answer after the prompt. Pictures are read batch by batch."""

    def __init__(self, network: Any, processor: Any, frames: int) -> None:
        super().__init__(network, processor.tokenizer, is_open=True)
        self.processor, self.frames = processor, frames

    def prepare_all(self, data: Rows) -> None:
        """Tokenize all rows."""
        self.train_pairs = [own[0] for run in data.train for own in self._answered(run)]
        self.judged_pairs = [own for run in data.validation for own in self._answered(run)]

    def _answered(self, run: Run) -> list[list[Pair]]:
        return self.pairs(run, run.records, [[str(record.target)] for record in run.records], end=True)

    def pairs(
        self, run: Run, records: Sequence[Record], answers: Sequence[Sequence[str]], end: bool
    ) -> list[list[Pair]]:
        """See Writer. The model also writes the answer's prefix and the end token."""
        tokens, prefix = PairTokenizer(self.tokenizer, None), run.form.prefix
        found = []
        for record, own in zip(records, answers, strict=True):
            turns = unread(run.prompt(record).turns)
            prompt = text_of(self.processor, turns, prefix)
            space = "" if prompt[-1:].isspace() else " "
            begin = "" if prompt.endswith(prefix) else f"{prefix} "
            pairs = [tokens(prompt, f"{space}{begin}{answer}", end=True) for answer in own]
            found.append([pair._replace(shown=(prompt, turns)) for pair in pairs])
        return found

    def scored(self, model: Any, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
        """See Writer. Prompts are padded at the left and answers at the right."""
        texts, turns = zip(*(pair.shown for pair in pairs), strict=True)
        given = tensors_of(self.processor, texts, [read(each, self.frames) for each in turns])
        wanted, mask = padded([pair.continuation for pair in pairs], IGNORED)
        shape, last = given["input_ids"].shape, wanted.shape[1]
        # The last token of an answer is only predicted.
        more = {"input_ids": wanted[:, :-1].clamp(min=0), "attention_mask": mask[:, :-1]}
        nothing = torch.zeros_like(more["input_ids"])
        longer = {
            name: torch.cat([tensor, more.get(name, nothing)], 1) if tensor.shape == shape else tensor
            for name, tensor in given.items()
        }
        network = base_of(self.network)
        keep = {"logits_to_keep": last} if "logits_to_keep" in accepted(network) else {}
        logits = model(**on_device(longer, network, self.device), **keep).logits
        return logits[:, -last:], wanted.to(self.device)

    def save(self, folder: Path, state: dict[str, torch.Tensor]) -> None:
        """See System; the processor is saved too."""
        base_of(self.network).save_pretrained(folder, state_dict=state)
        self.processor.save_pretrained(folder)
