"""The settings of a run, each a flag of `humor-tasks train text`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import find_benchmark, trained
from humor_tasks.benchmarks.answers import FreeText
from humor_tasks.benchmarks.caption_contest.corpus import FOLDS, HUB
from humor_tasks.benchmarks.options import parameters_of
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.text.choosing import ENCODINGS
from humor_tasks.models.text.pretrained import KINDS
from humor_tasks.training.settings import FoldSettings, check_ranges, check_rates

TASKS = trained("text")
SETTINGS = ("description", "caption_only")
SPLITS = ("validation", "test")


@dataclass(frozen=True)
class TextTrainConfig(FoldSettings):
    """One run. Published by Hessel et al. are the learning rates of T5-Large, batch_size and early stopping.

    T5-11B has the learning rate 1e-5 alone. The rest is this project's choice.

    task: of the caption contest, or of MOCK with `dataset` and `scene`. model, model_revision: hub id or folder.
    kind: seq2seq, causal or encoder; by default that of the model's configuration.
    setting: description, or caption_only, the control without the cartoon (captions alone).
    prompts: folder of templates for the prompt that seq2seq and causal models read; evaluate with the same ones.
    encoding: encoders only. `cross` reads the scene with each choice, `bi` each text alone (see `ChoiceNetwork`).
    fold: 0..4, or `all`. evaluate: the splits that are predicted after the training.
    lr: learning rates; the one with the best validation result is kept, the first one on a tie.
    head_lr: encoders: learning rate of the new layer.
    warmup: fraction of an epoch's steps, linear; then the learning rate is constant.
    clip_norm: maximum norm of all gradients; 0: no limit.
    batch_size: rows per step, over all devices. micro_batch: maximum rows per device at once; 0: 8 on a CPU, elsewhere
      no limit. validations: number of validations per epoch, at equal distances.
    patience: early stopping: validations without a better result; 0 runs all epochs. The best weights are kept.
    max_tokens: maximum length of the model's input; 0 is the model's own. Longer prompts lose their beginning.
    temperature, top_p, max_new_tokens: of the explanations written after the training; 0 is greedy.
    precision: no (fp32) or bf16 (autocast; weights stay fp32).
    lora: rank of LoRA adapters trained instead of the model, 0 for none; lora_alpha: 0 is twice the rank.
    checkpointing: activation checkpointing, which saves memory and costs time.
    """

    HOW = (*FoldSettings.HOW, "micro_batch")

    task: str
    model: str
    kind: str | None = None
    model_revision: str | None = None
    dataset: str = HUB
    revision: str | None = None
    fold: str = "0"
    scene: str = "all"
    setting: str = "description"
    prompts: str | None = None
    encoding: str = "cross"
    evaluate: tuple[str, ...] = SPLITS
    lr: tuple[float, ...] = (1e-4, 1e-5, 5e-5)
    head_lr: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    clip_norm: float = 1.0
    batch_size: int = 64
    micro_batch: int = 0
    epochs: int = 10
    validations: int = 1
    patience: int = 2
    max_tokens: int = 0
    temperature: float = 1.0
    top_p: float = 0.95
    max_new_tokens: int = 256
    precision: str = "no"
    lora: int = 0
    lora_alpha: int = 0
    seed: int = 0
    device: str = "auto"
    workers: int = 0
    checkpointing: bool = False

    def __post_init__(self) -> None:
        check_choice("task", self.task, TASKS)
        self.check_shared()
        if self.kind is not None:
            check_choice("kind", self.kind, KINDS)
        check_choice("setting", self.setting, SETTINGS)
        check_choice("encoding", self.encoding, ENCODINGS)
        check_ranges(self, _RANGES)
        object.__setattr__(self, "lr", check_rates(self.lr))
        if not self.has_folds and (self.setting, self.fold) != ("description", "0"):
            raise BadInput(f"{self.task} has no folds and no setting caption_only: leave out fold and setting.")
        if self.has_folds and self.scene != "all":
            raise BadInput(f"scene={self.scene}: {self.task} has no scenes.")
        for split in self.evaluate:
            check_choice("evaluate", split, SPLITS)
        object.__setattr__(self, "evaluate", tuple(split for split in SPLITS if split in self.evaluate))

    @property
    def folds(self) -> tuple[str, ...]:
        """The folds to train."""
        return FOLDS if self.fold == "all" else (self.fold,)

    @property
    def has_folds(self) -> bool:
        """Whether the task's rows are in folds, as in the caption contest; else they are in scenes, as in MOCK."""
        return "fold" in parameters_of(find_benchmark(self.task).options)

    @property
    def is_open(self) -> bool:
        """Whether the answers are explanations instead of choices."""
        benchmark = find_benchmark(self.task)
        return isinstance(benchmark.form(benchmark.options()), FreeText)

    def parameters(self, split: str) -> dict[str, Any]:
        """The benchmark's parameters for the rows of a split: a direct answer, without worked examples."""
        shared = {"dataset": self.dataset, "revision": self.revision, "split": split, "prompts": self.prompts}
        if self.has_folds:
            return shared | {"fold": self.fold, "setting": self.setting, "cot": False}
        return shared | {"scene": self.scene, "input": "description"}


_RANGES = (
    ("head_lr", 1e-12, 1.0),
    ("warmup", 0.0, 1.0),
    ("eps", 0.0, 1.0),
    ("clip_norm", 0.0, 1e9),
    ("micro_batch", 0, 65536),
    ("validations", 1, 10_000),
    ("max_tokens", 0, 1_000_000),
    ("temperature", 0.0, 2.0),
    ("top_p", 1e-6, 1.0),
    ("max_new_tokens", 1, 100_000),
    ("lora", 0, 4096),
    ("lora_alpha", 0, 65536),
)
