"""Fine-tuning OFA to answer questions about cartoons, in plain PyTorch, on one or several devices (`accelerate`).

Label-smoothed cross-entropy of the annotations; AdamW with warm-up, then linear decay; the epoch with the lowest
validation loss is kept. A batch is divided among the devices and its loss is the mean over all tokens, so the number of
devices and `micro_batch` change only the order of summation.

The backbone's BatchNorm keeps its stored statistics: a batch holds few distinct drawings, whose statistics would be
unreliable and different at inference. Input embeddings, output embeddings and output projection stay tied, in training
and in the saved file. The only randomness is the order of rows.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint
from tqdm import tqdm

from humor_tasks.models.ofa import Describer, Ofa
from humor_tasks.models.ofa.config import PAD
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.ofa.preprocessing import FAIRSEQ, HUGGING_FACE, record_size
from humor_tasks.models.pictures import to_device
from humor_tasks.training.loop import (
    Epochs,
    Part,
    accelerator_for,
    adamw,
    has_own_rows,
    plan,
    process_share,
    warm_then_linear,
)
from humor_tasks.training.ofa.config import OfaTrainConfig
from humor_tasks.training.ofa.data import Batches, Splits
from humor_tasks.training.ofa.features import Features, backbone

# ---- the network ---------------------------------------------------------------------------------
# The loss of OFA's answers, and activation checkpointing.


def smoothed_loss(logits: torch.Tensor, targets: torch.Tensor, smoothing: float) -> torch.Tensor:
    """The sum, over the non-padding tokens of targets [B, L], of their label-smoothed cross-entropy, in nats.

    For token t of V with log-probabilities p: -(1 - s) p[t] - s / (V - 1) * (the sum of the other p), where s is the
    smoothing. This is the criterion of fairseq and OFA's code. torch distributes s over all V tokens including t, so it
    is called with s' = s V / (V - 1), which gives the same loss.
    """
    size = logits.shape[-1]
    flat, wanted = logits.flatten(0, 1).float(), targets.flatten()
    spread = smoothing * size / (size - 1)
    return cross_entropy(flat, wanted, ignore_index=PAD, reduction="sum", label_smoothing=spread)


def checkpoint_activations(network: OfaNetwork) -> None:
    """Enable activation checkpointing for the parts of all layers and the blocks of the backbone."""
    for layer in (*network.encoder.layers, *network.decoder.layers):
        for part in ("attend", "feed_forward", "cross_attend"):
            if hasattr(layer, part):
                setattr(layer, part, _checkpointed(getattr(layer, part)))
    for stage in network.encoder.embed_images.stages:
        for block in getattr(network.encoder.embed_images, stage):
            block.forward = _checkpointed(block.forward)


def _checkpointed(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def wrapper(*given: Any) -> torch.Tensor:
        if not torch.is_grad_enabled():
            return function(*given)
        found: torch.Tensor = checkpoint(function, *given, use_reentrant=False)
        return found

    return wrapper


# ---- training ------------------------------------------------------------------------------------


class Trainer(Epochs):
    """Model, optimizer and rows of one fold."""

    CURVE = ("epoch", "step", "train_loss", "validation_loss", "validation_nll", "lr")

    def __init__(self, config: OfaTrainConfig, data: Splits, output: Path, progress: bool) -> None:
        self.config, self.output = config, output
        self.epochs, self.patience, (self.rate,) = config.epochs, config.patience, config.lr
        self.clip_norm = config.clip_norm
        self.accelerator = accelerator(config)
        self.progress = progress and self.accelerator.is_main_process
        self.describer = load_describer(config.pretrained, config, self.accelerator, config.model_revision)
        self.network = self.describer.ofa.network
        kept = Features(backbone(self.describer, self.accelerator.autocast), output) if config.freeze_resnet else None
        self.train_rows = Batches(data.train, self.describer, config.workers, kept)
        self.validation = Batches(data.validation, self.describer, config.workers, kept)
        if config.freeze_embeddings:
            self.network.encoder.embed_tokens.weight.requires_grad_(False)
        if config.freeze_resnet:
            self.network.encoder.embed_images.requires_grad_(False)
        if config.checkpointing:
            checkpoint_activations(self.network)
        self.optimizer = adamw(self.network, config, self.rate)
        self.steps = math.ceil(len(self.train_rows) / config.batch_size)

    def _epoch(self, epoch: int, model: Any, optimizer: Any) -> tuple[float, ...]:
        """Mean loss per token over one epoch, with changing weights."""
        config, process, processes = self.config, self.accelerator.process_index, self.accelerator.num_processes
        model.train()
        batches = plan(len(self.train_rows), config.batch_size, f"{config.seed}-{epoch}")
        total, seen = torch.zeros((), device=self.accelerator.device), 0
        name = f"fold {config.fold}, epoch {epoch + 1}/{config.epochs}"
        with tqdm(batches, name, disable=not self.progress, mininterval=1) as bar:
            for at, batch in enumerate(bar):
                for group in optimizer.param_groups:
                    group["lr"] = self._rate(epoch * self.steps + at)
                own, tokens = process_share(batch, process, processes), self.train_rows.tokens(batch)
                mine = has_own_rows(batch, process)
                parts = [Part(rows, mine) for rows in self.train_rows.parts(own, config.micro_batch)]
                total += self.update(parts, self._losses, tokens)
                seen += self.train_rows.tokens(own)
                self.progressed(bar, epoch, at, total, seen)
        everything = self.train_rows.tokens(range(len(self.train_rows)))
        return (float(self.accelerator.reduce(total, "sum")) / everything,)

    def _losses(self, part: Part) -> torch.Tensor:
        """The sum of the losses of these rows' tokens."""
        logits, answers = answer_logits(self.model, self.describer, self.train_rows, part.rows)
        return smoothed_loss(logits, answers, self.config.smoothing)

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The validation loss; the same, the loss without smoothing, and the learning rate."""
        found = losses(self.describer, self.validation, self.accelerator, self.config)
        return found["loss"], (found["loss"], found["nll"], self._rate(step - 1))

    def _save(self, folder: Path) -> None:
        """Write a checkpoint that `Ofa.load` reads: weights, configuration, vocabulary and picture size."""
        ofa = self.describer.ofa
        ofa.save(folder)
        record_size(folder, self.describer.pixels.size)
        assert ofa.folder is not None
        for name in next(names for names in (HUGGING_FACE, FAIRSEQ) if (ofa.folder / names[0]).is_file()):
            shutil.copyfile(ofa.folder / name, folder / name)

    def _notes(self) -> dict[str, Any]:
        return {"lr": self.rate}

    def _rate(self, step: int) -> float:
        config, steps = self.config, self.steps * self.epochs
        warm = max(1, round(config.warmup * steps))
        if config.decay == "constant" and step >= warm:
            return self.rate
        return self.rate * warm_then_linear(step, steps, config.warmup)


def accelerator(config: OfaTrainConfig) -> Accelerator:
    """An Accelerator. Raises BadInput for a device that is not available. BatchNorm buffers are not synchronised."""
    return accelerator_for(config.precision, config.device, "ofa", buffers=False)


def load_describer(
    name: str | Path, config: OfaTrainConfig, place: Accelerator, revision: str | None = None
) -> Describer:
    """The model on this process's device in fp32. Raises BadInput where it cannot be loaded or has no vocabulary."""
    ofa = Ofa.load(name, str(place.device), "fp32", revision)
    return Describer(ofa, config.image_size or None)


def answer_logits(
    model: Any, describer: Describer, rows: Batches, places: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of each next token of these rows' answers, and the target tokens; `model` may be a wrapped network."""
    tensors = rows.tensors(places)
    padded = bool((tensors[1] == PAD).any())  # before they are moved; a GPU would wait
    pictures, questions, answers = (to_device(tensor, describer.ofa.device) for tensor in tensors)
    if rows.features is not None:
        return model(questions, None, answers[:, :-1], features=pictures, padded=padded), answers[:, 1:]
    images = describer.pixels.normalised(pictures)
    return model(questions, images, answers[:, :-1], padded=padded), answers[:, 1:]


def losses(describer: Describer, rows: Batches, place: Accelerator, config: OfaTrainConfig) -> dict[str, Any]:
    """A split's losses per token: `loss` with smoothing, `nll` without, also by question. Processes divide the rows."""
    network = describer.ofa.network.eval()
    size = config.micro_batch or max(1, config.batch_size // place.num_processes)
    names = dict.fromkeys(row.question for row in rows.rows)
    sums = {name: [0.0, 0.0, 0] for name in names}
    process = range(place.process_index, len(rows), place.num_processes)
    with torch.inference_mode(), place.autocast():
        for name, found in sums.items():
            for part in rows.parts([i for i in process if rows.rows[i].question == name], size):
                logits, tokens = answer_logits(network, describer, rows, part)
                found[0] += float(smoothed_loss(logits, tokens, config.smoothing))
                found[1] += float(smoothed_loss(logits, tokens, 0.0))
                found[2] += rows.tokens(part)
    every = gather_object([sums])
    by = {name: [sum(column) for column in zip(*(one[name] for one in every), strict=True)] for name in names}
    loss, nll, count = (sum(column) for column in zip(*by.values(), strict=True))
    each = {name: found[1] / found[2] for name, found in by.items() if found[2]}
    return {"loss": loss / count, "nll": nll / count, "tokens": count, "nll_by_question": each}
