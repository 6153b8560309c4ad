"""What each of two processes trains: `launched.py START HOME COMMANDS`, COMMANDS (JSON) those of `humor-tasks train`.

With FSDP or DeepSpeed also the tiny T5 in START on the shared loop, divided among the processes: in HOME/same, and in
HOME/cut, which is stopped in its second epoch and resumed. Without them the smallest training, in HOME/line.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate.state import PartialState
from accelerate.utils import DistributedType, gather_object
from standins import tiny_training
from standins.trainings import Killed
from transformers import T5Config, T5ForConditionalGeneration

from humor_tasks.cli.train import train
from humor_tasks.lab.training.loop import Epochs, Part, accelerator_for, adamw, fit
from humor_tasks.lab.training.sharding import requested, whole_networks

ROWS, SIZE = 6, 5


class Settings:
    beta1, beta2, eps, weight_decay = 0.9, 0.999, 1e-2, 0.1
    epochs, patience, clip_norm, lr, batch_size, seed = 2, 0, 0.5, 0.01, SIZE, 0


class Answers(Epochs):
    """Random questions of six tokens, answers of one to three."""

    CURVE = ("epoch", "step", "train_loss", "validation_loss")

    def __init__(self, start: Path, output: Path, micro: int = 2, killed: int = -1) -> None:
        super().__init__(Settings, output, accelerator_for("no", "cpu", sharded=True), progress=False)
        self.micro, self.killed = micro, killed
        self.network = T5ForConditionalGeneration.from_pretrained(start, dropout_rate=0.0, dtype=torch.float32)
        self.network.gradient_checkpointing_enable({"use_reentrant": False})
        self.optimizer = adamw(self.network, Settings, self.rate)
        self.rows, self.steps = ROWS, -(-ROWS // SIZE)
        drawn = torch.Generator().manual_seed(1)
        self.questions = torch.randint(2, 64, (ROWS, 6), generator=drawn)
        self.answers = torch.randint(2, 64, (ROWS, 3), generator=drawn)
        self.answers[::2, 1:] = -100

    def _losses(self, part: Part) -> torch.Tensor:
        answers = self.answers[part.rows]
        logits = self.model(input_ids=self.questions[part.rows], labels=answers).logits
        found: torch.Tensor = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1).float(), answers.flatten(), reduction="sum"
        )
        return found

    def _epoch(self, epoch: int) -> tuple[float, ...]:
        if epoch == self.killed:
            raise Killed
        return super()._epoch(epoch)

    def _share(self, step: int) -> float:
        return 1 / (1 + step)

    def _parts(self, batch: Sequence[int]) -> tuple[list[Part], int]:
        return self.divided(batch, self.micro), int((self.answers[batch] >= 0).sum())

    def _evaluate(self, step: int) -> tuple[float, tuple[float, ...]]:
        self.model.eval()
        with torch.no_grad():
            sums = [float(self._losses(part)) * part.counts for part in self.divided(range(ROWS), 2)]
        found = sum(gather_object([sum(sums)])) / int((self.answers >= 0).sum())
        return found, (found,)

    def _save(self, folder: Path) -> None:
        self.network.save_pretrained(folder, state_dict=self.weights)


def saved(folder: Path) -> Path:
    """A tiny T5 in `folder`. Its three embeddings and its output share one weight."""
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 1, "num_heads": 4}
    T5ForConditionalGeneration(T5Config(vocab_size=64, decoder_start_token_id=0, **sizes)).save_pretrained(folder)
    return folder


def trained(start: Path, output: Path, **how: Any) -> dict[str, Any]:
    return fit(output, "model", lambda: Answers(start, output, **how))


def divided(start: Path, home: Path) -> None:
    """The trainings of the tiny T5."""
    if requested() == "FSDP":  # accelerate divides networks on accelerators only, torch on the CPU too
        PartialState._prepare_backend = lambda *_: ("gloo", DistributedType.MULTI_GPU)  # type: ignore[method-assign]
    else:
        import deepspeed.ops

        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled at the first use; gloo does the same
    trained(start, home / "same")
    try:
        trained(start, home / "cut", killed=1)
    except Killed:
        if PartialState().is_main_process:
            left = sorted(str(path.relative_to(home / "cut")) for path in (home / "cut").rglob("*") if path.is_file())
            (home / "left.txt").write_text("\n".join(left))
        PartialState().wait_for_everyone()
        trained(start, home / "cut")
    with whole_networks():
        again = T5ForConditionalGeneration.from_pretrained(home / "same" / "model")
    totals = gather_object([sum(float(parameter.detach().double().sum()) for parameter in again.parameters())])
    assert totals[0] == totals[1] != 0.0, totals


if __name__ == "__main__":
    gc.freeze()  # accelerate collects garbage after each training, of which most is what imports left
    given_start, given_home = map(Path, sys.argv[1:3])
    if requested():
        divided(given_start, given_home)
    else:
        tiny_training.trained(given_home / "line", dropout=0.0)
    for arguments in json.loads(sys.argv[3]):
        train(arguments, standalone_mode=False)
