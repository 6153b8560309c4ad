"""Fine-tuning CLIP to choose captions, in plain PyTorch, on one or several devices (`accelerate launch`).

Cross-entropy over each picture's captions; AdamW with warm-up, then a constant learning rate; the epoch with the best
validation accuracy is kept. A batch is divided among the devices and its loss is the mean over all rows, so the number
of devices changes only the order of summation.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import normalize

from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.clip.data import Rows, Splits, augmented, read_splits
from humor_tasks.lab.training.clip.settings import ClipTrainConfig
from humor_tasks.lab.training.evaluation import MODEL, Metrics, Recipe, divided, evaluated, train_run
from humor_tasks.lab.training.evaluation import summary as summary
from humor_tasks.lab.training.loop import (
    Epochs,
    Part,
    accelerator_for,
    adamw,
    choice_loss,
    fit,
    share_of_rate,
)
from humor_tasks.lab.training.run_folders import check_base, record
from humor_tasks.models.choosers.chooser import best
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.clip.model import can_be_trimmed, lengths, trimmed
from humor_tasks.models.clip.weights import open_model
from humor_tasks.models.pictures import ahead, threads, to_device
from humor_tasks.rows.records import Record

# ---- LoRA ----------------------------------------------------------------------------------------
# Low-rank adapters, by peft, for CLIP's transformer blocks, and merging them.


def adapt(clip: Any, rank: int, alpha: int) -> Any:
    """Add LoRA adapters to `clip`; only they are trained. Returns the peft model; its outputs are unchanged at first.

    Adapted are the query, key and value weights of attention and the linear layers of the blocks. The output
    projections of torch's attention are not adapted: peft would add to the frozen weights and subtract again in every
    step, which does not restore them exactly. Raises BadInput for an architecture without transformer blocks.
    """
    from peft import LoraConfig, get_peft_model

    weights, layers = [], []
    for name, module in clip.named_modules():
        if isinstance(module, nn.MultiheadAttention) and module.in_proj_weight is not None:
            weights.append(f"{name}.in_proj_weight")
        elif type(module) is nn.Linear and "blocks." in name:
            layers.append(name)
    if not weights and not layers:
        raise BadInput("lora: this architecture has no transformer blocks to adapt; train it without lora.")
    config = LoraConfig(r=rank, lora_alpha=alpha or 2 * rank, target_modules=layers, target_parameters=weights)
    return get_peft_model(clip, config)


def merged(adapted: Any) -> Any:
    """A copy of the adapted model with the adapters merged into its weights, without peft modules."""
    return copy.deepcopy(adapted).merge_and_unload().requires_grad_(True)


# ---- the network ---------------------------------------------------------------------------------
# Logits over each picture's captions, and the limit of their scale.


class Choices(nn.Module):
    """open_clip's CLIP with one forward pass for both encoders, so that gradients of several devices are averaged."""

    def __init__(self, clip: Any) -> None:
        super().__init__()
        self.clip = clip
        self._trim = can_be_trimmed(clip)
        self._encode_text = trimmed(clip) if self._trim else clip.encode_text

    def forward(self, pixels: torch.Tensor, tokens: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
        """Logits [captions]: exp(logit_scale) * cosine(caption, its picture). A bias would not change the choice."""
        if self._trim:
            tokens = tokens[:, : int(lengths(tokens).max())]
        pictures = normalize(self.clip.encode_image(pixels).float(), dim=-1)
        captions = normalize(self._encode_text(tokens).float(), dim=-1)
        cosines = (pictures[owners] * captions).sum(1)
        return torch.as_tensor(self.clip.logit_scale.exp() * cosines)


def hold_scale(clip: Any, most: float) -> None:
    """Limit the learned logit scale, exp(logit_scale), to `most`; 0 is no limit."""
    if most:
        with torch.no_grad():
            clip.logit_scale.clamp_(max=math.log(most))


# ---- training ------------------------------------------------------------------------------------


class Trainer(Epochs):
    """Model, optimizer and rows of one training with one learning rate."""

    CURVE = ("epoch", "step", "train_loss", "train_accuracy", "validation_accuracy", "logit_scale", "lr")

    def __init__(self, config: ClipTrainConfig, data: Splits, output: Path, progress: bool) -> None:
        assert data.train is not None
        super().__init__(config, output, accelerator_for(config.precision, config.device, "clip"), progress)
        self.validation = data.validation
        self.clip_config = ClipConfig(
            config.pretrained,
            config.architecture,
            config.activation,
            fit=config.fit,
            prefix=config.prefix,
            precision="fp32",
            device=str(self.accelerator.device),
            workers=config.workers,
        )
        self.loaded = open_model(self.clip_config)
        self.clip = Clip(self.loaded, self.clip_config)
        self.train_rows = Rows(data.train, self.clip)
        torch.manual_seed(config.seed)  # adapters are initialised randomly
        self.adapted = adapt(self.clip.model, config.lora, config.lora_alpha) if config.lora else None
        if config.checkpointing:
            self.clip.model.set_grad_checkpointing(True)
        self.network = Choices(self.clip.model)
        self.optimizer = adamw(self.network, config, self.rate)
        self.rows = len(self.train_rows)
        self.steps = math.ceil(self.rows / config.batch_size)

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The number of wrong answers on validation; accuracy, logit scale and learning rate."""
        self.evaluated = self.inference_model()
        letters = answers(self.evaluated, self.validation)
        wrong = sum(letters[record.id] != record.target for record in self.validation.records)
        scale = float(self.clip.model.logit_scale.detach().exp())
        return wrong, ((len(letters) - wrong) / len(letters), scale, self.rate * self._share(step - 1))

    def _save(self, folder: Path) -> None:
        self.evaluated.save(folder)

    def _notes(self) -> dict[str, Any]:
        return {"lr": self.rate, "captions_cut": self.clip.summary()["captions_cut"]}

    def inference_model(self) -> Clip:
        """The current model for inference and saving; with adapters, a copy with the adapters merged."""
        self.network.eval()
        if self.adapted is None:
            self.clip.forget()
            return self.clip
        return Clip(replace(self.loaded, model=merged(self.adapted)), self.clip_config)

    def _planned(self, epoch: int) -> list[list[int]]:
        """The batches, whose augmented pictures are read ahead."""
        planned = super()._planned(epoch)
        rows = chain.from_iterable(part.rows for batch in planned for part in self._parts(batch)[0])
        workers, most = threads(self.config.workers), 2 * self.config.batch_size
        self.pictures = ahead(lambda row: self._augmented(row, epoch), rows, workers, most)
        return planned

    def _parts(self, batch: Sequence[int]) -> tuple[list[Part], int]:
        """Parts of at most `micro_batch` rows. A row's loss is over its own captions, so that any parts add up."""
        return self.divided(batch, self.config.micro_batch), len(batch)

    def update(self, parts: Sequence[Part], count: int) -> torch.Tensor:
        """A step, after which the logit scale is limited."""
        sums = super().update(parts, count)
        hold_scale(self.clip.model, self.config.max_scale or 0.0)
        return sums

    def _share(self, step: int) -> float:
        return share_of_rate(step, self.config.warmup)

    def _losses(self, part: Part) -> torch.Tensor:
        """The result of `choice_loss` for these rows."""
        pictures = np.stack(list(islice(self.pictures, len(part.rows))))
        tokens, captions = self.train_rows.captions(part.rows)
        owners = torch.repeat_interleave(torch.arange(len(part.rows)), torch.tensor(captions))
        targets = torch.tensor([self.train_rows.targets[row] for row in part.rows])
        device = self.accelerator.device
        on_device = [to_device(tensor, device) for tensor in (torch.from_numpy(pictures), tokens, owners, targets)]
        logits = self.model(self.clip.pixels.normalised(on_device[0]), *on_device[1:3])
        return choice_loss(logits, captions, on_device[3])

    def _augmented(self, row: int, epoch: int) -> np.ndarray[Any, Any]:
        record = self.train_rows.records[row]
        assert record.picture is not None
        seed = f"{self.config.seed}-{epoch}-{record.id}"
        return augmented(record.picture.open(), self.clip.pixels, self.config, seed, f"Picture {record.picture.where}")


def answers(clip: Clip, run: Run) -> dict[str, str]:
    """{instance_id: letter} of the highest logit, the first one on a tie; processes divide the rows."""

    def letters(records: Sequence[Record]) -> list[str]:
        scores = clip.score([record.picture for record in records], [record.choices for record in records])
        return [run.form.labels[best(choices)] for choices in scores]

    return divided(run, letters)


# ---- runs ----------------------------------------------------------------------------------------


def train(config: ClipTrainConfig, output: Path, data: Splits | None = None, progress: bool = True) -> Metrics:
    """See `train_run`.

    `validation` and `test` hold the results of `humor_tasks.evaluate` for predictions_SPLIT.json: metrics with standard
    errors, and their signature.
    """
    return train_run(_RECIPE, config, output, data, progress)


def _fit(config: ClipTrainConfig, data: Splits, output: Path, progress: bool) -> Metrics:
    """One fold at one learning rate. Predictions come from the saved model, as when it is loaded later."""
    assert data.train is not None
    units = {split: run.units for split, run in data.runs.items()}
    check_base(config.pretrained, units)
    notes = fit(output, MODEL, lambda: Trainer(config, data, output, progress))
    record(output / MODEL, config.task, data.train.data.provenance, config.fold, units, config.pretrained)
    device = str(accelerator_for(config.precision, config.device, "clip").device)
    clip = Clip.load(ClipConfig(str(output / MODEL), device=device, workers=config.workers))
    return notes | evaluated(
        output, data.evaluated, {split: answers(clip, run) for split, run in data.evaluated.items()}
    )


_RECIPE = Recipe(
    "clip",
    read_splits,
    _fit,
    reached=lambda metrics: float(metrics["validation"]["metrics"]["accuracy"]["value"]),
    evaluated=lambda config, data: data.evaluated,
    reported=("lr", "best_epoch", "epochs_run", "captions_cut"),
    rows=lambda data: {split: len(run.records) for split, run in data.runs.items()},
)
