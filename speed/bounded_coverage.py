"""How often the 95 % interval of a mean of ratings holds the truth, by distribution, clusters and their sizes.

Not speed, but measured all the same. Each cell draws many samples. `ours` is `scorers.bounded_mean`, `t` Student's t
cut to the scale, `proportion` the interval of `clustered_proportion` with the ratings on a scale from 0 to 1. Seeds are
fixed. The scale is from 0 to 1; ratings from 1 to 5 are its quarters, grades from 0 to 3 its thirds.

A rating is that of its cluster with the probability LIKE, and else one of its own. Clusters have one row, two, or from
one to five.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from humor_tasks.scorers.bounded_mean import bounds
from humor_tasks.scorers.proportion import binomial_interval, effective_rows

GOAL, LIKE = 0.93, 0.55
FIVE, FOUR = np.linspace(0, 1, 5), np.linspace(0, 1, 4)
_PERCENT = np.random.default_rng(5).beta(8, 2, 400).round(2)  # a scale from 0 to 100

DISTRIBUTIONS: dict[str, tuple[Any, Any]] = {
    "always 5": (FIVE, [0, 0, 0, 0, 1]),
    "5, .02 of 1": (FIVE, [0.02, 0, 0, 0, 0.98]),
    "5, .02 of any": (FIVE, [0.005, 0.005, 0.005, 0.005, 0.98]),
    "5, .1 of 4": (FIVE, [0, 0, 0, 0.1, 0.9]),
    "5, .1 of any": (FIVE, [0.025, 0.025, 0.025, 0.025, 0.9]),
    "5, .1 of 1": (FIVE, [0.1, 0, 0, 0, 0.9]),
    "5, .2 of 4": (FIVE, [0, 0, 0, 0.2, 0.8]),
    "5, .2 of any": (FIVE, [0.05, 0.05, 0.05, 0.05, 0.8]),
    "5, few 4 and 1": (FIVE, [0.02, 0, 0, 0.08, 0.9]),
    "high": (FIVE, [0.05, 0.05, 0.1, 0.3, 0.5]),
    "uniform": (FIVE, [0.2] * 5),
    "U": (FIVE, [0.4, 0.08, 0.04, 0.08, 0.4]),
    "around 3": (FIVE, [0, 0.15, 0.7, 0.15, 0]),
    "nearly 3": (FIVE, [0, 0.02, 0.96, 0.02, 0]),
    "3 with tails": (FIVE, [0.01, 0.04, 0.9, 0.04, 0.01]),
    "low grades": (FOUR, [0.6, 0.3, 0.08, 0.02]),
    "percent": (_PERCENT, np.full(400, 1 / 400)),
    ".9 and .95, .01 of 0": ([0, 0.9, 0.95], [0.01, 0.5, 0.49]),
}
DISTRIBUTIONS |= {
    f"random {i}": (FIVE, np.random.default_rng(i).dirichlet([(0.2, 0.5, 1.0)[i % 3]] * 5)) for i in range(40)
}
IMPOSSIBLE = ".9 and .95, .01 of 0"
"""A sample without a 0 looks like one from a distribution without it; no interval as narrow as t's holds both."""


@dataclass(frozen=True)
class Cell:
    """What is drawn: the distribution, the number of clusters, and the rows in each: "1", "2" or "uneven"."""

    distribution: str
    clusters: int
    rows: str

    @property
    def sizes(self) -> Any:
        """The rows of each cluster."""
        if self.rows == "uneven":
            return np.array([5 if i % 5 == 0 else 1 + i % 2 for i in range(self.clusters)])
        return np.full(self.clusters, int(self.rows))

    @property
    def truth(self) -> float:
        """The true mean."""
        values, chances = DISTRIBUTIONS[self.distribution]
        return float(np.dot(values, chances))


def cells() -> Iterator[Cell]:
    for distribution in DISTRIBUTIONS:
        for rows in ("1", "2", "uneven"):
            yield from (Cell(distribution, clusters, rows) for clusters in (3, 5, 10, 20, 50, 200))


# ---- drawing ------------------------------------------------------------------------------------


def draw(cell: Cell, rng: np.random.Generator, samples: int) -> tuple[Any, Any]:
    """Ratings [samples, clusters, rows] and which of the rows there are [clusters, rows]."""
    values, chances = (np.asarray(x, dtype=float) for x in DISTRIBUTIONS[cell.distribution])
    most = int(cell.sizes.max())
    own = rng.choice(values, (samples, cell.clusters, most), p=chances)
    shared = rng.choice(values, (samples, cell.clusters, 1), p=chances)
    alike = rng.random(own.shape) < (LIKE if most > 1 else 0)
    return np.where(alike, shared, own), np.arange(most) < cell.sizes[:, None]


# ---- intervals ----------------------------------------------------------------------------------


def intervals(cell: Cell, drawn: Any, there: Any) -> dict[str, tuple[Any, Any]]:
    """Low and high of each sample, by kind of interval."""
    sizes, count = cell.sizes, cell.clusters
    shares = sizes / sizes.sum()
    means = (drawn * there).sum(axis=-1) / sizes
    value = means @ shares
    sums = shares * (means - value[:, None])
    stderr = np.sqrt(np.square(sums).sum(axis=-1) * count / (count - 1))
    half = stdtrit(count - 1, 0.975) * stderr
    within = np.square((drawn - value[:, None, None]) * there / sizes.sum()).sum(axis=(1, 2))
    rows = effective_rows(value, np.broadcast_to(shares, sums.shape), sums, sizes.sum(), within)
    return {
        "ours": bounds(value, stderr, half, means, np.broadcast_to(shares, means.shape)),
        "t": (np.maximum(value - half, 0), np.minimum(value + half, 1)),
        "proportion": binomial_interval(value, rows),
    }


def holds(low: Any, high: Any, truth: float) -> float:
    """The share of intervals with the truth in them; sums in another order may miss it by 1e-9."""
    return float(np.mean((low <= truth + 1e-9) & (truth <= high + 1e-9)))


def measured(cell: Cell, samples: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Coverage and mean width of each kind of interval."""
    by_kind = intervals(cell, *draw(cell, np.random.default_rng(seed), samples))
    return {kind: (holds(*ends, cell.truth), float((ends[1] - ends[0]).mean())) for kind, ends in by_kind.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4_000, help="samples a cell")
    samples = parser.parse_args().samples
    print(f"{'distribution':21}{'clusters':>9}{'rows':>8}", end="")
    print("".join(f"{kind:>12}{'width':>7}" for kind in ("ours", "t", "proportion")))
    found = {}
    for cell in cells():
        one = found[cell] = measured(cell, samples)
        print(f"{cell.distribution:21}{cell.clusters:9}{cell.rows:>8}", end="")
        print("".join(f"{c:11.3f}{'*' if c < GOAL else ' '}{width:7.3f}" for c, width in one.values()), flush=True)
    possible = {cell: one for cell, one in found.items() if cell.distribution != IMPOSSIBLE}
    print(f"\n{len(possible)} cells of {samples} samples without {IMPOSSIBLE}")
    for kind in ("ours", "t", "proportion"):
        worst = min(possible, key=lambda cell: possible[cell][kind][0])
        below = sum(one[kind][0] < GOAL for one in possible.values())
        print(f"{kind:11} below {GOAL} (*) in {below}, lowest {possible[worst][kind][0]:.3f} in {worst}")
    for clusters in (5, 10, 20, 50, 200):
        fine = [one for cell, one in possible.items() if cell.clusters == clusters and one["t"][0] >= 0.94]
        ratios = [one["ours"][1] / one["t"][1] for one in fine if one["t"][1] > 1e-9]
        print(f"width over t's where that holds the truth in .94, {clusters:3} clusters:", end=" ")
        print(f"median {np.median(ratios):.3f}, highest {max(ratios):.3f}, {len(ratios)} cells")


if __name__ == "__main__":
    main()
