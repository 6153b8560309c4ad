"""How often the interval of a budget holds the truth, and whether budgets drift, on the rows of every suite.

    python speed/budget_coverage.py                          # the packaged sample
    python speed/budget_coverage.py -T matching.dataset=FOLDER -T matching.split=validation --samples 1000

Not speed, but measured all the same. For each task whose main metric is a share, systems answer a budget's items: an
item is right with its cluster's probability, which is drawn around the system's true share. Each cell of the table is a
task, a budget, a true share and a correlation within clusters.

For RMSE, BLEU and what is recited, systems answer all rows, and as many clusters as the budget has are drawn from them
with replacement. The truth is the metric of all rows; each cell is a task, a budget and a system. Seeds are fixed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from humor_tasks.contract.answers import Answer
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.suites.members import Member, members

BUDGETS, SHARES, WITHIN, GOAL = (50, 200, 1000), (0.2, 0.5, 0.85), (0.02, 0.1, 0.3), 0.93


def runs(given: list[str]) -> Iterator[tuple[Member, int, Run[Any]]]:
    """Each task with each budget that takes fewer items than there are; of a suite's tasks that can be opened."""
    seen = set()
    for member in members("all", given, dataset=None if given else "sample"):
        for budget in BUDGETS:
            try:
                run = Member(member.benchmark, {**member.parameters, "budget": budget}).open()
            except BadInput:
                continue
            sizes = tuple(sorted(record.cluster for record in run.records))
            key = (run.benchmark.metrics[0].name, budget, sizes)
            if "budget" in run.data.provenance and key not in seen:
                seen.add(key)
                yield member, budget, run


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


def systems(run: Run[Any]) -> dict[str, list[Outcome]]:
    """Outcomes of systems to all rows, for metrics that are no shares; none where there is no such system here."""
    stream, rows, name = np.random.default_rng(0), run.records, run.benchmark.metrics[0].name

    def answered(texts: list[str]) -> list[Outcome]:
        return [run.scored(row, Answer(text)) for row, text in zip(rows, texts, strict=True)]

    if name == "rmse":
        near = [str(min(3.0, max(0.0, float(row.target) + stream.normal(0, 0.5)))) for row in rows]
        return {"1.0 for all": answered(["1.0"] * len(rows)), "the mean rating and noise": answered(near)}
    if name == "recited":
        known = {cluster: stream.random() < 0.4 for cluster in sorted({row.cluster for row in rows})}
        named = [row.groups["instruction"] == "guided" for row in rows]
        knows = [known[row.cluster] and (told or stream.random() < 0.2) for row, told in zip(rows, named, strict=True)]
        texts = [str(row.target) if each else "-" for row, each in zip(rows, knows, strict=True)]
        return {"knows 40 % of contests": answered(texts)}
    if name == "bleu":
        texts = [str(row.target) for row in rows]
        halves = [text[: len(text) // 2] for text in texts]
        return {"the next row's reference": answered(texts[1:] + texts[:1]), "half of the reference": answered(halves)}
    return {}


def resampled(run: Run[Any], outcomes: list[Outcome], clusters: int, samples: int) -> tuple[float, float]:
    """As `held`, for the metric over `outcomes`, of as many clusters drawn with replacement."""
    metric, stream = run.benchmark.metrics[0], np.random.default_rng(1)
    of: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        of.setdefault(outcome.cluster, []).append(outcome)
    names, truth = sorted(of), run.summary(metric, metric.counted(outcomes))[metric.name].value
    inside, total = 0, 0.0
    for _ in range(samples):
        drawn = stream.integers(0, len(names), clusters)
        copies = [replace(o, id=f"{k}-{o.id}", cluster=str(k)) for k, i in enumerate(drawn) for o in of[names[i]]]
        e = run.summary(metric, metric.counted(copies))[metric.name]
        inside += e.low <= truth <= e.high
        total += e.value - truth
    return inside / samples, total / samples


def main() -> None:
    """Print a row for each task and budget, and the lowest cell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("-T", dest="given", action="append", default=[])
    asked = parser.parse_args()
    print("| task | budget | items | clusters | lowest coverage | at | largest drift |\n|---|---|---|---|---|---|---|")
    lowest: list[float] = []
    cells = 0
    for member, budget, run in runs(asked.given):
        clusters = np.array([record.cluster for record in run.records])
        number = len(set(clusters.tolist()))
        if run.benchmark.metrics[0].proportion:
            found = {
                f"share {share}, correlation {within}": held(clusters, share, within, asked.samples, seed)
                for seed, (share, within) in enumerate((s, w) for s in SHARES for w in WITHIN)
            }
        else:
            whole = member.open()
            found = {
                system: resampled(whole, outcomes, number, asked.samples) for system, outcomes in systems(whole).items()
            }
        if not found:
            continue
        cells += len(found)
        at, (coverage, _) = min(found.items(), key=lambda cell: cell[1][0])
        drift = max((drift for _, drift in found.values()), key=abs)
        lowest.append(coverage)
        print(
            f"| {member.name} | {budget} | {len(clusters)} | {number} | {coverage:.3f} | {at} | {drift:+.3f} |",
            flush=True,
        )
    below = sum(coverage < GOAL for coverage in lowest)
    print(f"\n{cells} cells; lowest {min(lowest):.3f}; {below} rows below {GOAL}")


if __name__ == "__main__":
    main()
