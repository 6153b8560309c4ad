"""The settings of `humor-tasks train ofa`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import find_benchmark, trained
from humor_tasks.contract.answers import FreeText
from humor_tasks.contract.options import parameter, required
from humor_tasks.lab.training.settings import AdamW, Machine, Rows, rates

TASKS = trained("ofa")


@dataclass(frozen=True, kw_only=True)
class OfaTrainConfig(Rows, AdamW, Machine):
    """One run. Published by Hessel et al. are lr, smoothing, epochs, warmup and early stopping on validation.

    The rest follows the fine-tuning scripts of OFA's code (run_scripts/caption, run_scripts/vqa): AdamW with these
    betas, eps and weight decay, gradients clipped at 1, linear decay, pictures of 480 pixels. Those scripts also use
    dropout and layer drop (.1 to .2), which this network does not have, and freeze the token embeddings
    (`freeze_embeddings`). Batch size and patience are this project's choice. A task with free text is learned itself:
    the paper's attempt to fine-tune OFA directly for explanations (appendix B).
    """

    pretrained: str = required("A checkpoint's folder, or OWNER/NAME of the hub.")
    model_revision: str | None = parameter(None, "Branch, tag or commit of a checkpoint on the hub.", also=int)
    task: str = parameter(
        TASKS[0],
        "One with choices provides cartoons to describe; one with free text is learned itself.",
        among=TASKS,
    )
    image_size: int = parameter(
        0, "Pixels per side; 0: the checkpoint's recorded size, else 480.", least=0, most=10_000
    )
    lr: tuple[float, ...] = rates(
        (5e-5,), "the best by validation loss is kept, with --fold all the first fold's for all folds"
    )
    warmup: float = parameter(0.06, "Fraction of all steps.", least=0, most=1)
    decay: str = parameter("linear", "After the warm-up: linear, to 0, or constant.", among=("linear", "constant"))
    smoothing: float = parameter(0.1, "Label smoothing.", least=0, most=0.9)
    clip_norm: float = parameter(1.0, "Maximum norm of the gradient; 0: no limit.", least=0, most=1e9)
    batch_size: int = parameter(32, "Annotations per step, over all devices.", least=1, most=65536)
    micro_batch: int = parameter(
        0, "Maximum per device at once; affects memory only; 0: no limit.", least=0, most=65536
    )
    epochs: int = parameter(7, "Maximum number.", least=1, most=10_000)
    patience: int = parameter(
        1,
        "Early stopping: epochs without a better validation loss; 0: off.",
        least=0,
        most=10_000,
    )
    freeze_embeddings: bool = parameter(False, "Freeze the token embeddings.", off="train-embeddings")
    freeze_resnet: bool = parameter(
        False, "Freeze the picture backbone; it reads each picture once.", off="train-resnet"
    )

    @property
    def is_open(self) -> bool:
        """Whether the task's own answers are learned, instead of descriptions of its cartoons."""
        benchmark = find_benchmark(self.task)
        return isinstance(benchmark.form(benchmark.options()), FreeText)

    def parameters(self, split: str, setting: str) -> dict[str, Any]:
        """The benchmark's parameters for the rows of a split."""
        where = {"dataset": self.dataset, "revision": self.revision, "fold": self.fold}
        return where | {"split": split, "setting": setting, "cot": False}
