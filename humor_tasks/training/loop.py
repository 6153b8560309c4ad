"""The training loop by epochs, on several devices: resumes from the last checkpoint and keeps the best weights."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedDataParallelKwargs

from humor_tasks.data.writing import write_table
from humor_tasks.errors import BadInput
from humor_tasks.models.devices import pick_device
from humor_tasks.models.folders import read_object
from humor_tasks.training.checkpoint import (
    NOTES,
    State,
    best_folder,
    finish,
    restore_checkpoint,
    save_checkpoint,
    tidy,
    write_folder,
)
from humor_tasks.training.folder import CURVES, IS_MAIN


class Epochs(ABC):
    """A training loop. A subclass sets the attributes declared here, and trains an epoch, evaluates and saves the
    network.

    `steps` is the number of steps per epoch. Of equally good epochs the first is kept.
    """

    CURVE: ClassVar[tuple[str, ...]]
    """Columns of curves.csv: epoch, step, the values of `_epoch`, the values of `_evaluate`."""
    output: Path
    accelerator: Accelerator
    network: Any
    optimizer: torch.optim.Optimizer
    steps: int
    epochs: int
    patience: int
    """Early stopping: epochs without improvement; 0 disables it."""
    rate: float
    """The learning rate, for messages."""

    @abstractmethod
    def _epoch(self, epoch: int, model: Any, optimizer: Any) -> tuple[float, ...]:
        """Train epoch number `epoch`, from 0; returns the mean loss and other values for the curve."""

    @abstractmethod
    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        """The monitored value after `step` steps (lower is better), and further values for the curve."""

    @abstractmethod
    def _save(self, folder: Path) -> None:
        """Save the model that was evaluated last."""

    def _notes(self) -> dict[str, Any]:
        """Additional entries for the notes of a finished training."""
        return {}

    def train(self) -> State:
        """Train from the last checkpoint to the last epoch or early stopping."""
        state = restore_checkpoint(self.output, self.network, self.optimizer)
        if self.accelerator.is_main_process:
            write_table(self.output / CURVES, self.CURVE, state.curve)  # marks the folder as used by this run
        model, optimizer = self.accelerator.prepare(self.network, self.optimizer)
        while state.epoch < self.epochs and not 0 < self.patience <= state.epoch - state.best_epoch:
            epoch_values = self._epoch(state.epoch, model, optimizer)
            state.epoch += 1
            if not math.isfinite(epoch_values[0]):
                raise BadInput(
                    f"lr={self.rate}: the loss is {epoch_values[0]} in epoch {state.epoch}; use a lower learning rate."
                )
            step = self.steps * state.epoch
            value, row = self._evaluate(step)
            if not state.curve or value < state.best:
                state.best, state.best_epoch = value, state.epoch
            state.curve.append([state.epoch, step, *epoch_values, *row])
            self._write(state)
        return state

    def _write(self, state: State) -> None:
        """Write the epoch's best weights, curve and checkpoint in the main process."""
        if self.accelerator.is_main_process:
            if state.best_epoch == state.epoch:
                write_folder(best_folder(self.output, state), self._save)
            write_table(self.output / CURVES, self.CURVE, state.curve)
            save_checkpoint(self.output, state, self.network, self.optimizer)
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
    return read_object(output / NOTES)


def accelerator_for(precision: str, device: str = "auto", who: str = "training", buffers: bool = True) -> Accelerator:
    """An Accelerator. precision: no or bf16. buffers: whether processes synchronise the network's buffers at every
    step.

    Raises BadInput for a device that is not available.
    """
    found = pick_device(device, who)
    AcceleratorState._reset_state(reset_partial_state=False)  # an earlier training may have used another precision
    # Some parameters get no gradient: poolers, a logit bias, the positions of image codes.
    ddp_options = DistributedDataParallelKwargs(find_unused_parameters=True, broadcast_buffers=buffers)
    return Accelerator(mixed_precision=precision, cpu=found.type == "cpu", kwargs_handlers=[ddp_options])


def adamw(network: torch.nn.Module, config: Any, rate: float) -> torch.optim.AdamW:
    """AdamW for the trainable parameters, with the configuration's betas, eps and weight decay."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    betas = (config.beta1, config.beta2)
    return torch.optim.AdamW(
        trained, lr=rate, betas=betas, eps=config.eps, weight_decay=config.weight_decay, fused=True
    )


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on the device; copies to CUDA are asynchronous."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def plan(rows: int, size: int, seed: str) -> list[list[int]]:
    """Batches of all rows in random order; the last one may be smaller."""
    order = list(range(rows))
    random.Random(seed).shuffle(order)
    return [order[start : start + size] for start in range(0, rows, size)]


def process_share(batch: Sequence[int], process: int, processes: int) -> list[int]:
    """A process's rows of a batch. Where there are too few, its first row, which must be weighted 0 (see `counts`)."""
    return list(batch[process::processes]) or list(batch[:1])


def has_own_rows(batch: Sequence[int], process: int) -> bool:
    """Whether the process has its own rows in the batch."""
    return process < len(batch)


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
