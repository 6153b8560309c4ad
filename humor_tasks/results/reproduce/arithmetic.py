"""Whether two printed figures of a vote can come from one set of votes: arithmetic, which reproduces nothing.

Three people judge each pair, and the majority counts. The printed share fixes the number of pairs won. The votes are
not published, so the split into unanimous and divided pairs is free, and nearly every agreement fits some split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humor_tasks.results.reproduce.rows import Row

RATERS = 3  # of each pair in Table 3 of Hessel et al. 2023
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Splits:
    """The ways to split the votes that give both printed figures, of all that give the share; `told` says so."""

    fitting: int
    possible: int
    told: str


def splits(row: Row) -> Splits:
    """How many splits of the votes have the row's printed share (`win_rate`) and agreement (`gwet_ac1`)."""
    by = {figure.metric: figure for figure in row.figures}
    share, ac1 = by["win_rate"], by["gwet_ac1"]
    pairs = (share.n or 0) // RATERS
    near = (math.floor(share.value * pairs), math.ceil(share.value * pairs))
    counts = [k for k in dict.fromkeys(near) if _printed(k / pairs, share.value, row.tolerance["win_rate"])]
    if not counts:
        shown = " and ".join(f"{k} are {100 * k / pairs:.1f} %" for k in near)
        told = f"no whole number of the {pairs} pairs with {RATERS} votes is {100 * share.value:.1f} % ({shown})."
        return Splits(0, 0, told)
    found = [_ac1(pairs, k, a, b) for k in counts for a in range(k + 1) for b in range(pairs - k + 1)]
    fitting = sum(_printed(value, ac1.value, row.tolerance["gwet_ac1"]) for value in found)
    told = (
        f"{fitting:,} of {len(found):,} ways to split {pairs} pairs with the share {share.value:g} into unanimous and "
        f"divided ones have the agreement {ac1.value:g}. The votes are not published."
    )
    return Splits(fitting, len(found), told)


def _printed(value: float, printed: float, tolerance: float) -> bool:
    return abs(value - printed) <= tolerance + _ROUNDING


def _ac1(pairs: int, wins: int, all_a: int, all_b: int) -> float:
    """Gwet's AC1 of `wins` pairs won and the others lost, `all_a` and `all_b` of them by all three votes."""
    agreeing = (all_a + all_b + (pairs - all_a - all_b) / RATERS) / pairs
    share = (2 * wins + all_a + pairs - wins - all_b) / (RATERS * pairs)
    chance = 2 * share * (1 - share)
    return (agreeing - chance) / (1 - chance)
