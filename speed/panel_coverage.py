"""How often the 95 % intervals of `scorers.panel_errors` hold the truth, by judges, clusters, accuracy and correlation.

Not speed, but measured all the same. An item's difficulty is beta distributed, and k judges err on it independently
with that probability, so that the correlation of two judges' errors is the planted one, the effective number of judges
k / (1 + (k - 1) correlation), and the number of errors beta-binomial, which gives the true gains. In clusters of four,
an item has its cluster's difficulty with the probability .3. Seeds are fixed.

`t` is the value +/- t(G-1) stderr for contrast, for a gain with the stderr of `clustered_mean`. Widths are means.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, stdtrit

from humor_tasks.scorers import panel_errors
from humor_tasks.scorers.panel import item_gains

GOAL, WITHIN = 0.93, 0.3


@dataclass(frozen=True)
class Cell:
    """What is drawn."""

    judges: int
    clusters: int
    size: int
    accuracy: float
    correlation: float

    @property
    def effective(self) -> float:
        return self.judges / (1 + (self.judges - 1) * self.correlation)


def cells() -> Iterator[Cell]:
    for judges in (3, 5):
        for clusters in (50, 200):
            for size in (1, 4):
                for accuracy in (0.7, 0.9):
                    yield from (Cell(judges, clusters, size, accuracy, r) for r in (0.0, 0.2, 0.6, 0.95))


def true_gain(cell: Cell, m: int) -> float:
    """The accuracy of m judges' majority less that of one: of m judges themselves, since all are equal."""
    wrong = np.arange(m + 1)
    ways = np.array([math.comb(m, w) for w in range(m + 1)])
    a, b = shape(cell) if cell.correlation else (1 - cell.accuracy, cell.accuracy)
    chance = (
        np.exp(betaln(a + wrong, b + m - wrong) - betaln(a, b)) if cell.correlation else a**wrong * b ** (m - wrong)
    )
    return float((ways * chance)[: m // 2 + 1].sum()) - cell.accuracy


def shape(cell: Cell) -> tuple[float, float]:
    """The two parameters of the beta distribution of the difficulties."""
    size = (1 - cell.correlation) / cell.correlation
    return (1 - cell.accuracy) * size, cell.accuracy * size


def errors(cell: Cell, rng: np.random.Generator) -> Any:
    """One sample: whether a judge errs on an item [judges, items]."""
    difficulty = np.full((cell.clusters, cell.size), 1 - cell.accuracy)
    if cell.correlation:
        difficulty = rng.beta(*shape(cell), (cell.clusters, cell.size))
        if cell.size > 1:
            theirs = rng.beta(*shape(cell), (cell.clusters, 1))
            difficulty = np.where(rng.random(difficulty.shape) < WITHIN, theirs, difficulty)
    return rng.random((cell.judges, cell.clusters * cell.size)) < difficulty.ravel()


@dataclass(frozen=True)
class Measured:
    """Coverage of ours and of `t` and mean width of ours, by what is estimated; the share of samples without intervals.

    Those samples do not count: in them a judge makes no error, or a single cluster has errors.
    """

    coverage: dict[str, float]
    by_t: dict[str, float]
    width: dict[str, float]
    without: float


def measured(cell: Cell, samples: int, seed: int = 0) -> Measured:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(cell.clusters), cell.size).tolist()
    labels = [False] * len(clusters)
    sizes = range(3, cell.judges + 1, 2)
    truth = {"effective": cell.effective} | {f"gain of {m}": true_gain(cell, m) for m in sizes}
    added = {f"gain of {m}": 2 * (max(item_gains(cell.judges, m)) / (cell.clusters + 2)) ** 2 for m in sizes}
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in truth}
    for _ in range(samples):
        verdicts = dict(zip("abcde", errors(cell, rng).tolist(), strict=False))
        found = panel_errors(labels, verdicts, clusters)
        estimates = {"effective": found.effective_judges}
        estimates |= {f"gain of {m}": majority.gain for m, majority in found.majorities.items()}
        for name, e in estimates.items():
            rows[name].append((e.low, e.high, e.value, e.stderr**2 - added.get(name, 0)))
    coverage, by_t, width = {}, {}, {}
    for name, table in rows.items():
        low, high, value, variance = np.array([row for row in table if not math.isnan(row[0])]).T
        half = stdtrit(cell.clusters - 1, 0.975) * np.sqrt(np.maximum(variance, 0))
        coverage[name], by_t[name] = (holds(*each, truth[name]) for each in ((low, high), (value - half, value + half)))
        width[name] = float((high - low).mean())
    return Measured(coverage, by_t, width, sum(math.isnan(row[0]) for row in rows["effective"]) / samples)


def holds(low: Any, high: Any, truth: float) -> float:
    """The share of intervals with the truth in them; sums in another order may miss it by 1e-9."""
    return float(np.mean((low <= truth + 1e-9) & (truth <= high + 1e-9)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=800, help="samples a cell")
    samples = parser.parse_args().samples
    print("judges clusters items accuracy correlation  estimate     truth    ours     t   width  without")
    found = []
    for cell in cells():
        one = measured(cell, samples)
        for name, coverage in one.coverage.items():
            found.append((coverage, one.by_t[name], name, cell))
            truth = cell.effective if name == "effective" else true_gain(cell, int(name[-1]))
            print(
                f"{cell.judges:6}{cell.clusters:9}{cell.size:6}{cell.accuracy:9}{cell.correlation:12}  {name:10}",
                end="",
            )
            mark = "*" if coverage < GOAL else " "
            print(
                f"{truth:8.4f}{coverage:8.3f}{mark}{one.by_t[name]:5.3f}{one.width[name]:8.4f}{one.without:9.3f}",
                flush=True,
            )
    for kind in ("effective", "gain"):
        of_kind = [row for row in found if row[2].startswith(kind)]
        coverage, _, name, worst = min(of_kind, key=lambda row: row[0])
        # The lowest of many cells is low by chance, too, so it is drawn again.
        again = measured(worst, 5 * samples, seed=1).coverage[name]
        print(
            f"{kind}: {len(of_kind)} cells of {samples} samples, mean {np.mean([row[0] for row in of_kind]):.3f},",
            end=" ",
        )
        print(
            f"below {GOAL} (*) in {sum(row[0] < GOAL for row in of_kind)}; lowest {coverage:.3f} in {worst} ({name}),"
        )
        print(f"    there {again:.4f} with five times as many samples; t: lowest {min(row[1] for row in of_kind):.3f}")


if __name__ == "__main__":
    main()
