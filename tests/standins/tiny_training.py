"""The smallest training that `humor_tasks.lab.training.loop` runs: a line through ten points, in no time.

As a program it trains in each FOLDER given; with `killed` it is killed where its third epoch begins.
"""

from __future__ import annotations

import math
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tqdm import tqdm

from humor_tasks.lab.training.checkpoint import seed_epoch
from humor_tasks.lab.training.loop import Epochs, Part, accelerator_for, fit, plan, process_parts

ROWS, SIZE = 10, 3
NO_BAR = tqdm(disable=True)


class Line(Epochs):
    """`found`: what each epoch's judgement says, instead of the mean error over all points."""

    CURVE = ("epoch", "step", "train_loss", "validation_loss")
    killed = False

    def __init__(
        self,
        output: Path,
        epochs: int = 3,
        patience: int = 0,
        seed: int = 0,
        dropout: float = 0.5,
        found: Any = None,
        micro: int = 0,
        clip_norm: float = 0.0,
    ) -> None:
        self.output, self.epochs, self.patience, self.rate, self.seed = output, epochs, patience, 0.05, seed
        self.micro, self.clip_norm = micro, clip_norm
        self.accelerator = accelerator_for("no", "cpu")
        torch.manual_seed(seed)
        self.network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(dropout), torch.nn.Linear(8, 1))
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=self.rate, fused=True)
        self.steps, self.found = math.ceil(ROWS / SIZE), found
        drawn = torch.Generator().manual_seed(1)
        self.points = torch.randn(ROWS, 4, generator=drawn)
        self.heights = self.points.sum(1, keepdim=True)
        self.judged: list[dict[str, torch.Tensor]] = []

    def _epoch(self, epoch: int, model: Any, optimizer: Any) -> tuple[float, ...]:
        if self.killed and epoch == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        mine, processes = self.accelerator.process_index, self.accelerator.num_processes
        seed_epoch(self.seed, epoch, mine)
        model.train()
        total, seen = torch.zeros(()), 0
        for at, batch in enumerate(plan(ROWS, SIZE, f"{self.seed}-{epoch}")):
            total += self.update(process_parts(batch, mine, processes, self.micro), self._losses, len(batch))
            seen += len(batch)
            self.progressed(NO_BAR, epoch, at, total, seen)
        return (float(self.accelerator.reduce(total, "sum")) / ROWS,)

    def _losses(self, part: Part) -> torch.Tensor:
        found: torch.Tensor = (self.model(self.points[part.rows]) - self.heights[part.rows]).pow(2).sum()
        return found

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        self.network.eval()
        self.judged.append({name: tensor.clone() for name, tensor in self.network.state_dict().items()})
        with torch.inference_mode():
            error = float((self.network(self.points) - self.heights).pow(2).mean())
        reached = self.found[len(self.judged) - 1] if self.found else error
        return reached, (reached,)

    def _save(self, folder: Path) -> None:
        save_file(self.network.state_dict(), folder / "weights.safetensors")

    def _notes(self) -> dict[str, Any]:
        return {"seed": self.seed}


def trained(output: Path, **how: Any) -> dict[str, Any]:
    """What is worth noting of the training in `output`, which ends with the best weights in `output`/model."""
    return fit(output, "model", lambda: Line(output, **how))


if __name__ == "__main__":
    Line.killed = "killed" in sys.argv
    trained(Path(sys.argv[1]))
