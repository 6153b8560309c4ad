"""Training image-text models by the loop of text models; rows have pictures or clips, which are read batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from humor_tasks.contract.definition import Run
from humor_tasks.lab.training.evaluation import MODEL, Metrics, Recipe, train_run
from humor_tasks.lab.training.image_text.settings import ImageTextTrainConfig, benchmark_of
from humor_tasks.lab.training.loop import fit
from humor_tasks.lab.training.run_folders import check_base, record
from humor_tasks.lab.training.text.finetune import Trainer
from humor_tasks.lab.training.text.systems import IGNORED, Writer, adapt, base_of, padded
from humor_tasks.models.image_text import ModelTurn, on_device, tensors_of, text_of
from humor_tasks.models.text.causal import Pair, PairTokenizer, accepted
from humor_tasks.models.text.pretrained import open_network, open_processor
from humor_tasks.rows.media.frames import sample_frames
from humor_tasks.rows.records import Record, Turn
from humor_tasks.rows.trained_on import check_disjoint

# ---- rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """The runs of all sub-tasks for each split."""

    train: tuple[Run, ...]
    validation: tuple[Run, ...]

    @property
    def units(self) -> dict[str, list[str]]:
        """Split -> the units of its rows."""
        return {
            split: [unit for run in getattr(self, split) for unit in run.units] for split in ("train", "validation")
        }


def read_rows(config: ImageTextTrainConfig) -> Rows:
    """The rows. Raises BadInput where a split is missing or damaged, or shares a picture or clip with the other."""
    splits = [
        [benchmark_of(task).open(**config.parameters(split)) for task in config.task]
        for split in ("train", "validation")
    ]
    for task, *runs in zip(config.task, *splits, strict=True):
        clusters = {run.options.split: {record.cluster for record in run.records} for run in runs}
        check_disjoint(f"{config.dataset}, {task}", clusters, "picture or clip")
        for run in runs:
            run.check_media(run.records)
    return Rows(*map(tuple, splits))


def unread(turns: Sequence[Turn]) -> list[ModelTurn]:
    """The turns with pictures and clips that are not yet read, for their text."""
    return [
        ModelTurn(turn.role, turn.text, turn.pictures, (turn.clip,) if turn.clip and not turn.clip.frames else ())
        for turn in turns
    ]


def read(turns: Sequence[ModelTurn], frames: int) -> list[ModelTurn]:
    """The same turns with decoded pictures, and of each clip so many frames."""
    return [
        turn._replace(
            pictures=tuple(picture.open() for picture in turn.pictures),
            videos=tuple(
                [frame.image for frame in sample_frames(clip.read(), frames, where=clip.where)] for clip in turn.videos
            ),
        )
        for turn in turns
    ]


# ---- training ------------------------------------------------------------------------------------


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
        self.train_pairs = [pairs[0] for run in data.train for pairs in self._answered(run)]
        self.judged_pairs = [pairs for run in data.validation for pairs in self._answered(run)]

    def _answered(self, run: Run) -> list[list[Pair]]:
        return self.pairs(run, run.records, [[str(record.target)] for record in run.records], end=True)

    def pairs(
        self, run: Run, records: Sequence[Record], answers: Sequence[Sequence[str]], end: bool
    ) -> list[list[Pair]]:
        """See Writer. The model also writes the answer's prefix and the end token."""
        tokens, prefix = PairTokenizer(self.tokenizer, None), run.form.prefix
        pairs = []
        for row, of_row in zip(records, answers, strict=True):
            turns = unread(run.prompt(row).turns)
            prompt = text_of(self.processor, turns, prefix)
            space = "" if prompt[-1:].isspace() else " "
            begin = "" if prompt.endswith(prefix) else f"{prefix} "
            tokenized = [tokens(prompt, f"{space}{begin}{answer}", end=True) for answer in of_row]
            pairs.append([pair._replace(shown=(prompt, turns)) for pair in tokenized])
        return pairs

    def scored(self, model: Any, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
        """See Writer. Prompts are padded at the left and answers at the right."""
        texts, turns = zip(*(pair.shown for pair in pairs), strict=True)
        inputs = tensors_of(self.processor, texts, [read(of_row, self.frames) for of_row in turns])
        targets, mask = padded([pair.continuation for pair in pairs], IGNORED)
        shape, last = inputs["input_ids"].shape, targets.shape[1]
        # The last token of an answer is only predicted.
        more = {"input_ids": targets[:, :-1].clamp(min=0), "attention_mask": mask[:, :-1]}
        nothing = torch.zeros_like(more["input_ids"])
        longer = {
            name: torch.cat([tensor, more.get(name, nothing)], 1) if tensor.shape == shape else tensor
            for name, tensor in inputs.items()
        }
        network = base_of(self.network)
        keep = {"logits_to_keep": last} if "logits_to_keep" in accepted(network) else {}
        logits = model(**on_device(longer, network, self.device), **keep).logits
        return logits[:, -last:], targets.to(self.device)

    def save(self, folder: Path, state: dict[str, torch.Tensor]) -> None:
        """See System; the processor is saved too."""
        base_of(self.network).save_pretrained(folder, state_dict=state)
        self.processor.save_pretrained(folder)


# ---- runs ----------------------------------------------------------------------------------------


def train(config: ImageTextTrainConfig, output: Path, data: Rows | None = None, progress: bool = True) -> Metrics:
    """See `train_run`; `best` is the validation loss."""
    return train_run(_RECIPE, config, output, data, progress)


def summary(metrics: Metrics) -> list[str]:
    """The result in one line."""
    return [f"validation loss {metrics['best']:.5f}"]


def _fit(config: ImageTextTrainConfig, data: Rows, output: Path, progress: bool) -> Metrics:
    check_base(config.model, data.units)
    notes = fit(output, MODEL, lambda: ImageTextTrainer(config, data, output, progress))
    record(output / MODEL, ",".join(config.task), data.train[0].data.provenance, "", data.units, config.model)
    return notes


_RECIPE = Recipe(
    "image-text",
    read_rows,
    _fit,
    reached=lambda notes: -float(notes["best"]),
    evaluated=lambda config, data: {},
    rows=lambda data: {split: len(units) for split, units in data.units.items()},
)
