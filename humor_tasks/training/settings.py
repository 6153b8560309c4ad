"""Validation and serialisation shared by the training configurations."""

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
    """Base class of a frozen dataclass that validates its values."""

    def with_values(self, **values: Any) -> Self:
        """A validated copy with other values."""
        config: Any = self
        changed: Self = dataclasses.replace(config, **values)
        return changed


class FoldSettings(Settings):
    """Settings of trainings on the caption contest, by folds."""

    HOW: ClassVar[tuple[str, ...]] = ("device", "workers", "checkpointing")
    """Settings that do not affect the results, and may differ when a run is resumed."""

    def as_dict(self) -> dict[str, Any]:
        """The settings that identify the run, as JSON values."""
        config: Any = self
        return {name: plain(value) for name, value in dataclasses.asdict(config).items() if name not in self.HOW}

    def check_shared(self) -> None:
        """Validate the settings that all trainings by folds have. Raises BadInput naming an invalid value."""
        config: Any = self
        object.__setattr__(self, "fold", check_choice("fold", str(config.fold), (*FOLDS, "all")))
        check_choice("precision", config.precision, PRECISIONS)
        check_choice("device", config.device, ("auto", "cuda", "mps", "cpu"))
        check_ranges(config, _FOLD_RANGES)


def check_ranges(config: Any, ranges: Iterable[tuple[str, float, float]]) -> None:
    """Raise BadInput naming a value outside its range."""
    for name, least, most in ranges:
        value = getattr(config, name)
        if not least <= value <= most:
            raise BadInput(f"{name}={value}: it must be from {least} to {most}.")


def check_rates(rates: Iterable[float]) -> tuple[float, ...]:
    """The distinct learning rates, in order. Raises BadInput for one that is none."""
    found = tuple(dict.fromkeys(rates))
    if not found or not all(0 < rate <= 1 for rate in found):
        raise BadInput(f"lr={found}: learning rates must be above 0 and at most 1.")
    return found


def plain(value: Any) -> Any:
    """The value as JSON represents it."""
    return list(value) if isinstance(value, tuple) else value
