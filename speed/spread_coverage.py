"""How often the 95 % interval of a spread over K settings holds the truth, by settings, clusters, spread and likeness.

Not speed, but measured all the same. Each cell draws many samples. `ours` is `scorers.spread`, called as it is; the
other is the percentile bootstrap of whole clusters, here for contrast, on the first samples only. Seeds are fixed.

    accuracy   an item takes one chance for all settings with the probability r, which is then the correlation of two
               equal settings' answers, and else one for each; the settings' accuracies go evenly from .95 or .5 down
    rmse       normal errors with the correlation r; the settings' RMSEs go evenly from .6 down
    heavy      the same, but each item's errors have the variance of a gamma distribution with the shape 3

In clusters of four, an item takes its cluster's chance with the probability .3, or has an error correlated by .3.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from humor_tasks.scorers.jackknife import GROUPS
from humor_tasks.scorers.spread import spread_bounds

GOAL, WITHIN = 0.93, 0.3
KINDS = {"accuracy": 0.5, "accuracy .95": 0.95, "rmse": 0.6, "heavy": 0.6}  # and the highest setting's score


@dataclass(frozen=True)
class Cell:
    """What is drawn: the kind of metric, settings, clusters, items a cluster, true spread, and likeness of answers."""

    kind: str
    settings: int
    clusters: int
    size: int
    spread: float
    likeness: float

    @property
    def bounded(self) -> bool:
        return self.kind.startswith("accuracy")

    @property
    def metric(self) -> Callable[[Any], Any]:
        """The metric as a function of the mean over items of what `sums` adds up."""
        return np.asarray if self.bounded else np.sqrt


def cells() -> Iterator[Cell]:
    for kind in KINDS:
        for settings in (2, 4, 5):
            for clusters in (20, 60, 131, 500):
                for size in (1, 4):
                    for spread in (0.0, 0.01, 0.05, 0.2):
                        yield from (Cell(kind, settings, clusters, size, spread, r) for r in (0.9, 0.5))


# ---- drawing ------------------------------------------------------------------------------------


def sums(cell: Cell, rng: np.random.Generator, samples: int) -> Any:
    """Each cluster's sum of right answers or of squared errors: [samples, settings, clusters]."""
    scores = KINDS[cell.kind] - np.linspace(0, cell.spread, cell.settings)
    shape = samples, cell.clusters, cell.size
    items = right(cell, rng, shape, scores) if cell.bounded else squares(cell, rng, shape, scores)
    return items.sum(axis=2).transpose(0, 2, 1)


def right(cell: Cell, rng: np.random.Generator, shape: tuple[int, int, int], scores: Any) -> Any:
    alike = rng.random((*shape, 1), np.float32) < cell.likeness
    chance = np.where(alike, rng.random((*shape, 1), np.float32), rng.random((*shape, cell.settings), np.float32))
    if cell.size > 1:
        chance = np.where(rng.random((*shape, 1), np.float32) < WITHIN, chance[:, :, :1], chance)
    return (chance < scores).astype(np.float32)


def squares(cell: Cell, rng: np.random.Generator, shape: tuple[int, int, int], scores: Any) -> Any:
    def normal(size: int) -> Any:
        of_all = rng.standard_normal((*shape[:2], size, 1), np.float32)
        of_each = rng.standard_normal((*shape[:2], size, cell.settings), np.float32)
        return np.sqrt(cell.likeness) * of_all + np.sqrt(1 - cell.likeness) * of_each

    errors = normal(cell.size)
    if cell.size > 1:
        errors = np.sqrt(WITHIN) * normal(1) + np.sqrt(1 - WITHIN) * errors
    variance = rng.gamma(3, 1 / 3, (*shape, 1)) if cell.kind == "heavy" else 1.0
    return np.square(errors * scores) * variance


# ---- intervals ----------------------------------------------------------------------------------


def pseudo_values(cell: Cell, drawn: Any) -> Any:
    """`scorers.pseudo_values` of every sample and setting: [samples, settings, groups]."""
    groups = min(GROUPS, cell.clusters)
    group = np.arange(groups)
    if cell.clusters > groups:
        group = np.random.default_rng(0).permutation(cell.clusters) % groups
    member = (group[:, None] == np.arange(groups)).astype(float)
    rows, held = cell.size * cell.clusters, cell.size * member.sum(axis=0)
    total = drawn.sum(axis=-1, keepdims=True)
    without = cell.metric((total - drawn @ member) / (rows - held))
    return cell.metric(total / rows) + (groups - 1) * (without.mean(axis=-1, keepdims=True) - without)


def percentiles(cell: Cell, drawn: Any, rng: np.random.Generator, draws: int = 400) -> tuple[Any, Any]:
    """Low and high of the percentile bootstrap of the observed spread."""
    weights = rng.multinomial(cell.clusters, np.full(cell.clusters, 1 / cell.clusters), draws)
    scores = cell.metric(drawn @ weights.T / (cell.size * cell.clusters))
    return tuple(np.percentile(np.ptp(scores, axis=1), [2.5, 97.5], axis=-1))


# ---- measuring ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Coverage and mean width of ours, coverage of the bootstrap, and the mean observed spread."""

    coverage: float
    width: float
    bootstrap: float
    observed: float


def measured(cell: Cell, samples: int, of_bootstrap: int = 200, seed: int = 0) -> Measured:
    rng = np.random.default_rng(seed)
    drawn = sums(cell, rng, samples)
    value, _, low, high = spread_bounds(pseudo_values(cell, drawn), cell.clusters, cell.bounded)
    naive = percentiles(cell, drawn[:of_bootstrap], rng) if of_bootstrap else (np.nan, np.nan)
    return Measured(
        holds(low, high, cell.spread), float((high - low).mean()), holds(*naive, cell.spread), float(value.mean())
    )


def holds(low: Any, high: Any, truth: float) -> float:
    """The share of intervals with the truth in them; sums in another order may miss it by 1e-9."""
    return float(np.mean((low <= truth + 1e-9) & (truth <= high + 1e-9)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4_000, help="samples a cell; a quarter of them at 500 clusters")
    samples = parser.parse_args().samples
    print(f"{'metric':14}{'K':>2}{'clusters':>9}{'items':>6}{'r':>5}{'spread':>8}", end="")
    print(f"{'observed':>10}{'ours':>8}{'width':>8}{'bootstrap':>11}")
    found = {}
    for cell in cells():
        one = found[cell] = measured(cell, samples // 4 if cell.clusters == 500 else samples)
        print(f"{cell.kind:14}{cell.settings:2}{cell.clusters:9}{cell.size:6}{cell.likeness:5}{cell.spread:8}", end="")
        mark = "*" if one.coverage < GOAL else " "
        print(f"{one.observed:10.4f}{one.coverage:8.3f}{mark}{one.width:7.4f}{one.bootstrap:11.3f}", flush=True)
    print(f"\n{len(found)} cells of {samples} samples, below {GOAL} (*) in", end=" ")
    print(sum(one.coverage < GOAL for one in found.values()))
    for kind in KINDS:
        of_kind = {cell: one for cell, one in found.items() if cell.kind == kind}
        worst = min(of_kind, key=lambda cell: of_kind[cell].coverage)
        mean = np.mean([one.coverage for one in of_kind.values()])
        # The lowest of many cells is low by chance, too, so it is drawn again.
        again = measured(worst, 10 * samples, of_bootstrap=0, seed=1).coverage
        print(f"{kind:14} mean {mean:.3f}, lowest {of_kind[worst].coverage:.3f} in {worst}")
        print(f"{'':14} the lowest again, with ten times as many samples: {again:.4f}")
    for spread in (0.0, 0.01, 0.05, 0.2):
        naive = [one.bootstrap for cell, one in found.items() if cell.spread == spread]
        print(f"bootstrap at a spread of {spread:<5} lowest {min(naive):.3f}, mean {np.mean(naive):.3f}")


if __name__ == "__main__":
    main()
