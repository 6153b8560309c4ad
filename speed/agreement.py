"""Gwet's AC1 of 100,000 items and five raters, against plain Python loops; the other coefficients beside it."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from humor_tasks import scorers

ITEMS, RATERS, CATEGORIES, RUNS = 100_000, 5, 4, 5


def table(rng: random.Random) -> list[list[int | None]]:
    rows = []
    for _ in range(ITEMS):
        truth = rng.randrange(CATEGORIES)
        row: list[int | None] = [truth if rng.random() < 0.6 else rng.randrange(CATEGORIES) for _ in range(RATERS)]
        rows.append([None if rng.random() < 0.05 else rating for rating in row])
    return rows


def plain_ac1(rows: list[list[int | None]]) -> tuple[float, float]:
    """The value and its error."""
    counted = []
    for row in rows:
        counts: dict[int, int] = {}
        for rating in row:
            if rating is not None:
                counts[rating] = counts.get(rating, 0) + 1
        if counts:
            counted.append((counts, sum(counts.values())))
    n, pi = len(counted), dict.fromkeys({k for counts, _ in counted for k in counts}, 0.0)
    agreeing = []
    for counts, r in counted:
        for k, count in counts.items():
            pi[k] += count / r / n
        agreeing.append(sum(c * (c - 1) for c in counts.values()) / (r * (r - 1)) if r > 1 else None)
    pairs = [share for share in agreeing if share is not None]
    pa = sum(pairs) / len(pairs)
    pe_i = [sum(c / r * (1 - pi[k]) for k, c in counts.items()) / (len(pi) - 1) for counts, r in counted]
    pe = sum(pe_i) / n
    value, total = (pa - pe) / (1 - pe), 0.0
    for share, e in zip(agreeing, pe_i, strict=True):
        first = 0.0 if share is None else n / len(pairs) * (share - pe)
        total += ((first - 2 * (1 - value) * (e - pe)) / (1 - pe) - value) ** 2
    return value, (total / (n * (n - 1))) ** 0.5


def seconds(f: Callable[[list[list[int | None]]], Any], rows: list[list[int | None]]) -> float:
    start = time.perf_counter()
    f(rows)
    return time.perf_counter() - start


def main() -> None:
    rows = table(random.Random(0))
    estimate, plain = scorers.gwet_ac1(rows), plain_ac1(rows)  # imports
    assert abs(estimate.value - plain[0]) + abs(estimate.stderr - plain[1]) < 1e-9
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(seconds(scorers.gwet_ac1, rows))
        theirs.append(seconds(plain_ac1, rows))
    print(f"AC1, {ITEMS} items, {RATERS} raters   median {statistics.median(ours):6.3f} s (goal: under 0.5 s)")
    print(f"plain Python loops               median {statistics.median(theirs):6.3f} s")
    ratio = statistics.median(p / o for p, o in zip(theirs, ours, strict=True))
    print(f"ratio of times                          {ratio:6.1f}")
    for name, f in (
        ("fleiss_kappa", scorers.fleiss_kappa),
        ("krippendorff_alpha, ordinal", lambda r: scorers.krippendorff_alpha(r, metric="ordinal")),
        ("agreement", scorers.agreement),
        ("human_ceiling", scorers.noise_ceiling),
        ("majority_vote", scorers.majority_vote),
    ):
        print(f"{name:32} median {statistics.median(seconds(f, rows) for _ in range(RUNS)):6.3f} s")


if __name__ == "__main__":
    main()
