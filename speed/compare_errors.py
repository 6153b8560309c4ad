"""How often tests of two or more equal systems find a difference, and how often they find a planted one.

Not speed, but measured all the same. A simulation has 2 to 6 systems on the same items in clusters. All systems are
right with the same chance, so that every difference found is an error. An error is a simulation in which at least one
comparison has a p-value of at most .05 after Holm's correction over all of them.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from interval_coverage import sizes_of

from humor_tasks.scorers.jackknife import pseudo_values, swap_values
from humor_tasks.scorers.paired import PairedTest, holm, paired_tests, permutation_items

METHODS = ("permutation", "clustered t", "McNemar")
ALPHA, RIGHT = 0.05, 0.6


@dataclass(frozen=True)
class Cell:
    """What is drawn.

    rho: the intra-cluster correlation of each system. kind: `alike` (systems exchangeable within clusters), `unlike`
    (equal means, but the first system is right on whole clusters or wrong on them, the others by item), `copies`
    (systems that differ on one item in twenty), `ratings` (continuous scores), `rmse` (their root mean square, by its
    jackknife values over groups of clusters).
    """

    systems: int
    items: int
    clusters: int
    how: str
    rho: float
    kind: str = "alike"

    @property
    def name(self) -> str:
        return f"{self.systems} systems, {self.items}/{self.clusters} {self.how}, rho {self.rho:g}, {self.kind}"


def chances(rng: np.random.Generator, mean: Any, rho: float, groups: int) -> Any:
    """Beta-distributed chances with this mean and intra-cluster correlation."""
    if rho == 0:
        return np.broadcast_to(mean, groups)
    if rho == 1:
        return (rng.random(groups) < mean).astype(float)
    return rng.beta(mean * (1 - rho) / rho, (1 - mean) * (1 - rho) / rho, groups)


def drawn(cell: Cell, rng: np.random.Generator, gain: float = 0.0) -> tuple[Any, list[int]]:
    """Scores, systems x items, and the items' clusters; the first system is better by `gain`."""
    clusters = np.repeat(np.arange(cell.clusters), sizes_of(cell.items, cell.clusters, cell.how))
    n, groups = len(clusters), cell.clusters
    if cell.kind in ("ratings", "rmse"):
        own, theirs = rng.normal(0, 1, (cell.systems, n)), rng.normal(0, 1, (cell.systems, groups))
        scores = math.sqrt(1 - cell.rho) * own + math.sqrt(cell.rho) * theirs[:, clusters]
        scores[0] += gain
        if cell.kind == "ratings":
            return scores, clusters.tolist()
        return np.square(scores), clusters.tolist()
    if cell.kind == "copies":
        base = rng.random(n) < chances(rng, RIGHT, cell.rho, groups)[clusters]
        again = rng.random((cell.systems, n)) < 0.025
        return np.where(again, ~base, base).astype(float), clusters.tolist()
    scores = []
    for k in range(cell.systems):
        rho = float(k == 0) if cell.kind == "unlike" else cell.rho
        chance = chances(rng, RIGHT + gain * (k == 0), rho, groups)
        scores.append(rng.random(n) < chance[clusters])
    return np.array(scores, dtype=float), clusters.tolist()


def cells() -> Iterator[Cell]:
    for systems, rho in itertools.product((3, 6), (0.0, 0.3, 0.7)):
        for items, clusters, how in ((60, 6, "even"), (100, 10, "uneven"), (120, 30, "half")):
            yield Cell(systems, items, clusters, how, rho)
        yield Cell(systems, 500, 130, "even", rho)
        yield Cell(systems, 500, 130, "uneven", rho)
    for systems in (2, 4):
        yield Cell(systems, 200, 40, "uneven", 0.3)
        for items, clusters, how in ((200, 40, "even"), (500, 130, "even"), (500, 130, "uneven")):
            yield Cell(systems, items, clusters, how, 0.3, "copies")
            yield Cell(systems, items, clusters, how, 0.3, "unlike")
        yield Cell(systems, 200, 20, "uneven", 0.3, "ratings")
        for items, clusters, how in ((200, 20, "uneven"), (500, 130, "even"), (500, 130, "uneven")):
            yield Cell(systems, items, clusters, how, 0.3, "rmse")


def tested(cell: Cell, scores: Any, clusters: list[int], draws: int, seed: int) -> list[PairedTest]:
    if cell.kind != "rmse":
        pairs = [(a, b, clusters) for a, b in itertools.combinations(scores.tolist(), 2)]
        return paired_tests(pairs, draws, seed)
    values = [pseudo_values(lambda kept, row=row: math.sqrt(row[kept].mean()), clusters) for row in scores]
    swaps = [
        swap_values(lambda i, j, a=a, b=b: math.sqrt((a[i].sum() + b[j].sum()) / (len(i) + len(j))), clusters)
        for a, b in itertools.combinations(scores, 2)
    ]
    return paired_tests(
        [(a, b, range(len(a))) for a, b in itertools.combinations(values, 2)], draws, seed, swapped=swaps
    )


def p_values(tests: list[PairedTest]) -> dict[str, list[float]]:
    found = zip(METHODS, zip(*((t.p_value, t.t_p_value, t.mcnemar) for t in tests), strict=True), strict=True)
    return {name: [1.0 if math.isnan(p) else p for p in column] for name, column in found}


def errors(cell: Cell, simulations: int, draws: int = 1_000, seed: int = 0) -> dict[str, float]:
    """The share of simulations of equal systems in which a method finds a difference, after Holm's correction.

    McNemar's test is not defined for ratings: it finds nothing.
    """
    rng, wrong = np.random.default_rng(seed), dict.fromkeys(METHODS, 0)
    for i in range(simulations):  # its own random patterns in each, or all would share the errors of one draw
        for name, column in p_values(tested(cell, *drawn(cell, rng), draws, i)).items():
            wrong[name] += min(holm(column)) <= ALPHA
    return {name: count / simulations for name, count in wrong.items()}


# ---- planted differences ------------------------------------------------------------------------


def planted() -> Iterator[tuple[Cell, float]]:
    for systems, rho in itertools.product((2, 4), (0.0, 0.3)):
        yield Cell(systems, 400, 100, "even", rho), 0.1
    yield Cell(2, 400, 100, "uneven", 0.3), 0.1
    yield Cell(2, 400, 100, "even", 0.3, "ratings"), 0.2


def power(
    cell: Cell, gain: float, simulations: int, draws: int = 1_000, seed: int = 0
) -> tuple[Cell, dict[str, float]]:
    """The cell with the number of items that a large sample says are needed, and how often they show the difference.

    With more than two systems it is the share of the comparisons with the better system, after Holm's correction.
    """
    rng, found = np.random.default_rng(seed), dict.fromkeys(METHODS, 0.0)
    clusters = 10_000
    pilot = replace(cell, items=cell.items * clusters // cell.clusters, clusters=clusters)
    scores, by = drawn(pilot, rng, gain)
    comparisons = math.comb(cell.systems, 2)
    needed = permutation_items(*scores[:2].tolist(), by, gain, level=1 - ALPHA / comparisons)
    cell = replace(cell, items=needed, clusters=round(needed * cell.clusters / cell.items))
    for i in range(simulations):
        for name, column in p_values(tested(cell, *drawn(cell, rng, gain), draws, i)).items():
            found[name] += np.mean([p <= ALPHA for p in holm(column)[: cell.systems - 1]])
    return cell, {name: total / simulations for name, total in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--power", action="store_true", help="planted differences only")
    given = parser.parse_args()
    if not given.power:
        show_errors(given.simulations)
    show_power(given.simulations)


def show_errors(simulations: int) -> None:
    print(f"{'errors after Holm (goal: at most 5.5 %)':50}" + "".join(f"{name:>13}" for name in METHODS))
    for cell in cells():
        found = errors(cell, simulations)
        print(f"{cell.name:50}" + "".join(f"{found[name]:13.3f}" for name in METHODS), flush=True)


def show_power(simulations: int) -> None:
    print(f"\n{'planted differences found (goal: 80 %)':50}{'items':>7}" + "".join(f"{name:>13}" for name in METHODS))
    for cell, gain in planted():
        cell, found = power(cell, gain, simulations)
        print(f"{cell.name:50}{cell.items:7}" + "".join(f"{found[name]:13.3f}" for name in METHODS), flush=True)


if __name__ == "__main__":
    main()
