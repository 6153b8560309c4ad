"""How often the interval of a budget holds the truth, and whether budgets drift, on the rows of every suite.

    python speed/budget_coverage.py                          # the packaged sample
    python speed/budget_coverage.py -T matching.dataset=FOLDER -T matching.split=validation --samples 1000

Not speed, but measured all the same. For each task whose main metric is a share, systems answer a budget's items: an
item is right with its cluster's probability, which is drawn around the system's true share. Each cell of the table is a
task, a budget, a true share and a correlation within clusters. Seeds are fixed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.suites.members import Member, members

BUDGETS, SHARES, WITHIN, GOAL = (50, 200, 1000), (0.2, 0.5, 0.85), (0.02, 0.1, 0.3), 0.93


def runs(given: list[str]) -> Iterator[tuple[str, int, Run[Any]]]:
    """Each task with each budget that takes fewer items than there are; of a suite's tasks that can be opened."""
    seen = set()
    for member in members("all", given, dataset=None if given else "sample"):
        for budget in BUDGETS:
            try:
                run = Member(member.benchmark, {**member.parameters, "budget": budget}).open()
            except BadInput:
                continue
            sizes = tuple(sorted(record.cluster for record in run.records))
            if run.benchmark.metrics[0].proportion and "budget" in run.data.provenance and (budget, sizes) not in seen:
                seen.add((budget, sizes))
                yield member.name, budget, run


def held(clusters: np.ndarray, share: float, within: float, samples: int, seed: int) -> tuple[float, float]:
    """The share of intervals that hold `share`, and the mean estimate less `share`."""
    stream = np.random.default_rng(seed)
    names, place = np.unique(clusters, return_inverse=True)
    size = 1 / within - 1
    inside, total = 0, 0.0
    for _ in range(samples):
        ability = stream.beta(share * size, (1 - share) * size, len(names))
        right = (stream.random(len(place)) < ability[place]).astype(float)
        e = clustered_proportion(right.tolist(), place.tolist())
        inside += e.low <= share <= e.high
        total += e.value - share
    return inside / samples, total / samples


def main() -> None:
    """Print a row for each task and budget, and the lowest cell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("-T", dest="given", action="append", default=[])
    asked = parser.parse_args()
    print("| task | budget | items | clusters | lowest coverage | at | largest drift |\n|---|---|---|---|---|---|---|")
    lowest: list[float] = []
    for name, budget, run in runs(asked.given):
        clusters = np.array([record.cluster for record in run.records])
        cells = {
            (share, within): held(clusters, share, within, asked.samples, seed)
            for seed, (share, within) in enumerate((s, w) for s in SHARES for w in WITHIN)
        }
        at, (coverage, _) = min(cells.items(), key=lambda cell: cell[1][0])
        drift = max((drift for _, drift in cells.values()), key=abs)
        lowest.append(coverage)
        where = f"share {at[0]}, correlation {at[1]}"
        number = len(set(clusters.tolist()))
        print(
            f"| {name} | {budget} | {len(clusters)} | {number} | {coverage:.3f} | {where} | {drift:+.3f} |", flush=True
        )
    below = sum(coverage < GOAL for coverage in lowest)
    print(f"\n{len(lowest) * len(SHARES) * len(WITHIN)} cells; lowest {min(lowest):.3f}; {below} rows below {GOAL}")


if __name__ == "__main__":
    main()
