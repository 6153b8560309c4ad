"""Fine-tuning an OFA to answer questions about cartoons, in plain PyTorch, on as many devices as `accelerate` gives.

Label-smoothed cross-entropy of the annotations; AdamW with warm-up, then linear decay; the epoch with the least
validation loss is kept. A batch is spread over the devices and its loss is the mean over all of its tokens, so that
neither their number nor `micro_batch` changes anything but the order of sums.

The backbone's BatchNorm keeps the statistics that it came with: a batch has a few drawings, most of them several
times, whose own mean and deviation say little and would not be there when the model is asked. Tokens read, written
and chosen from share one table, in training as in the file. Nothing is drawn by chance but the order of rows.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from tqdm import tqdm

from humor_tasks.models.descriptions import QUESTIONS
from humor_tasks.models.ofa import Describer, Ofa
from humor_tasks.models.ofa.pixels import record_size
from humor_tasks.models.ofa.tokenizer import FAIRSEQ, HUGGING_FACE
from humor_tasks.training.loop import Epochs, accelerator_for, adamw, counts, moved, plan, share, warm_then_linear
from humor_tasks.training.ofa.config import OfaTrainConfig
from humor_tasks.training.ofa.data import Batches, Splits
from humor_tasks.training.ofa.network import smoothed_loss, spare_memory


class Trainer(Epochs):
    """Model, optimiser and rows of one fold."""

    CURVE = ("epoch", "step", "train_loss", "validation_loss", "validation_nll", "lr")

    def __init__(self, config: OfaTrainConfig, data: Splits, output: Path, progress: bool) -> None:
        self.config, self.output = config, output
        self.epochs, self.patience, self.rate = config.epochs, config.patience, config.lr
        self.accelerator = accelerator(config)
        self.progress = progress and self.accelerator.is_main_process
        self.describer = opened(config.pretrained, config, self.accelerator, config.model_revision)
        self.network = self.describer.ofa.network
        self.train_rows = Batches(data.train, self.describer, config.workers)
        self.validation = Batches(data.validation, self.describer, config.workers)
        if config.freeze_embeddings:
            self.network.encoder.embed_tokens.weight.requires_grad_(False)
        if config.checkpointing:
            spare_memory(self.network)
        self.optimizer = adamw(self.network, config, config.lr)
        self.steps = math.ceil(len(self.train_rows) / config.batch_size)

    def _epoch(self, epoch: int, model: Any, optimizer: Any) -> tuple[float, ...]:
        """Mean loss of a token over one epoch, over changing weights."""
        config, mine, processes = self.config, self.accelerator.process_index, self.accelerator.num_processes
        model.train()
        batches = plan(len(self.train_rows), config.batch_size, f"{config.seed}-{epoch}")
        total, seen = torch.zeros((), device=self.accelerator.device), 0
        name = f"fold {config.fold}, epoch {epoch + 1}/{config.epochs}"
        with tqdm(batches, name, disable=not self.progress, mininterval=1) as bar:
            for at, batch in enumerate(bar):
                for group in optimizer.param_groups:
                    group["lr"] = self._rate(epoch * self.steps + at)
                own, tokens = share(batch, mine, processes), self.train_rows.tokens(batch)
                # Gradients are averaged over processes, once they have all their parts.
                weight = processes * counts(batch, mine) / tokens
                parts = self.train_rows.parts(own, config.micro_batch)
                for part in parts:
                    last = part is parts[-1]
                    with nullcontext() if last else self.accelerator.no_sync(model):
                        logits, answers = written(model, self.describer, self.train_rows, part)
                        loss = smoothed_loss(logits, answers, config.smoothing)
                        self.accelerator.backward(loss * weight)
                    total += loss.detach() * counts(batch, mine)
                if config.clip_norm:
                    self.accelerator.clip_grad_norm_(model.parameters(), config.clip_norm)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                seen += self.train_rows.tokens(own)
                if at % 20 == 0:
                    bar.set_postfix(loss=f"{float(total) / seen:.4f}")
        everything = self.train_rows.tokens(range(len(self.train_rows)))
        return (float(self.accelerator.reduce(total, "sum")) / everything,)

    def _judged(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The validation loss; it, the same without smoothing, and the learning rate."""
        found = losses(self.describer, self.validation, self.accelerator, self.config)
        return found["loss"], (found["loss"], found["nll"], self._rate(step - 1))

    def _save(self, folder: Path) -> None:
        """A checkpoint that `Ofa.load` reads: weights, configuration, vocabulary, and the size of pictures."""
        ofa = self.describer.ofa
        ofa.save(folder)
        record_size(folder, self.describer.pixels.size)
        assert ofa.folder is not None
        for name in next(names for names in (HUGGING_FACE, FAIRSEQ) if (ofa.folder / names[0]).is_file()):
            shutil.copyfile(ofa.folder / name, folder / name)

    def _rate(self, step: int) -> float:
        config, steps = self.config, self.steps * self.epochs
        warm = max(1, round(config.warmup * steps))
        if config.decay == "constant" and step >= warm:
            return config.lr
        return config.lr * warm_then_linear(step, steps, config.warmup)


def accelerator(config: OfaTrainConfig) -> Accelerator:
    """Raises BadInput for a device that this machine has not. The backbone's statistics do not change."""
    return accelerator_for(config.precision, config.device, "ofa", buffers=False)


def opened(name: str | Path, config: OfaTrainConfig, place: Accelerator, revision: str | None = None) -> Describer:
    """The model on this process's device in fp32. Raises BadInput where it is none, or has no vocabulary."""
    ofa = Ofa.load(name, str(place.device), "fp32", revision)
    return Describer(ofa, config.image_size or None)


def written(
    model: Any, describer: Describer, rows: Batches, places: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of each next token of these rows' answers, and the tokens; `model` is the network, or what wraps it."""
    pictures, questions, answers = (moved(tensor, describer.ofa.device) for tensor in rows.tensors(places))
    return model(questions, describer.pixels.normalised(pictures), answers[:, :-1]), answers[:, 1:]


def losses(describer: Describer, rows: Batches, place: Accelerator, config: OfaTrainConfig) -> dict[str, Any]:
    """Of a split, a token: `loss` with smoothing, `nll` without, and that by question. The processes share the rows."""
    network = describer.ofa.network.eval()
    size = config.micro_batch or max(1, config.batch_size // place.num_processes)
    sums = {name: [0.0, 0.0, 0] for name in QUESTIONS}
    mine = range(place.process_index, len(rows), place.num_processes)
    with torch.inference_mode(), place.autocast():
        for name, found in sums.items():
            for part in rows.parts([i for i in mine if rows.rows[i].question == name], size):
                logits, tokens = written(network, describer, rows, part)
                found[0] += float(smoothed_loss(logits, tokens, config.smoothing))
                found[1] += float(smoothed_loss(logits, tokens, 0.0))
                found[2] += rows.tokens(part)
    every = gather_object([sums])
    by = {name: [sum(column) for column in zip(*(one[name] for one in every), strict=True)] for name in QUESTIONS}
    loss, nll, count = (sum(column) for column in zip(*by.values(), strict=True))
    each = {name: found[1] / found[2] for name, found in by.items() if found[2]}
    return {"loss": loss / count, "nll": nll / count, "tokens": count, "nll_by_question": each}
