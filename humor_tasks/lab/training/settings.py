"""Settings of a training run: each is declared once, as a benchmark's parameters are, and is a flag of its command.

`Rows`, `AdamW`, `Adapters` and `Machine` are what several systems share. Each system's settings add its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

from humor_tasks.benchmarks.caption_contest.corpus import FOLDS, HUB
from humor_tasks.contract.options import Declared, parameter

PRECISIONS = ("no", "bf16")
NO_EFFECT = ("device", "workers", "checkpointing", "micro_batch")
"""Settings that do not affect the results, and may differ when a run is resumed."""


ONE_SET = "a system is trained on one prompt set; evaluate it with prompts=all."


@dataclass(frozen=True, kw_only=True)
class Settings(Declared):
    """The settings of one run. Raises BadInput naming an invalid value."""

    def with_values(self, **values: Any) -> Self:
        """A validated copy with other values."""
        return dataclasses.replace(self, **values)

    def as_dict(self) -> dict[str, Any]:
        """The settings that identify the run, as JSON values."""
        values = {name: plain(value) for name, value in dataclasses.asdict(self).items()}
        return {name: value for name, value in values.items() if name not in NO_EFFECT}

    def check_flags(self, names: Collection[str]) -> None:
        """Raise BadInput for one of these flags that the run would ignore."""


def plain(value: Any) -> Any:
    """The value as JSON represents it."""
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True)
class Rows(Settings):
    """The rows of the caption contest, in folds."""

    dataset: str = parameter(HUB, "Hub id, dataset folder, or 'sample'.")
    revision: str | None = parameter(None, "Branch, tag or commit of a hub dataset.", also=int)
    fold: str = parameter("0", "0..4, or 'all': the five folds, results averaged.", also=int, among=(*FOLDS, "all"))


@dataclass(frozen=True, kw_only=True)
class AdamW(Settings):
    """Settings of the optimizer, and the learning rates to choose from, which each system declares."""

    lr: tuple[float, ...]
    weight_decay: float = parameter(0.01, "AdamW's weight decay.", least=0, most=10)
    beta1: float = parameter(0.9, "AdamW's beta1.", least=0, most=0.9999999)
    beta2: float = parameter(0.999, "AdamW's beta2.", least=0, most=0.9999999)
    eps: float = parameter(1e-8, "AdamW's epsilon.", least=0, most=1)
    precision: str = parameter("no", "no (fp32) or bf16 (autocast; trained weights stay fp32).", among=PRECISIONS)
    seed: int = parameter(0, "Seed of the order of rows, of dropout and of new layers.")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lr", tuple(dict.fromkeys(map(float, self.lr))))


def rates(default: tuple[float, ...], text: str) -> Any:
    """The declaration of `AdamW.lr`."""
    return parameter(default, f"Learning rates; {text}.", least=1e-12, most=1)


@dataclass(frozen=True, kw_only=True)
class Adapters(Settings):
    """LoRA."""

    lora: int = parameter(
        0, "Rank of LoRA adapters trained instead of the model; 0: the model is trained.", least=0, most=4096
    )
    lora_alpha: int = parameter(0, "LoRA's alpha; 0: twice the rank.", least=0, most=65536)


@dataclass(frozen=True, kw_only=True)
class Steps(Settings):
    """How a network that reads text is trained: the warm-up is a part of an epoch, which may be validated in parts."""

    warmup: float = parameter(0.1, "Fraction of an epoch's steps; then the learning rate is constant.", least=0, most=1)
    clip_norm: float = parameter(1.0, "Maximum norm of the gradient; 0: no limit.", least=0, most=1e9)
    validations: int = parameter(1, "Validations per epoch, at equal distances.", least=1, most=10_000)
    patience: int = parameter(
        2,
        "Early stopping: validations without a better result; 0: off.",
        least=0,
        most=10_000,
    )


@dataclass(frozen=True, kw_only=True)
class Machine(Settings):
    """Where the run is computed."""

    device: str = parameter("auto", "Where to train.", among=("auto", "cuda", "mps", "cpu"))
    workers: int = parameter(
        0, "Threads per process that read pictures; 0: one per core, at most 16.", least=0, most=1024
    )
    checkpointing: bool = parameter(False, "Activation checkpointing: less memory, more time.")
