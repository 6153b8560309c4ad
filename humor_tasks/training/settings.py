"""What the settings of every training have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from humor_tasks.benchmarks.caption_contest.corpus import FOLDS
from humor_tasks.errors import BadInput, check_choice

PRECISIONS = ("no", "bf16")
_FOLD_RANGES = (
    ("weight_decay", 0.0, 10.0),
    ("beta1", 0.0, 0.9999999),
    ("beta2", 0.0, 0.9999999),
    ("batch_size", 1, 65536),
    ("epochs", 1, 10_000),
    ("patience", 0, 10_000),
    ("workers", 0, 1024),
)


class Settings:
    """A frozen dataclass that checks itself when it is made."""

    def with_values(self, **values: Any) -> Self:
        """A copy with other values, checked anew."""
        config: Any = self
        changed: Self = dataclasses.replace(config, **values)
        return changed


class FoldSettings(Settings):
    """Those of what is trained on the caption contest, by folds."""

    HOW: ClassVar[tuple[str, ...]] = ("device", "workers", "checkpointing")
    """How a run is computed, not what it computes: these may change when it is gone on with."""

    def as_dict(self) -> dict[str, Any]:
        """What makes the run what it is, as JSON would hold it."""
        config: Any = self
        return {name: plain(value) for name, value in dataclasses.asdict(config).items() if name not in self.HOW}

    def check_shared(self) -> None:
        """What there is in each of them; BadInput names a value that cannot be."""
        config: Any = self
        object.__setattr__(self, "fold", check_choice("fold", str(config.fold), (*FOLDS, "all")))
        check_choice("precision", config.precision, PRECISIONS)
        check_choice("device", config.device, ("auto", "cuda", "mps", "cpu"))
        check_ranges(config, _FOLD_RANGES)


def check_ranges(config: Any, ranges: Iterable[tuple[str, float, float]]) -> None:
    """BadInput naming a value that is not from least to most."""
    for name, least, most in ranges:
        value = getattr(config, name)
        if not least <= value <= most:
            raise BadInput(f"{name}={value}: it must be from {least} to {most}.")


def plain(value: Any) -> Any:
    """As JSON has it."""
    return list(value) if isinstance(value, tuple) else value
