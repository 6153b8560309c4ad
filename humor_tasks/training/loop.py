"""What trainings by epochs have in common: from the last checkpoint to the best epoch's weights, on several devices."""

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
    """One training. A subclass sets what is declared here, learns an epoch, judges the network and saves it.

    `steps` are those of an epoch. The first of equally good epochs is kept.
    """

    CURVE: ClassVar[tuple[str, ...]]
    """Columns of curves.csv: epoch, step, what `_epoch` returns, what `_judged` adds."""
    output: Path
    accelerator: Accelerator
    network: Any
    optimizer: torch.optim.Optimizer
    steps: int
    epochs: int
    patience: int
    """Epochs without a better one before it stops; 0: never."""
    rate: float
    """The learning rate, for messages."""

    @abstractmethod
    def _epoch(self, epoch: int, model: Any, optimizer: Any) -> tuple[float, ...]:
        """Epoch number `epoch`, from 0: the mean loss, and whatever else the curve shows of it."""

    @abstractmethod
    def _judged(self, step: int) -> tuple[float, tuple[float, ...]]:
        """What is to become least, as it is after `step` steps, and the rest of the curve's row."""

    @abstractmethod
    def _save(self, folder: Path) -> None:
        """The model that was judged last."""

    def _notes(self) -> dict[str, Any]:
        """What is worth noting of the training when it is over."""
        return {}

    def train(self) -> State:
        """From the last checkpoint to the end of the last epoch that is worth it."""
        state = restore_checkpoint(self.output, self.network, self.optimizer)
        if self.accelerator.is_main_process:
            write_table(self.output / CURVES, self.CURVE, state.curve)  # from now on the folder is this run's
        model, optimizer = self.accelerator.prepare(self.network, self.optimizer)
        while state.epoch < self.epochs and not 0 < self.patience <= state.epoch - state.best_epoch:
            learnt = self._epoch(state.epoch, model, optimizer)
            state.epoch += 1
            if not math.isfinite(learnt[0]):
                raise BadInput(f"lr={self.rate}: the loss is {learnt[0]} in epoch {state.epoch}; take a lower one.")
            step = self.steps * state.epoch
            reached, row = self._judged(step)
            if not state.curve or reached < state.best:
                state.best, state.best_epoch = reached, state.epoch
            state.curve.append([state.epoch, step, *learnt, *row])
            self._write(state)
        return state

    def _write(self, state: State) -> None:
        """Best weights, curve and checkpoint of the epoch, by the main process."""
        if self.accelerator.is_main_process:
            if state.best_epoch == state.epoch:
                write_folder(best_folder(self.output, state), self._save)
            write_table(self.output / CURVES, self.CURVE, state.curve)
            save_checkpoint(self.output, state, self.network, self.optimizer)
        self.accelerator.wait_for_everyone()


def fit(output: Path, name: str, prepared: Callable[[], Epochs]) -> dict[str, Any]:
    """Trains, unless that is done, and leaves the best epoch's model in `output`/`name`; what is worth noting."""
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
    """precision: no or bf16. buffers: whether processes share a network's buffers at every step.

    Raises BadInput for a device that this machine has not.
    """
    found = pick_device(device, who)
    AcceleratorState._reset_state(reset_partial_state=False)  # the last training may have had another precision
    # Some parameters have no gradient: poolers, a logit bias, the positions of image codes.
    spare = DistributedDataParallelKwargs(find_unused_parameters=True, broadcast_buffers=buffers)
    return Accelerator(mixed_precision=precision, cpu=found.type == "cpu", kwargs_handlers=[spare])


def adamw(network: torch.nn.Module, config: Any, rate: float) -> torch.optim.AdamW:
    """Over what is trained of the network, with the configuration's betas, eps and weight decay."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    betas = (config.beta1, config.beta2)
    return torch.optim.AdamW(
        trained, lr=rate, betas=betas, eps=config.eps, weight_decay=config.weight_decay, fused=True
    )


def moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """On the device; on CUDA without waiting for it."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def plan(rows: int, size: int, seed: str) -> list[list[int]]:
    """Batches of all rows in random order; the last one may be smaller."""
    order = list(range(rows))
    random.Random(seed).shuffle(order)
    return [order[start : start + size] for start in range(0, rows, size)]


def share(batch: Sequence[int], process: int, processes: int) -> list[int]:
    """A process's rows of a batch. Where there are too few, its first, for nothing: weigh them with `counts`."""
    return list(batch[process::processes]) or list(batch[:1])


def counts(batch: Sequence[int], process: int) -> bool:
    """Whether the process has rows of its own in the batch."""
    return process < len(batch)


def warm_then_linear(step: int, steps: int, warmup: float) -> float:
    """The share of the learning rate that step `step` of `steps`, from 0, takes; `warmup` is a share of the steps.

    (step + 1) / w in the first w = max(1, round(warmup * steps)), then (steps - step) / (steps - w): the last of
    the warm-up takes all of it, and what would follow the last step takes nothing.
    """
    warm = max(1, round(warmup * steps))
    return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))
