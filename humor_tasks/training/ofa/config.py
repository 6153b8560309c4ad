"""The settings of a run, each a flag of `humor-tasks train ofa`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import find_benchmark, trained
from humor_tasks.benchmarks.answers import FreeText
from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.errors import check_choice
from humor_tasks.training.settings import FoldSettings, check_ranges, check_rates

TASKS = trained("ofa")
DECAYS = ("linear", "constant")


@dataclass(frozen=True)
class OfaTrainConfig(FoldSettings):
    """One run. Published by Hessel et al. are lr, smoothing, epochs, warmup and early stopping on validation.

    The rest follows the fine-tuning scripts of OFA's code (run_scripts/caption, run_scripts/vqa): AdamW with these
    betas, eps and weight decay, gradients clipped at 1, linear decay, pictures of 480 pixels. Those scripts also use
    dropout and layer drop (.1 to .2), which this network does not have, and freeze the token embeddings
    (`freeze_embeddings`). Batch size and patience are this project's choice.

    pretrained, model_revision: as in `Ofa.load`.
    task: one with choices provides the cartoons to describe; one with free text is learned itself (appendix B: the
      paper's attempt to fine-tune OFA directly for explanations).
    fold: 0..4, or `all`. image_size: 0 is the size recorded in the checkpoint, else 480.
    lr: learning rates; the one with the lowest validation loss is kept. With fold=all they are compared on the first
      fold, whose best one trains the other folds, as published.
    smoothing: see `network.smoothed_loss`.
    warmup: fraction of all steps; decay: linear to 0 afterwards, or constant.
    clip_norm: maximum norm of all gradients; 0: no limit.
    batch_size: rows per step, over all devices. micro_batch: maximum rows per device at once; 0: no limit.
    patience: early stopping: epochs without a better validation loss; 0 runs all epochs. The best epoch is kept.
    freeze_resnet: the backbone gets no gradients, and its features are computed once per picture; see `Features`.
    precision: no (fp32) or bf16 (autocast; weights stay fp32).
    checkpointing: activation checkpointing, which saves memory and costs time.
    workers: threads per process that read pictures; 0 is one per core, at most 16.
    """

    HOW = (*FoldSettings.HOW, "micro_batch")

    pretrained: str
    dataset: str = HUB
    task: str = TASKS[0]
    fold: str = "0"
    revision: str | None = None
    model_revision: str | None = None
    image_size: int = 0
    lr: tuple[float, ...] = (5e-5,)
    warmup: float = 0.06
    decay: str = "linear"
    smoothing: float = 0.1
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    clip_norm: float = 1.0
    batch_size: int = 32
    micro_batch: int = 0
    epochs: int = 7
    patience: int = 1
    freeze_embeddings: bool = False
    freeze_resnet: bool = False
    precision: str = "no"
    seed: int = 0
    device: str = "auto"
    workers: int = 0
    checkpointing: bool = False

    def __post_init__(self) -> None:
        check_choice("task", self.task, TASKS)
        self.check_shared()
        check_choice("decay", self.decay, DECAYS)
        check_ranges(self, _RANGES)
        object.__setattr__(self, "lr", check_rates(self.lr))

    @property
    def is_open(self) -> bool:
        """Whether the task's own answers are learned, instead of descriptions of its cartoons."""
        benchmark = find_benchmark(self.task)
        return isinstance(benchmark.form(benchmark.options()), FreeText)

    def parameters(self, split: str, setting: str) -> dict[str, Any]:
        """The benchmark's parameters for the rows of a split."""
        where = {"dataset": self.dataset, "revision": self.revision, "fold": self.fold}
        return where | {"split": split, "setting": setting, "cot": False}


_RANGES = (
    ("image_size", 0, 10_000),
    ("warmup", 0.0, 1.0),
    ("smoothing", 0.0, 0.9),
    ("eps", 0.0, 1.0),
    ("clip_norm", 0.0, 1e9),
    ("micro_batch", 0, 65536),
)
