"""Settings of preferences from the crowd's ratings: each is declared once, and is a flag of `export preferences`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from humor_tasks.contract.options import Declared, parameter
from humor_tasks.rows.contests.source import HELD_OUT, numbers


@dataclass(frozen=True, kw_only=True)
class CrowdSettings(Declared):
    """Which contests are read, how pairs are drawn from each, and which split each is in.

    Raises BadInput naming an invalid value.
    """

    annotations: Path | None = parameter(None, "For --crowd: JSON with descriptions. Default: no scene in prompts.")
    contests: str | None = parameter(
        None, "For --crowd: only these, such as 530-620,655. Default: all in the folder.", also=int
    )
    exclude: str | None = parameter(None, "For --crowd: none of these contests.", also=int)
    test: str | None = parameter(
        None, "For --crowd: the test split's contests, or none. Default: the 91 held out as published.", also=int
    )
    validation: float = parameter(0.1, "For --crowd: share of the other contests.", least=0, most=1)
    pairs: int = parameter(1000, "For --crowd: pairs per contest.", least=1)
    seed: int = parameter(2024, "For --crowd: seed of draws and splits.", least=0)
    distinct: bool = parameter(False, "For --crowd: no pair comes twice.")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.chosen, self.excluded, self.tested

    @cached_property
    def chosen(self) -> frozenset[int] | None:
        """The only contests that are read; None: all."""
        return None if self.contests is None else numbers(self.contests, "--contests")

    @cached_property
    def excluded(self) -> frozenset[int]:
        """The contests that get no rows."""
        return numbers(self.exclude, "--exclude")

    @cached_property
    def tested(self) -> frozenset[int]:
        """The contests of the test split."""
        return frozenset(HELD_OUT) if self.test is None else numbers(self.test, "--test")
