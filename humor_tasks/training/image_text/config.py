"""The settings of a run, each a flag of `humor-tasks train image-text`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import find_benchmark, trained
from humor_tasks.benchmarks.definition import Benchmark
from humor_tasks.benchmarks.mock.describing import DESCRIBING
from humor_tasks.benchmarks.options import read_parameters
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.training.settings import FoldSettings, check_ranges, check_rates

TASKS = trained("image_text")


def benchmark_of(task: str) -> Benchmark[Any]:
    """The definition of a sub-task, or of `describing`, which trains a describer of pictures."""
    return DESCRIBING if task == DESCRIBING.name else find_benchmark(task)


@dataclass(frozen=True)
class ImageTextTrainConfig(FoldSettings):
    """One run. The paper trains a model on the three sub-tasks of one scene together, and names no settings.

    model, model_revision: hub id or folder of an image-text model of transformers.
    dataset, revision: a MOCK folder. scene: one scene, or stills. task: the sub-tasks, whose rows are mixed, or
    describing: the literal descriptions of the pictures.
    input, frames: what the model sees, as in the benchmarks. prompts: folder of templates; evaluate with the same ones.
    lr: learning rates; the one with the lowest validation loss is kept. warmup: fraction of an epoch's steps.
    batch_size: rows per step, over all devices. micro_batch: maximum rows per device at once; memory only.
    patience: early stopping: validations without a lower loss; 0 runs all epochs. The best weights are kept.
    precision: no (fp32) or bf16 (autocast; weights stay fp32, but those that LoRA freezes are bf16).
    lora: rank of LoRA adapters trained instead of the model, 0 for none; lora_alpha: 0 is twice the rank.
    """

    HOW = (*FoldSettings.HOW, "micro_batch")

    model: str
    dataset: str
    scene: str
    task: tuple[str, ...] = TASKS
    model_revision: str | None = None
    revision: str | None = None
    input: str = "media"
    frames: int = 8
    prompts: str | None = None
    fold: str = "0"  # MOCK has no folds
    lr: tuple[float, ...] = (2e-5,)
    warmup: float = 0.1
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    clip_norm: float = 1.0
    batch_size: int = 32
    micro_batch: int = 4
    epochs: int = 3
    validations: int = 1
    patience: int = 2
    precision: str = "no"
    lora: int = 0
    lora_alpha: int = 0
    seed: int = 0
    device: str = "auto"
    workers: int = 0
    checkpointing: bool = False
    is_open = True  # validated by the loss of the answers
    kind = "image_text"

    def __post_init__(self) -> None:
        for task in self.task:
            check_choice("task", task, (*TASKS, DESCRIBING.name))
        if len(set(self.task)) < len(self.task):
            raise BadInput(f"task={','.join(self.task)}: names one twice; name each once.")
        self.check_shared()
        check_ranges(self, _RANGES)
        object.__setattr__(self, "lr", check_rates(self.lr))
        if self.scene == "all" and self.input == "media":
            raise BadInput("scene=all: a batch has pictures or clips; train on stills or comedy, or use input=frames.")
        options = benchmark_of(self.task[0]).options
        given = {name: str(value) for name, value in self.parameters("train").items() if value is not None}
        options(
            **read_parameters(options, self.task[0], given.items())
        )  # raises BadInput for an unknown scene or input

    def parameters(self, split: str) -> dict[str, Any]:
        """The benchmarks' parameters for the rows of a split."""
        shared = {"dataset": self.dataset, "revision": self.revision, "split": split, "prompts": self.prompts}
        return shared | {"scene": self.scene, "input": self.input, "frames": self.frames}


_RANGES = (
    ("warmup", 0.0, 1.0),
    ("eps", 0.0, 1.0),
    ("clip_norm", 0.0, 1e9),
    ("micro_batch", 0, 65536),
    ("validations", 1, 10_000),
    ("lora", 0, 4096),
    ("lora_alpha", 0, 65536),
)
