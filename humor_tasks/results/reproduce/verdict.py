"""Whether a published row is reproduced, or, where only arithmetic is possible, whether its figures are consistent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from humor_tasks.data.published import Figure
from humor_tasks.results.reproduce.arithmetic import Splits, splits
from humor_tasks.results.reproduce.recipes import RECIPES, CannotRunHere, Given, rescored, value_of
from humor_tasks.results.reproduce.rows import Row
from humor_tasks.scorers.estimate import Estimate

Status = Literal["reproduced", "differs", "cannot run here", "consistent", "inconsistent"]
EXIT: Mapping[Status, int] = {"differs": 1, "reproduced": 0, "cannot run here": 3, "inconsistent": 5, "consistent": 4}
"""Verdict -> exit status; of several rows' verdicts the first one here counts."""
_ROUNDING = 1e-9  # of the difference of two numbers that are printed with few digits


@dataclass(frozen=True)
class Compared:
    """A published figure, the value computed here, and the largest difference that agrees."""

    figure: Figure
    here: Estimate
    tolerance: float

    @property
    def difference(self) -> float:
        """Here minus published."""
        difference: float = self.here.value - self.figure.value
        return difference

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance; a value that is not a number does not agree."""
        return abs(self.difference) <= self.tolerance + _ROUNDING

    def as_dict(self) -> dict[str, Any]:
        """For JSON; an undefined number is None."""
        numbers = {"here": self.here.value, "low": self.here.low, "high": self.here.high, "difference": self.difference}
        shown = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        about = {"metric": self.figure.estimate, "published": self.figure.value, "source": self.figure.source}
        return (
            about
            | shown
            | {"n": self.here.n, "published_n": self.figure.n, "tolerance": self.tolerance, "agrees": self.agrees}
        )

    def __str__(self) -> str:
        interval = f" [{self.here.low:.5f}, {self.here.high:.5f}]" if math.isfinite(self.here.low) else ""
        return (
            f"{self.figure.estimate}: published {self.figure.value:.5f}, here {self.here.value:.5f}{interval}, "
            f"n {self.here.n}, difference {self.difference:+.5f}, tolerance {self.tolerance:g}"
        )


@dataclass(frozen=True)
class Verdict:
    """The result of a row: what was compared, or the reason why it cannot run here.

    changed: parameters that the user set to another value than the published one. splits: for a row of printed votes,
    which is only checked by arithmetic.
    """

    row: Row
    compared: Sequence[Compared] = ()
    reason: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)
    splits: Splits | None = None

    @property
    def status(self) -> Status:
        """Reproduced where every figure agrees; figures that some votes have are only consistent."""
        if self.splits is not None:
            return "consistent" if self.splits.fitting else "inconsistent"
        if self.reason:
            return "cannot run here"
        return "reproduced" if all(each.agrees for each in self.compared) else "differs"

    @property
    def told(self) -> str:
        """The status in a phrase: `reproduced`, `differs by ...`, `cannot run here, because ...`, `consistent: ...`."""
        if self.splits is not None:
            return f"{self.status}: {self.splits.told}"
        if self.reason:
            return f"cannot run here, because {self.reason}"
        if self.status == "reproduced":
            return "reproduced"
        wrong = (f"{each.difference:+.5f} ({each.figure.estimate})" for each in self.compared if not each.agrees)
        return f"differs by {', '.join(wrong)}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        about = {"row": self.row.name, "status": self.status, "command": self.row.command, "needs": self.row.needs}
        figures = [each.as_dict() for each in self.compared]
        found = {"reason": self.reason, "figures": figures, "changed": dict(self.changed)}
        return about | found | ({"splits": asdict(self.splits)} if self.splits else {})


def reproduce(row: Row, given: Given) -> Verdict:
    """Compute a row and compare it with what is published. Raises BadInput for predictions that do not fit."""
    if row.recipe == "votes" and not given.predictions:
        return Verdict(row, splits=splits(row))
    changed = {name: value for name, value in given.parameters.items() if row.parameters.get(name) != value}
    try:
        found = rescored(row, given, given.predictions) if given.predictions else RECIPES[row.recipe](row, given)
        compared = []
        for figure in row.figures:
            here = value_of(figure, found)
            if here is None:
                raise CannotRunHere(f"the rows give no {figure.estimate}; are they labelled?")
            compared.append(Compared(figure, here, row.tolerance[figure.metric]))
    except CannotRunHere as problem:
        return Verdict(row, reason=str(problem), changed=changed)
    return Verdict(row, compared, changed=changed)
