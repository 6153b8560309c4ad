"""Matching's wrong captions for 100,000 captions of contests of different sizes, and for the hardest case.

Hardest: one contest has half of the captions, so that there is hardly any choice.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from humor_tasks.lab.corpora.newyorker import matching

CAPTIONS, RUNS = 100_000, 3


def contests_of_different_sizes() -> list[int]:
    rng = np.random.default_rng(0)
    return np.repeat(np.arange(CAPTIONS), rng.integers(1, 7, CAPTIONS))[:CAPTIONS].tolist()


def main() -> None:
    keys = [str(i) for i in range(CAPTIONS)]
    repeated = [str(i if i % 50 else i % 1000) for i in range(CAPTIONS)]
    cases = {
        "contests of 1 to 6 captions": (contests_of_different_sizes(), keys),
        "one caption in 50 in several contests": (contests_of_different_sizes(), repeated),
        "one contest has half": ([min(i, CAPTIONS // 2) for i in range(CAPTIONS)], keys),
    }
    for name, (contests, each) in cases.items():
        seconds = []
        for run in range(RUNS):
            start = time.perf_counter()
            matching.assign(contests, each, str(run))
            seconds.append(time.perf_counter() - start)
        print(f"{CAPTIONS:,} captions, {name:40} median {statistics.median(seconds):5.2f} s (goal: under 5 s)")


if __name__ == "__main__":
    main()
