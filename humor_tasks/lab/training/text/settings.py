"""The settings of `humor-tasks train text`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import find_benchmark, trained
from humor_tasks.benchmarks.caption_contest import released
from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.contract.answers import FreeText
from humor_tasks.contract.options import parameter, parameters_of, required
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.settings import ONE_SET, AdamW, Adapters, Machine, Rows, Steps, rates

EVALUATED = ("validation", "test")
# The literals of models.text, which imports torch.
KINDS = ("seq2seq", "causal", "encoder")
ENCODINGS = ("cross", "bi")


@dataclass(frozen=True, kw_only=True)
class TextTrainConfig(Rows, Steps, AdamW, Adapters, Machine):
    """One run. Published by Hessel et al. are the learning rates of T5-Large, batch_size and early stopping.

    T5-11B has the learning rate 1e-5 alone. The rest is this project's choice. `micro_batch` 0 is few rows on a CPU,
    and no limit elsewhere. Prompts longer than `max_tokens` lose their beginning.
    """

    task: str = required("Of the caption contest, or of MOCK with --dataset and --scene.", among=trained("text"))
    model: str = required("Hugging Face model: a name on the hub or a folder.")
    kind: str | None = parameter(None, "Of model. Default: from its configuration.", among=KINDS)
    model_revision: str | None = parameter(None, "Branch, tag or commit of a model on the hub.", also=int)
    scene: str = parameter("all", "mock tasks: all, stills, cartoon, post or comedy.")
    setting: str = parameter("description", "caption_only: without the cartoon.", among=("description", "caption_only"))
    prompts: str | None = parameter(
        None,
        "Prompt set, or folder of templates that replace those of set A. Evaluate with the same.",
        never={"all": ONE_SET},
    )
    input: str = parameter(
        "prompt",
        "seq2seq: the benchmark's prompt, or as published the corpus's text, its column from_description (released).",
        among=("prompt", "released"),
    )
    encoding: str = parameter(
        "cross", "encoders: cross (scene and choice together) or bi (each text alone).", among=ENCODINGS
    )
    evaluate: tuple[str, ...] = parameter(EVALUATED, "Splits to predict after the training.", among=EVALUATED)
    lr: tuple[float, ...] = rates((1e-4, 1e-5, 5e-5), "the best on validation is kept, the first on a tie")
    head_lr: float = parameter(1e-3, "encoders: learning rate of the new layer.", least=1e-12, most=1)
    batch_size: int = parameter(64, "Rows per step, over all devices.", least=1, most=65536)
    micro_batch: int = parameter(0, "Maximum rows per device at once; memory only; 0: automatic.", least=0, most=65536)
    epochs: int = parameter(10, "Maximum number.", least=1, most=10_000)
    adafactor: bool = parameter(
        False, "Adafactor in place of AdamW: less memory. Its lr is a part of a weight's size, 1e-3 by T5's authors."
    )
    bf16_weights: bool = parameter(
        False, "Weights and gradients in bf16: less memory. Steps are rounded at random; one process."
    )
    max_tokens: int = parameter(0, "Maximum length of the input; 0: the model's own.", least=0, most=1_000_000)
    temperature: float = parameter(1.0, "Of written explanations, as published; 0: greedy.", least=0, most=2)
    top_p: float = parameter(0.95, "Of written explanations, as published.", least=1e-6, most=1)
    max_new_tokens: int = parameter(256, "Of written explanations.", least=1, most=100_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.has_folds and (self.setting, self.fold) != ("description", "0"):
            raise BadInput(f"{self.task} has no folds and no setting caption_only: leave out fold and setting.")
        if self.has_folds and self.scene != "all":
            raise BadInput(f"scene={self.scene}: {self.task} has no scenes.")
        if self.input == "released" and (self.prompts is not None or not self.has_folds):
            raise BadInput("input=released is the caption contest's own text: leave out prompts, and MOCK's tasks.")
        if self.bf16_weights and self.precision != "bf16":
            raise BadInput(f"bf16_weights needs precision=bf16, not {self.precision}.")
        if self.adafactor and self.lora:
            raise BadInput("adafactor: its steps are a part of a weight's size, and adapters begin at 0: leave it out.")
        object.__setattr__(self, "evaluate", tuple(split for split in EVALUATED if split in self.evaluate))

    def check_flags(self, names: Collection[str]) -> None:
        """See Settings."""
        if self.adafactor and (unused := sorted({"beta1", "beta2", "eps"} & set(names))):
            raise BadInput(f"--adafactor does not use {', '.join(f'--{name}' for name in unused)}.")

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
        prompts = str(released.PROMPTS) if self.input == "released" else self.prompts
        shared = {"dataset": self.dataset, "revision": self.revision, "split": split, "prompts": prompts}
        if self.has_folds:
            return shared | {"fold": self.fold, "setting": self.setting, "cot": False}
        return shared | {"scene": self.scene, "input": "description"}
