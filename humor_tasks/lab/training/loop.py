"""The training loop by epochs, on several devices: resumes from the last checkpoint and keeps the best weights."""

from __future__ import annotations

import atexit
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedDataParallelKwargs, InitProcessGroupKwargs, KwargsHandler
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import write_table
from humor_tasks.lab.training.checkpoint import (
    NOTES,
    State,
    best_folder,
    finish,
    restore_checkpoint,
    save_checkpoint,
    seed_epoch,
    tidy,
    write_folder,
)
from humor_tasks.lab.training.run_folders import CURVES, IS_MAIN
from humor_tasks.lab.training.sharding import check, full_weights, is_sharded, make_ready, requested
from humor_tasks.models.devices import pick_device

_INTERVAL = 20
"""Steps between two readings of the loss; a reading waits for the device."""


class Part(NamedTuple):
    """Rows of a batch that go through the network together. counts: False for rows that only fill up, with weight 0."""

    rows: list[int]
    counts: bool = True


class Epochs(ABC):
    """A training loop. A subclass sets the attributes declared here, computes the losses, evaluates and saves the
    network.

    `rows` is the number of training rows, `steps` that of steps per epoch. Of equally good epochs the first is kept.

    A network may be divided among processes (FSDP2, DeepSpeed ZeRO-3) where the subclass passes `sharded=True` to
    `accelerator_for`, and evaluates with `self.model` under `torch.no_grad()`, with the same number of forward passes
    in every process (`process_parts`).
    """

    CURVE: ClassVar[tuple[str, ...]]
    """Columns of curves.csv: epoch, step, the means of `_losses`, the values of `_evaluate`."""
    output: Path
    accelerator: Accelerator
    network: Any
    optimizer: torch.optim.Optimizer
    rows: int
    steps: int
    epochs: int
    patience: int
    """Early stopping: epochs without improvement; 0 disables it."""
    rate: float
    """The learning rate, for messages."""
    clip_norm: float = 0.0
    """The greatest norm of the gradient in `update`; 0: no clipping."""
    model: Any
    """The prepared network: what `_losses` calls. Set by `train`."""
    best: float
    """The best monitored value, also before an interruption. Set by `train`."""
    weights: dict[str, torch.Tensor] | None = None
    """In `_save`: the whole network's state dict where it is divided among processes, or else None."""

    def __init__(self, config: Any, output: Path, accelerator: Accelerator, progress: bool) -> None:
        """Set what the settings say; the subclass sets the rest."""
        self.config, self.output, self.accelerator = config, output, accelerator
        self.progress = progress and accelerator.is_main_process
        self.epochs, self.patience, self.clip_norm = config.epochs, config.patience, getattr(config, "clip_norm", 0.0)
        self.rate = config.lr[0] if isinstance(config.lr, tuple) else config.lr

    @abstractmethod
    def _losses(self, part: Part) -> torch.Tensor:
        """The sum of the losses of a part's tokens, or rows; [k] with the sums of further values for the curve."""

    @abstractmethod
    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The monitored value after `step` steps (lower is better), and further values for the curve."""

    @abstractmethod
    def _save(self, folder: Path) -> None:
        """Save the model that was evaluated last."""

    def _notes(self) -> dict[str, Any]:
        """Additional entries for the notes of a finished training."""
        return {}

    def _share(self, step: int) -> float:
        """The fraction of the learning rate at a step, from 0."""
        return 1.0

    def _planned(self, epoch: int) -> list[list[int]]:
        """The batches of epoch number `epoch`, from 0."""
        return plan(self.rows, self.config.batch_size, f"{self.config.seed}-{epoch}")

    def _parts(self, batch: Sequence[int]) -> tuple[list[Part], int]:
        """This process's parts of a batch, and the tokens, or rows, of the whole batch in all processes."""
        return self.divided(batch), len(batch)

    def train(self) -> State:
        """Train from the last checkpoint to the last epoch or early stopping."""
        shards = self.accelerator if is_sharded(self.accelerator) else None
        if shards:
            make_ready(shards, self.network, self.clip_norm)
        self.model, self._prepared = self.accelerator.prepare(self.network, self.optimizer)
        state = restore_checkpoint(self.output, self.network, self._prepared, self.accelerator)
        if self.accelerator.is_main_process:
            write_table(self.output / CURVES, self.CURVE, state.curve)  # marks the folder as used by this run
        while state.epoch < self.epochs and not 0 < self.patience <= state.epoch - state.best_epoch:
            means = self._epoch(state.epoch)
            state.epoch += 1
            self._check(means[0], f"epoch {state.epoch}")
            step = self.steps * state.epoch
            value, row = self._evaluate(step)
            if not state.curve or value < state.best:
                state.best, state.best_epoch = value, state.epoch
            state.curve.append([state.epoch, step, *means, *row])
            self._write(state, shards)
        self.best = state.best
        return state

    def _epoch(self, epoch: int) -> tuple[float, ...]:
        """Train epoch number `epoch`, from 0; the means of `_losses`."""
        processes = self.accelerator.num_processes
        seed_epoch(self.config.seed, epoch, self.accelerator.process_index)
        self.model.train()
        total, units = torch.zeros((), device=self.accelerator.device), 0
        fold = f"fold {self.config.fold}, " if hasattr(self.config, "fold") else ""
        name = f"{fold}lr {self.rate}, epoch {epoch + 1}/{self.epochs}"
        with tqdm(self._planned(epoch), name, disable=not self.progress, mininterval=1) as bar:
            for at, batch in enumerate(bar):
                for group in self._prepared.param_groups:  # before the step: DeepSpeed takes it in a backward pass
                    group["lr"] = group.get("base_lr", self.rate) * self._share(epoch * self.steps + at)
                parts, count = self._parts(batch)
                total = total + self.update(parts, count)
                units += count
                if at % _INTERVAL == 0:
                    mean = float(total.reshape(-1)[0]) * processes / units
                    self._check(mean, f"epoch {epoch + 1}, by step {at + 1} of {self.steps}")
                    bar.set_postfix(loss=f"{mean:.4f}")
        sums = self.accelerator.reduce(total, "sum").reshape(-1).tolist()
        return tuple(value / units for value in sums)

    def update(self, parts: Sequence[Part], count: int) -> torch.Tensor:
        """One step of the optimizer on a batch, part by part (gradient accumulation). Returns the process's `_losses`.

        The gradient is that of the mean loss over the `count` tokens, or rows, of the whole batch, for any number of
        parts and of processes. Networks divided among processes need the same number of parts in each (`divided`).
        """
        accelerator, total = self.accelerator, torch.zeros((), device=self.accelerator.device)
        shards = is_sharded(accelerator)
        for part in parts:
            last = part is parts[-1]
            accelerator.sync_gradients = last  # tells DeepSpeed when to step
            # A divided network reduces each part's gradient, or else every process would hold the whole gradient.
            with nullcontext() if last or shards else accelerator.no_sync(self.model):
                sums = self._losses(part)
                # Gradients are averaged over processes.
                accelerator.backward(sums.reshape(-1)[0] * (accelerator.num_processes * part.counts / count))
            total = total + sums.detach() * part.counts
        if self.clip_norm:
            accelerator.clip_grad_norm_(self.model.parameters(), self.clip_norm)
        self._prepared.step()
        self._prepared.zero_grad(set_to_none=True)
        return total

    def divided(self, rows: Sequence[int], most: int = 0) -> list[Part]:
        """This process's `process_parts` of the rows."""
        return process_parts(rows, self.accelerator.process_index, self.accelerator.num_processes, most)

    def _check(self, loss: float, where: str) -> None:
        if not math.isfinite(loss):
            raise BadInput(f"lr={self.rate}: the loss is {loss} in {where}; use a lower learning rate.")

    def _write(self, state: State, shards: Accelerator | None) -> None:
        """Write the epoch's best weights, curve and checkpoint."""
        is_main = self.accelerator.is_main_process
        if state.best_epoch == state.epoch:
            if shards:
                self.weights = full_weights(shards, self.network, self.model)
            write_folder(best_folder(self.output, state), self._save if is_main else lambda _: None, self.accelerator)
            self.weights = None
        if is_main:
            write_table(self.output / CURVES, self.CURVE, state.curve)
        save_checkpoint(self.output, state, self.network, self._prepared, self.accelerator)
        self.accelerator.wait_for_everyone()


def fit(output: Path, name: str, prepared: Callable[[], Epochs]) -> dict[str, Any]:
    """Train unless that is done, and leave the best epoch's model in `output`/`name`. Returns the training's notes."""
    if not (output / name).is_dir():
        trainer = prepared()
        state = trainer.train()
        if trainer.accelerator.is_main_process:
            notes = {"best_epoch": state.best_epoch, "epochs_run": state.epoch}
            finish(output, state, name, notes | trainer._notes())
        trainer.accelerator.wait_for_everyone()
        trainer.accelerator.free_memory()
    elif IS_MAIN:
        tidy(output)
    return json_object(output / NOTES)


def accelerator_for(
    precision: str, device: str = "auto", who: str = "training", buffers: bool = True, sharded: bool = False
) -> Accelerator:
    """An Accelerator. precision: no or bf16. buffers: whether processes synchronise the network's buffers at every
    step. sharded: whether this training can divide its network among processes, if the launch says so.

    Create it before the network, which FSDP and DeepSpeed load in their own way. Raises BadInput for a device that is
    not available, and for a launch with FSDP or DeepSpeed that this training cannot use as it is configured.
    """
    place, route = pick_device(device, who), requested()
    if route and not sharded:
        raise BadInput(f"{who}: each process trains the whole network; launch it without {route}.")
    # An earlier training may have used another precision; FSDP can only be chosen anew with the processes' state.
    AcceleratorState._reset_state(reset_partial_state=bool(route))
    # Some parameters get no gradient: poolers, a logit bias, the positions of image codes.
    options: list[KwargsHandler] = [
        DistributedDataParallelKwargs(find_unused_parameters=True, broadcast_buffers=buffers)
    ]
    cpu = place.type == "cpu"
    if route and cpu:  # with cpu=True accelerate ignores DeepSpeed
        options.append(InitProcessGroupKwargs(backend="gloo"))
    accelerator = Accelerator(mixed_precision=precision, cpu=cpu and not route, kwargs_handlers=options)
    # A process group that is still open when Python exits sometimes aborts the process, after all work is done.
    atexit.register(accelerator.end_training)
    if route:
        check(accelerator, precision)
    return accelerator


def adamw(network: torch.nn.Module, config: Any, rate: float) -> torch.optim.AdamW:
    """AdamW for the trainable parameters, with the configuration's betas, eps and weight decay."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    betas = (config.beta1, config.beta2)
    return torch.optim.AdamW(
        trained, lr=rate, betas=betas, eps=config.eps, weight_decay=config.weight_decay, fused=True
    )


def plan(rows: int, size: int, seed: str) -> list[list[int]]:
    """Batches of all rows in random order; the last one may be smaller."""
    order = list(range(rows))
    random.Random(seed).shuffle(order)
    return [order[start : start + size] for start in range(0, rows, size)]


def process_parts(batch: Sequence[int], process: int, processes: int, most: int = 0) -> list[Part]:
    """A process's rows of a batch in parts of at most `most` rows (0: one part), as many parts in every process.

    Parts keep the batch's order. Where a process has too few rows, the batch's first row fills up, with counts=False.
    """
    share, largest = batch[process::processes], -(-len(batch) // processes)
    size = most or max(1, largest)
    cut = (list(share[start : start + size]) for start in range(0, largest, size))
    return [Part(rows, True) if rows else Part(list(batch[:1]), False) for rows in cut]


def warm_then_linear(step: int, steps: int, warmup: float) -> float:
    """The fraction of the learning rate at step `step` of `steps`, from 0; `warmup` is a fraction of the steps.

    (step + 1) / w in the first w = max(1, round(warmup * steps)) steps, then (steps - step) / (steps - w): the last
    step of the warm-up has the full rate, and the step after the last would have 0.
    """
    warm = max(1, round(warmup * steps))
    return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))


def share_of_rate(step: int, warmup: int) -> float:
    """min(1, step / warmup), as in the released code; the first step, 0, has a learning rate of 0."""
    return min(1.0, step / warmup) if warmup else 1.0


def choice_loss(logits: torch.Tensor, counts: Sequence[int], targets: torch.Tensor) -> torch.Tensor:
    """[2]: the sum over rows of -log softmax(the row's logits)[target], and the number of correct rows.

    logits: those of the first row's captions, then the second's, and so on; counts: the number of captions per row.
    """
    rows = pad_sequence(list(torch.split(logits, list(counts))), batch_first=True, padding_value=-torch.inf)
    return torch.stack((cross_entropy(rows, targets, reduction="sum"), (rows.argmax(1) == targets).sum()))
