"""Reference values of a score: what a guess, or people, reach."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """A reference value of one estimate, such as accuracy or accuracy_cartoon.

    reached_by: who or what reaches the value. source: paper, table and row, or how the value follows from the protocol.
    """

    value: float
    estimate: str
    reached_by: str
    source: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, int | float) or not math.isfinite(self.value):
            raise ValueError(f"level of {self.estimate}: the value is {self.value!r}; give a finite number.")
        for name in ("estimate", "reached_by", "source"):
            if not getattr(self, name).strip():
                raise ValueError(f"level {self.value} of {self.estimate!r}: {name} is empty.")


def guessed(value: float, source: str, *estimates: str, by: str = "a guess") -> tuple[Level, ...]:
    """The level of one who does not look, the same for several estimates."""
    return tuple(Level(value, estimate, by, source) for estimate in estimates)
