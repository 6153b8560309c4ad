"""The settings of `humor-tasks train image-text`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import find_benchmark, trained
from humor_tasks.benchmarks.mock.describing import DESCRIBING
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.options import parameter, read_parameters, required
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.settings import ONE_SET, AdamW, Adapters, Machine, Steps, rates

TASKS = trained("image_text")


def benchmark_of(task: str) -> Benchmark[Any]:
    """The definition of a sub-task, or of `describing`, which trains a describer of pictures."""
    return DESCRIBING if task == DESCRIBING.name else find_benchmark(task)


@dataclass(frozen=True, kw_only=True)
class ImageTextTrainConfig(Steps, AdamW, Adapters, Machine):
    """One run. The paper trains a model on the three sub-tasks of one scene together, and names no settings.

    Weights that LoRA freezes are bf16 with `precision=bf16`. The learning rate with the lowest validation loss is kept.
    """

    model: str = required("Image-text model of transformers: a name on the hub or a folder.")
    model_revision: str | None = parameter(None, "Branch, tag or commit of a model on the hub.", also=int)
    dataset: str = required("A folder of humor-tasks build mock, its hub id, or 'sample'.")
    revision: str | None = parameter(None, "Branch, tag or commit of a hub dataset.", also=int)
    scene: str = required("cartoon, post, stills (both) or comedy.")
    task: tuple[str, ...] = parameter(
        TASKS,
        "Sub-tasks whose rows are mixed, or describing: the literal descriptions of the pictures.",
        among=(*TASKS, DESCRIBING.name),
    )
    input: str = parameter("media", "media (pictures and clips), frames or description.")
    frames: int = parameter(8, "Frames of a clip.")
    prompts: str | None = parameter(
        None,
        "Prompt set, or folder of templates that replace those of set A. Evaluate with the same.",
        never={"all": ONE_SET},
    )
    fold: str = "0"  # MOCK has no folds
    lr: tuple[float, ...] = rates((2e-5,), "the best on validation is kept")
    batch_size: int = parameter(32, "Rows per step, over all devices.", least=1, most=65536)
    micro_batch: int = parameter(4, "Maximum rows per device at once; memory only.", least=0, most=65536)
    epochs: int = parameter(3, "Maximum number.", least=1, most=10_000)

    is_open = True  # validated by the loss of the answers
    kind = "image_text"
    adafactor = bf16_weights = False  # of train text alone

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.task)) < len(self.task):
            raise BadInput(f"task={','.join(self.task)}: names one twice; name each once.")
        if self.scene == "all" and self.input == "media":
            raise BadInput("scene=all: a batch has pictures or clips; train on stills or comedy, or use input=frames.")
        options = benchmark_of(self.task[0]).options
        texts = {name: str(value) for name, value in self.parameters("train").items() if value is not None}
        options(**read_parameters(options, self.task[0], texts.items()))  # refuses an unknown scene or input

    def parameters(self, split: str) -> dict[str, Any]:
        """The benchmarks' parameters for the rows of a split."""
        shared = {"dataset": self.dataset, "revision": self.revision, "split": split, "prompts": self.prompts}
        return shared | {"scene": self.scene, "input": self.input, "frames": self.frames}
