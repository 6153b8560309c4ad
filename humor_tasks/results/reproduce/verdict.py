"""Whether a published row is reproduced, or, where only arithmetic is possible, whether its figures are consistent.

The arithmetic says whether two printed figures of a vote can come from one set of votes; it reproduces nothing. Three
people judge each pair, and the majority counts. The printed share fixes the number of pairs won. The votes are not
published, so the split into unanimous and divided pairs is free, and nearly every agreement fits some split.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from humor_tasks.contract.loaded import PROTOCOL_PARAMETERS as PROTOCOL
from humor_tasks.papers.published import Figure
from humor_tasks.results.reproduce.recipes import RECIPES, CannotRunHere, Given, rescored
from humor_tasks.results.reproduce.rows import BASES, Row, rows
from humor_tasks.scorers.estimate import Estimate

Status = Literal["reproduced", "differs", "not the published rows", "cannot run here", "consistent", "inconsistent"]
EXIT: Mapping[Status, int] = {
    "differs": 1,
    "not the published rows": 6,
    "reproduced": 0,
    "cannot run here": 3,
    "inconsistent": 5,
    "consistent": 4,
}
"""Verdict -> exit status; of several rows' verdicts the first one here counts."""
SHOWN = 3  # differences of the rows in a sentence
RATERS = 3  # of each pair in Table 3 of Hessel et al. 2023
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
        return _agrees(self.here.value, self.figure.value, self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; an undefined number is None."""
        numbers = {"here": self.here.value, "low": self.here.low, "high": self.here.high, "difference": self.difference}
        about = {"metric": self.figure.estimate, "published": self.figure.value, "source": self.figure.source}
        about |= {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        counts = {"n": self.here.n, "published_n": self.figure.n}
        return about | counts | {"tolerance": self.tolerance, "agrees": self.agrees}

    def __str__(self) -> str:
        interval = f" [{self.here.low:.5f}, {self.here.high:.5f}]" if math.isfinite(self.here.low) else ""
        return (
            f"{self.figure.estimate}: published {self.figure.value:.5f}, here {self.here.value:.5f}{interval}, "
            f"n {self.here.n}, difference {self.difference:+.5f}, tolerance {self.tolerance:g}"
        )


@dataclass(frozen=True)
class Splits:
    """The ways to split the votes that give both printed figures, of all that give the share; `sentence` says so."""

    fitting: int
    possible: int
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """The result of a row: what was compared, or the reason why it cannot run here.

    changed: parameters that the user set to another value than the published one. others: where the rows are not those
    of the published figures, one sentence each. fits: the other systems' rows that the same values fit, within their
    tolerances. splits: for a row of printed votes, which is only checked by arithmetic. signature: see `Computed`.
    """

    row: Row
    compared: Sequence[Compared] = ()
    reason: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)
    splits: Splits | None = None
    others: Sequence[str] = ()
    fits: Sequence[str] = ()
    signature: str = ""

    @property
    def status(self) -> Status:
        """Reproduced where every figure agrees, on the published rows; figures that some votes have are consistent."""
        if self.splits is not None:
            return "consistent" if self.splits.fitting else "inconsistent"
        if self.reason:
            return "cannot run here"
        if self.others:
            return "not the published rows"
        return "reproduced" if all(figure.agrees for figure in self.compared) else "differs"

    @property
    def sentence(self) -> str:
        """The status in a phrase: `reproduced`, `differs by ...`, `cannot run here, because ...`, `consistent: ...`."""
        if self.splits is not None:
            return f"{self.status}: {self.splits.sentence}"
        if self.reason:
            return f"cannot run here, because {self.reason}"
        if self.others:
            more = f" {len(self.others) - SHOWN} more differences." if len(self.others) > SHOWN else ""
            return f"not the published rows: {' '.join(self.others[:SHOWN])}{more}"
        if self.status == "reproduced":
            return "reproduced"
        off = (f"{c.difference:+.5f} ({c.figure.estimate})" for c in self.compared if not c.agrees)
        return f"differs by {', '.join(off)}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        row = self.row
        about: dict[str, Any] = {"row": row.name, "status": self.status, "command": row.command, "needs": row.needs}
        about |= {"reason": self.reason, "figures": [compared.as_dict() for compared in self.compared]}
        about |= {"changed": dict(self.changed), "other_rows": list(self.others)}
        about |= {"also_fits": list(self.fits), "basis": BASES[row.basis]}
        about |= {"signature": self.signature} if self.signature else {}
        s = self.splits
        return about | ({"splits": {"fitting": s.fitting, "possible": s.possible, "told": s.sentence}} if s else {})


def reproduce(row: Row, given: Given) -> Verdict:
    """Compute a row and compare it with what is published. Raises BadInput for predictions that do not fit."""
    if row.recipe == "votes" and not given.predictions:
        return Verdict(row, splits=splits(row))
    changed = {name: value for name, value in given.parameters.items() if row.parameters.get(name) != value}
    try:
        computed = rescored(row, given, given.predictions) if given.predictions else RECIPES[row.recipe](row, given)
        compared = []
        for figure in row.figures:
            here = _estimate(computed.estimates, figure)
            if here is None:
                raise CannotRunHere(f"the rows give no {figure.estimate}; are they labelled?")
            compared.append(Compared(figure, here, row.tolerance[figure.metric]))
    except CannotRunHere as problem:
        return Verdict(row, reason=str(problem), changed=changed)
    others = _others(row, changed, compared) or computed.others
    fits, signature = fitting(row, computed.estimates), computed.signature
    return Verdict(row, compared, changed=changed, others=others, fits=fits, signature=signature)


def _estimate(estimates: Mapping[str, Estimate], figure: Figure) -> Estimate | None:
    """The estimate of a figure's part, else that of the whole run."""
    return estimates.get(figure.estimate) or estimates.get(figure.metric)


def fitting(row: Row, estimates: Mapping[str, Estimate]) -> list[str]:
    """The names of other systems' rows of the same figures (metrics and parts) that these values fit.

    A score that fits several rows does not tell which system it is of.
    """

    def fits(other: Row) -> bool:
        values = [_estimate(estimates, figure) for figure in other.figures]
        return all(
            value is not None and _agrees(value.value, figure.value, other.tolerance[figure.metric])
            for value, figure in zip(values, other.figures, strict=True)
        )

    alike = {figure.estimate for figure in row.figures}
    mine = {figure.system for figure in row.figures}
    return [
        other.name
        for other in rows().values()
        if other.benchmark == row.benchmark
        and {figure.estimate for figure in other.figures} == alike
        and mine.isdisjoint(figure.system for figure in other.figures)
        and fits(other)
    ]


def _others(row: Row, changed: Mapping[str, Any], compared: Sequence[Compared]) -> list[str]:
    """Where parameters choose other rows or another protocol than the row's, or another number of rows is counted."""
    declared = {name: value for name, value in changed.items() if name in row.parameters or name not in PROTOCOL}
    if declared:
        return [f"{name}={value} is not as published." for name, value in declared.items()]
    numbers = {(c.here.n, c.figure.n) for c in compared if c.figure.n not in (None, c.here.n)}
    return [f"{here:,} items count, and {there:,} are published." for here, there in sorted(numbers)]


# ---- votes --------------------------------------------------------------------------------------


def splits(row: Row) -> Splits:
    """How many splits of the votes have the row's printed share (`win_rate`) and agreement (`gwet_ac1`)."""
    by_metric = {figure.metric: figure for figure in row.figures}
    share, ac1 = by_metric["win_rate"], by_metric["gwet_ac1"]
    pairs = (share.n or 0) // RATERS
    near = (math.floor(share.value * pairs), math.ceil(share.value * pairs))
    wins = [k for k in dict.fromkeys(near) if _agrees(k / pairs, share.value, row.tolerance["win_rate"])]
    if not wins:
        nearest = " and ".join(f"{k} are {100 * k / pairs:.1f} %" for k in near)
        problem = f"no whole number of the {pairs} pairs with {RATERS} votes is {100 * share.value:.1f} % ({nearest})."
        return Splits(0, 0, problem)
    possible = [_ac1(pairs, k, a, b) for k in wins for a in range(k + 1) for b in range(pairs - k + 1)]
    fitting = sum(_agrees(value, ac1.value, row.tolerance["gwet_ac1"]) for value in possible)
    sentence = (
        f"{fitting:,} of {len(possible):,} ways to split {pairs} pairs with the share {share.value:g} into unanimous "
        f"and divided ones have the agreement {ac1.value:g}. The votes are not published."
    )
    return Splits(fitting, len(possible), sentence)


def _agrees(value: float, printed: float, tolerance: float) -> bool:
    return abs(value - printed) <= tolerance + _ROUNDING


def _ac1(pairs: int, wins: int, all_a: int, all_b: int) -> float:
    """Gwet's AC1 of `wins` pairs won and the others lost, `all_a` and `all_b` of them by all three votes."""
    agreeing = (all_a + all_b + (pairs - all_a - all_b) / RATERS) / pairs
    share = (2 * wins + all_a + pairs - wins - all_b) / (RATERS * pairs)
    chance = 2 * share * (1 - share)
    return (agreeing - chance) / (1 - chance)
