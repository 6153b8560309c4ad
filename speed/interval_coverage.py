"""How often 95 % intervals of a proportion hold the truth, by rows, clusters, truth, and how alike a cluster is.

Not speed, but measured all the same. Each cell draws many samples: a cluster's chance is beta distributed with the mean
p and the intra-cluster correlation rho (0: one chance; 1: all or nothing), its rows are binomial. `ours` is
`scorers.proportion`, called as it is; the others are written out here. Seeds are fixed.

    t         m +/- t(G-1) se                                     Wilson    with n* = min(m(1-m)/se^2, n) (z/t(G-1))^2
    logit     logit m +/- t(G-1) se / (m(1-m))                    Jeffreys  beta quantiles, n* of Korn and Graubard
    KG        Clopper-Pearson, n* = min(m(1-m)/se^2, n) (t(n-1)/t(G-1))^2; n* from n where se = 0, as in Wilson

The last column is the width of ours over that of a binomial interval that is told the true design effect.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri, stdtrit

from humor_tasks.scorers.proportion import binomial_interval, effective_rows

GOAL, TAIL, Z = 0.935, 0.975, float(ndtri(0.975))
METHODS = ("t", "Wilson", "logit", "Jeffreys", "KG", "ours")
RATES = (0.002, 0.01, 0.03, 0.1, 0.3, 0.5)
SHAPES = (
    *((10, 10, "even"), (30, 10, "even"), (50, 50, "even"), (130, 40, "even"), (130, 40, "uneven")),
    *((500, 140, "even"), (500, 140, "uneven"), (528, 141, "even"), (400, 25, "even"), (400, 25, "uneven")),
    *((200, 5, "even"), (100, 10, "half")),
)
Interval = tuple[Any, Any]


@dataclass(frozen=True)
class Sample:
    """Many samples of one cell: clusters' sums of weights and of weighted values [samples, clusters], and more.

    n, within: as in `effective_rows`. true_rows: the effective number of rows under the cell's true design effect.
    """

    weights: Any
    sums: Any
    n: Any
    within: Any
    true_rows: float


@dataclass(frozen=True)
class Cell:
    """What is drawn, and the truth."""

    name: str
    truth: float
    drawn: Callable[[np.random.Generator, int], Sample]


# ---- drawing ------------------------------------------------------------------------------------


def sizes_of(n: int, groups: int, how: str) -> Any:
    """Rows per cluster: equal, lognormal with a standard deviation of 1, or one cluster with half of all rows."""
    if how == "even":
        return n // groups + (np.arange(groups) < n % groups)
    if how == "half":
        return np.append(np.full(groups - 1, n // 2 // (groups - 1)), n // 2)
    weights = np.random.default_rng(7).lognormal(0, 1, groups)
    return np.maximum(1, np.round(weights / weights.sum() * n)).astype(int)


def chances(rng: np.random.Generator, shape: tuple[int, int], p: float, rho: float) -> Any:
    if rho == 0:
        return np.full(shape, p)
    if rho == 1:
        return (rng.random(shape) < p).astype(float)
    return rng.beta(p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho, shape)


def of_rows(n: int, groups: int, how: str, p: float, rho: float) -> Cell:
    """Values of 0 and 1 in clusters."""
    sizes = sizes_of(n, groups, how)
    total = int(sizes.sum())

    def draw(rng: np.random.Generator, samples: int) -> Sample:
        hits = rng.binomial(sizes, chances(rng, (samples, groups), p, rho)).astype(float)
        m = hits.sum(axis=1) / total
        design = 1 + (np.square(sizes).sum() / total - 1) * rho
        return Sample(np.broadcast_to(sizes, hits.shape), hits, float(total), m * (1 - m) / total, total / design)

    return Cell(f"{total}/{groups} {how}, rho {rho:g}", p, draw)


def of_shares(n: int, name: str, values: tuple[float, ...], shares: tuple[float, ...]) -> Cell:
    """Independent rows whose values are not only 0 and 1, such as ties."""
    truth = float(np.dot(values, shares))
    variance = float(np.dot(np.square(values), shares)) - truth**2

    def draw(rng: np.random.Generator, samples: int) -> Sample:
        drawn = rng.choice(values, (samples, n), p=shares)
        rows = n * truth * (1 - truth) / variance
        return Sample(np.ones((samples, n)), drawn, float(n), drawn.var(axis=1) / n, rows)

    return Cell(f"{n}/{n} {name}", truth, draw)


def of_ratio(n: int, groups: int, p: float, passed: float, rho: float) -> Cell:
    """A precision: the share of hits among the rows that a judge passes, so the denominator is random."""
    sizes = sizes_of(n, groups, "even")

    def draw(rng: np.random.Generator, samples: int) -> Sample:
        kept = rng.binomial(sizes, chances(rng, (samples, groups), passed, 0.3)).astype(float)
        kept[:, 0] += kept.sum(axis=1) == 0
        kept[:, 1] += np.count_nonzero(kept, axis=1) < 2  # an interval needs two clusters
        hits = rng.binomial(kept.astype(int), chances(rng, (samples, groups), p, rho)).astype(float)
        total = kept.sum(axis=1)
        m = hits.sum(axis=1) / total
        design = 1 + (float((np.square(kept).sum(axis=1) / total).mean()) - 1) * rho
        return Sample(kept, hits, total, m * (1 - m) / total, float(total.mean()) / design)

    return Cell(f"{n}/{groups} ratio, {passed:g} passed, rho {rho:g}", p, draw)


def of_folds(n: int, groups: int, p: float, rho: float) -> Cell:
    """The mean of five folds of unequal size: each row has the weight 1 / (rows of its fold)."""
    sizes = sizes_of(n, groups, "even")
    fold = np.minimum(np.arange(groups) // max(groups // 6, 1), 4)  # the last one is twice as large
    rows = np.bincount(fold, sizes)
    weight = 1 / (5 * rows[fold])

    def draw(rng: np.random.Generator, samples: int) -> Sample:
        hits = rng.binomial(sizes, chances(rng, (samples, groups), p, rho))
        m = (hits * weight).sum(axis=1)
        within = ((hits * (1 - m[:, None]) ** 2 + (sizes - hits) * m[:, None] ** 2) * weight**2).sum(axis=1)
        total = 1 / float((sizes * weight**2).sum())
        design = 1 + (float(np.square(sizes * weight).sum()) * total - 1) * rho
        return Sample(np.broadcast_to(sizes * weight, hits.shape), hits * weight, total, within, total / design)

    return Cell(f"{n}/{groups} five folds, rho {rho:g}", p, draw)


def of_large_clusters(groups: int, share: float) -> Cell:
    """Clusters of 2 rows with the chance .1 and, rarely, of 20 with .9: few samples hold enough of the large ones."""
    rows, hits = share * 20 + (1 - share) * 2, share * 18 + (1 - share) * 0.2

    def draw(rng: np.random.Generator, samples: int) -> Sample:
        large = rng.random((samples, groups)) < share
        sizes = np.where(large, 20, 2)
        found = rng.binomial(sizes, np.where(large, 0.9, 0.1)).astype(float)
        n = sizes.sum(axis=1)
        m = found.sum(axis=1) / n
        return Sample(sizes.astype(float), found, n, m * (1 - m) / n, float(n.mean()))

    return Cell(f"{groups} clusters, {share:.0%} of them large", hits / rows, draw)


def cells() -> Iterator[Cell]:
    for n, groups, how in SHAPES:
        for rho in (0.0,) if n == groups else (0.0, 0.1, 0.3, 0.7):
            yield from (of_rows(n, groups, how, p, rho) for p in (*RATES, 0.97))
    for n in (20, 100):
        yield of_shares(n, "ties 40 %", (0.0, 0.5, 1.0), (0.3, 0.4, 0.3))
        yield of_shares(n, "ties 95 %", (0.0, 0.5, 1.0), (0.01, 0.95, 0.04))
        yield of_shares(n, "quarters", (0.0, 0.25, 0.5, 0.75, 1.0), (0.1, 0.2, 0.3, 0.25, 0.15))
        yield of_shares(n, "rare half", (0.0, 0.5), (0.97, 0.03))
    for passed in (0.1, 0.6):
        yield from (of_ratio(400, 140, p, passed, rho) for p in (0.5, 0.9, 0.97) for rho in (0.0, 0.3))
    yield from (of_folds(n, g, p, rho) for n, g in ((50, 25), (2500, 700)) for p in (0.1, 0.6) for rho in (0.0, 0.3))
    yield from (of_large_clusters(groups, 0.05) for groups in (20, 140))


# ---- intervals ----------------------------------------------------------------------------------


def shares(drawn: Sample) -> tuple[Any, Any, Any]:
    """The proportions, and clusters' shares of the weights and deviations [samples, clusters]."""
    totals = drawn.weights.sum(axis=1, keepdims=True)
    sizes, sums = drawn.weights / totals, drawn.sums / totals
    m = np.minimum(sums.sum(axis=1), 1)
    return m, sizes, sums - m[:, None] * sizes


def ours(drawn: Sample) -> Interval:
    m, sizes, deviations = shares(drawn)
    return binomial_interval(m, effective_rows(m, sizes, deviations, drawn.n, drawn.within))


def intervals(drawn: Sample) -> tuple[Any, dict[str, Interval]]:
    """The proportions, and each method's intervals of them."""
    m, sizes, deviations = shares(drawn)
    count = np.count_nonzero(sizes, axis=1)
    se = np.sqrt(np.square(deviations).sum(axis=1) * count / (count - 1))
    t, spread = stdtrit(count - 1, TAIL), m * (1 - m)
    rows = np.where(se > 1e-9, np.minimum(spread / np.where(se > 1e-9, se, 1) ** 2, drawn.n), drawn.n)
    graubard = rows * (stdtrit(drawn.n - 1, TAIL) / t) ** 2
    found = (m - t * se, m + t * se), wilson(m, rows * (Z / t) ** 2), logits(m, t * se, graubard)
    found += jeffreys(m, graubard), binomial_interval(m, graubard), ours(drawn)
    return m, dict(zip(METHODS, found, strict=True))


def wilson(m: Any, rows: Any) -> Interval:
    """Wilson 1927, JASA 22."""
    centre, half = m + Z**2 / (2 * rows), Z * np.sqrt(m * (1 - m) / rows + Z**2 / (4 * rows**2))
    return (centre - half) / (1 + Z**2 / rows), (centre + half) / (1 + Z**2 / rows)


def logits(m: Any, half: Any, rows: Any) -> Interval:
    inside = (m > 0) & (m < 1)
    safe = np.where(inside, m, 0.5)
    low, high = (expit(logit(safe) + sign * half / (safe * (1 - safe))) for sign in (-1, 1))
    exact = binomial_interval(m, rows)
    return np.where(inside, low, exact[0]), np.where(inside, high, exact[1])


def jeffreys(m: Any, rows: Any) -> Interval:
    """Brown, Cai and DasGupta 2001, Statistical Science 16; 0 and 1 keep their own end."""
    low, high = (betaincinv(m * rows + 0.5, (1 - m) * rows + 0.5, tail) for tail in (1 - TAIL, TAIL))
    return np.where(m <= 0, 0, low), np.where(m >= 1, 1, high)


# ---- measuring ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Coverage by method, the share of t intervals that leave [0, 1], and widths (the known design effect's is 1)."""

    coverage: dict[str, float]
    left: float
    width: dict[str, float]


def measured(cell: Cell, samples: int, seed: int = 0) -> Measured:
    drawn = cell.drawn(np.random.default_rng(seed), samples)
    m, found = intervals(drawn)
    low, high = found["t"]
    known = np.subtract(*binomial_interval(m, drawn.true_rows)[::-1]).mean()
    holds = {name: float(((a <= cell.truth) & (cell.truth <= b)).mean()) for name, (a, b) in found.items()}
    width = {name: float((np.clip(b, 0, 1) - np.clip(a, 0, 1)).mean() / known) for name, (a, b) in found.items()}
    return Measured(holds, float(((low < 0) | (high > 1)).mean()), width)


def held_by_ours(cell: Cell, samples: int, seed: int = 0) -> float:
    """The coverage of ours alone, in a fifth of the time."""
    low, high = ours(cell.drawn(np.random.default_rng(seed), samples))
    return float(((low <= cell.truth) & (cell.truth <= high)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4_000, help="samples a cell")
    samples = parser.parse_args().samples
    print(
        f"{'rows/clusters':38} {'p':>6}" + "".join(f"{name:>9}" for name in METHODS) + f"{'t leaves':>10}{'width':>7}"
    )
    every = []
    for cell in cells():
        one = measured(cell, samples)
        every.append(one)
        shown = "".join(f"{one.coverage[name]:8.3f}{'*' if one.coverage[name] < GOAL else ' '}" for name in METHODS)
        print(f"{cell.name:38} {cell.truth:6.3f}{shown}{one.left:10.0%}{one.width['ours']:7.2f}", flush=True)
    print(f"\n{len(every)} cells of {samples} samples")
    for name in METHODS:
        held = [one.coverage[name] for one in every]
        width = np.mean([one.width[name] for one in every])
        below = f"below {GOAL} (*) in {sum(x < GOAL for x in held)}"
        print(f"{name:10} lowest {min(held):.3f}, mean {np.mean(held):.3f}, {below}; width {width:.2f}")


if __name__ == "__main__":
    main()
