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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.contract.definition import Run
from humor_tasks.lab.training import evaluation
from humor_tasks.lab.training.evaluation import (
    MODEL,
    SPLITS,
    Metrics,
    Recipe,
    divided,
    evaluated,
    perplexities,
    train_run,
)
from humor_tasks.lab.training.loop import (
    Epochs,
    Part,
    accelerator_for,
    adamw,
    fit,
    warm_then_linear,
)
from humor_tasks.lab.training.ofa.data import Batches, Features, Splits, answered, backbone, opened, read_splits
from humor_tasks.lab.training.ofa.settings import OfaTrainConfig
from humor_tasks.lab.training.run_folders import check_base, record
from humor_tasks.models.ofa import Describer, Ofa
from humor_tasks.models.ofa.config import PAD
from humor_tasks.models.ofa.network import OfaNetwork
from humor_tasks.models.ofa.preprocessing import FAIRSEQ, HUGGING_FACE, record_size
from humor_tasks.models.pictures import to_device
from humor_tasks.rows.records import Record

LONGEST = 256
"""The most tokens of a written answer, if the network has so many positions."""

# ---- the network ---------------------------------------------------------------------------------
# The loss of OFA's answers, and activation checkpointing.


def smoothed_loss(logits: torch.Tensor, targets: torch.Tensor, smoothing: float) -> torch.Tensor:
    """The sum, over the non-padding tokens of targets [B, L], of their label-smoothed cross-entropy, in nats.

    For token t of V with log-probabilities p: -(1 - s) p[t] - s / (V - 1) * (the sum of the other p), where s is the
    smoothing. This is the criterion of fairseq and OFA's code. torch distributes s over all V tokens including t, so it
    is called with s' = s V / (V - 1), which gives the same loss.
    """
    size = logits.shape[-1]
    flat_logits, flat_targets = logits.flatten(0, 1).float(), targets.flatten()
    spread = smoothing * size / (size - 1)
    return cross_entropy(flat_logits, flat_targets, ignore_index=PAD, reduction="sum", label_smoothing=spread)


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
    def wrapper(*arguments: Any) -> torch.Tensor:
        if not torch.is_grad_enabled():
            return function(*arguments)
        result: torch.Tensor = checkpoint(function, *arguments, use_reentrant=False)
        return result

    return wrapper


# ---- training ------------------------------------------------------------------------------------


class Trainer(Epochs):
    """Model, optimizer and rows of one fold."""

    CURVE = ("epoch", "step", "train_loss", "validation_loss", "validation_nll", "lr")

    def __init__(self, config: OfaTrainConfig, data: Splits, output: Path, progress: bool) -> None:
        super().__init__(config, output, accelerator(config), progress)
        self.describer = load_describer(config.pretrained, config, self.accelerator, config.model_revision)
        self.network = self.describer.ofa.network
        features = backbone(self.describer, self.accelerator.autocast)
        frozen = Features(features, output) if config.freeze_resnet else None
        self.train_rows = Batches(data.train, self.describer, config.workers, frozen)
        self.validation = Batches(data.validation, self.describer, config.workers, frozen)
        if config.freeze_embeddings:
            self.network.encoder.embed_tokens.weight.requires_grad_(False)
        if config.freeze_resnet:
            self.network.encoder.embed_images.requires_grad_(False)
        if config.checkpointing:
            checkpoint_activations(self.network)
        self.optimizer = adamw(self.network, config, self.rate)
        self.rows = len(self.train_rows)
        self.steps = math.ceil(self.rows / config.batch_size)

    def _parts(self, batch: Sequence[int]) -> tuple[list[Part], int]:
        """The process's rows in parts with questions of equal length."""
        (share,) = self.divided(batch)
        parts = self.train_rows.parts(share.rows, self.config.micro_batch)
        return [Part(rows, share.counts) for rows in parts], self.train_rows.tokens(batch)

    def _losses(self, part: Part) -> torch.Tensor:
        """The sum of the losses of these rows' tokens."""
        logits, answers = answer_logits(self.model, self.describer, self.train_rows, part.rows)
        return smoothed_loss(logits, answers, self.config.smoothing)

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The validation loss; the same, the loss without smoothing, and the learning rate."""
        split = losses(self.describer, self.validation, self.accelerator, self.config)
        return split["loss"], (split["loss"], split["nll"], self.rate * self._share(step - 1))

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

    def _share(self, step: int) -> float:
        config, steps = self.config, self.steps * self.epochs
        if config.decay == "constant" and step >= max(1, round(config.warmup * steps)):
            return 1.0
        return warm_then_linear(step, steps, config.warmup)


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
        for name, question in sums.items():
            for part in rows.parts([i for i in process if rows.rows[i].question == name], size):
                logits, tokens = answer_logits(network, describer, rows, part)
                question[0] += float(smoothed_loss(logits, tokens, config.smoothing))
                question[1] += float(smoothed_loss(logits, tokens, 0.0))
                question[2] += rows.tokens(part)
    every = gather_object([sums])
    by = {name: [sum(column) for column in zip(*(one[name] for one in every), strict=True)] for name in names}
    loss, nll, count = (sum(column) for column in zip(*by.values(), strict=True))
    nll_by_question = {name: total / tokens for name, (_, total, tokens) in by.items() if tokens}
    return {"loss": loss / count, "nll": nll / count, "tokens": count, "nll_by_question": nll_by_question}


# ---- runs ----------------------------------------------------------------------------------------


def train(
    config: OfaTrainConfig, output: Path, data: Mapping[str, Splits] | None = None, progress: bool = True
) -> Metrics:
    """See `train_run`. data: rows by fold, if already read.

    `validation` and `test` hold the results of `losses`, with fold=all as unweighted means over folds; of a task that
    is learned itself also the results of `humor_tasks.evaluate` for predictions_SPLIT.json, and the `perplexity` of the
    references.
    """
    return train_run(_RECIPE, config, output, data, progress)


def summary(metrics: Metrics) -> list[str]:
    """The losses and scores, one a line."""
    return evaluation.summary(metrics, ("loss", "nll"))


def _read(config: OfaTrainConfig) -> dict[str, Splits]:
    folds = FOLDS if config.fold == "all" else (config.fold,)
    return {fold: read_splits(config.with_values(fold=fold)) for fold in folds}


def _fit(config: OfaTrainConfig, data: Mapping[str, Splits], output: Path, progress: bool) -> Metrics:
    """One fold at one learning rate. The saved model is evaluated, as when it is loaded later."""
    splits = data[config.fold]
    units = splits.units(config.task)
    check_base(config.pretrained, units)
    notes = fit(output, MODEL, lambda: Trainer(config, splits, output, progress))
    record(output / MODEL, config.task, splits.source, config.fold, units, config.pretrained)
    place = accelerator(config)
    describer = load_describer(output / MODEL, config, place)
    results = {
        split: losses(describer, Batches(getattr(splits, split), describer, config.workers), place, config)
        for split in SPLITS
    }
    replies = {split: divided(run, partial(_written, describer, run)) for split, run in splits.runs.items()}
    for split, scores in evaluated(output, splits.runs, replies).items():
        run = splits.runs[split]
        results[split] |= scores | {"perplexity": perplexities(run, partial(_likelihoods, describer, run))}
    rows = {split: len(getattr(splits, split)) for split in ("train", *SPLITS)}
    return notes | results | {"rows": rows}


def _evaluated(config: OfaTrainConfig, data: Mapping[str, Splits]) -> Mapping[str, Run]:
    if config.fold != "all":
        return data[config.fold].runs
    return {split: opened(config, split, "pixels") for split in SPLITS if config.is_open}


_RECIPE = Recipe(
    "ofa",
    _read,
    _fit,
    reached=lambda metrics: -metrics["validation"]["loss"],
    evaluated=_evaluated,
    reported=("lr", "best_epoch", "epochs_run", "rows"),
    of_fold=lambda data, fold: {fold: data[fold]},
    means=("loss", "nll"),
    one_rate=True,
)


def _written(describer: Describer, run: Run, records: Sequence[Record]) -> list[str]:
    """The answers by beam search."""
    rows = [answered(run, record) for record in records]
    settings = replace(describer.settings, max_len=min(LONGEST, describer.ofa.config.most_tokens - 1))
    wheres = [f"contest {row.contest}" for row in rows]
    return describer.answer([row.picture for row in rows], [row.question_text for row in rows], settings, wheres)


def _likelihoods(describer: Describer, run: Run, records: Sequence[Record]) -> list[tuple[float, int]]:
    """For `perplexities`."""
    rows = [answered(run, record) for record in records]
    texts = [f" {row.answer}" for row in rows]
    scored = describer.loglikelihoods([row.picture for row in rows], [row.question_text for row in rows], texts)
    counts = [len(describer.tokenizer.encode(text, marks=False)) - 2 for text in texts]  # without begin and end
    return [(logprob, count) for (logprob, _), count in zip(scored, counts, strict=True)]
