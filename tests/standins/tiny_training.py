"""The smallest training that `humor_tasks.lab.training.loop` runs: a line through ten points, in no time.

As a program it trains in each FOLDER given; with `killed` it is killed where its third epoch begins.
"""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors.torch import save_file

from humor_tasks.lab.training.loop import Epochs, Part, accelerator_for, fit

ROWS, SIZE = 10, 3


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
        config = SimpleNamespace(
            epochs=epochs, patience=patience, seed=seed, clip_norm=clip_norm, lr=0.05, batch_size=SIZE
        )
        super().__init__(config, output, accelerator_for("no", "cpu"), progress=False)
        torch.manual_seed(seed)
        self.network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(dropout), torch.nn.Linear(8, 1))
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=self.rate, fused=True)
        self.rows, self.steps, self.found, self.micro = ROWS, math.ceil(ROWS / SIZE), found, micro
        drawn = torch.Generator().manual_seed(1)
        self.points = torch.randn(ROWS, 4, generator=drawn)
        self.heights = self.points.sum(1, keepdim=True)
        self.judged: list[dict[str, torch.Tensor]] = []

    def _epoch(self, epoch: int) -> tuple[float, ...]:
        if self.killed and epoch == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._epoch(epoch)

    def _parts(self, batch: Sequence[int]) -> tuple[list[Part], int]:
        return self.divided(batch, self.micro), len(batch)

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
        return {"seed": self.config.seed}


def trained(output: Path, **how: Any) -> dict[str, Any]:
    """What is worth noting of the training in `output`, which ends with the best weights in `output`/model."""
    return fit(output, "model", lambda: Line(output, **how))


if __name__ == "__main__":
    Line.killed = "killed" in sys.argv
    trained(Path(sys.argv[1]))
