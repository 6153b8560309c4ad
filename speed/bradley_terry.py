"""Strengths of 20 systems from 10,000 pairs with 1,000 cluster-bootstrap draws, against a plain Python loop.

The loop resamples contests and fits by the textbook's iteration (Zermelo 1929), one draw after another; it runs
a few draws and is multiplied up.
"""

from __future__ import annotations

import math
import random
import statistics
import time

from humor_tasks.scorers.bradley_terry import bradley_terry

SYSTEMS, PAIRS, CONTESTS, DRAWS, PLAIN_DRAWS, RUNS = 20, 10_000, 130, 1_000, 5, 3

Pair = tuple[str, str, float, int]  # first, second, preference, contest


def pairs(rng: random.Random) -> list[Pair]:
    strengths = {f"system {k}": rng.gauss(0, 0.7) for k in range(SYSTEMS)}
    drawn = []
    for _ in range(PAIRS):
        first, second = rng.sample(list(strengths), 2)
        won = rng.random() < 1 / (1 + math.exp(strengths[second] - strengths[first]))
        drawn.append((first, second, 0.5 if rng.random() < 0.1 else float(won), rng.randrange(CONTESTS)))
    return drawn


def plain_fit(rows: list[Pair]) -> dict[str, float]:
    wins: dict[str, float] = {}
    games: dict[tuple[str, str], int] = {}
    for first, second, preference, _ in rows:
        wins[first] = wins.get(first, 0) + preference
        wins[second] = wins.get(second, 0) + 1 - preference
        games[first, second] = games.get((first, second), 0) + 1
        games[second, first] = games.get((second, first), 0) + 1
    odds = dict.fromkeys(wins, 1.0)
    while True:
        sums = dict.fromkeys(odds, 0.0)
        for (one, other), n in games.items():
            sums[one] += n / (odds[one] + odds[other])
        new = {name: wins[name] / sums[name] for name in odds}
        mean = math.exp(statistics.fmean(math.log(value) for value in new.values()))
        new = {name: value / mean for name, value in new.items()}
        if max(abs(new[name] - odds[name]) for name in odds) < 1e-9:
            return {name: math.log(value) for name, value in new.items()}
        odds = new


def plain_bootstrap(rows: list[Pair], draws: int) -> None:
    members: dict[int, list[Pair]] = {}
    for row in rows:
        members.setdefault(row[3], []).append(row)
    rng, contests = random.Random(0), list(members)
    for _ in range(draws):
        plain_fit([row for contest in rng.choices(contests, k=len(contests)) for row in members[contest]])


def main() -> None:
    rows = pairs(random.Random(0))
    first, second, preferences, contests = (list(column) for column in zip(*rows, strict=True))
    bradley_terry(first, second, preferences, contests, draws=10)  # imports
    ours, plain = [], []
    for _ in range(RUNS):
        start = time.perf_counter()
        found = bradley_terry(first, second, preferences, contests, draws=DRAWS)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        plain_bootstrap(rows, PLAIN_DRAWS)
        plain.append((time.perf_counter() - start) * DRAWS / PLAIN_DRAWS)
    gap = max(abs(found[name].estimate.value - value) for name, value in plain_fit(rows).items())
    print(
        f"{SYSTEMS} systems, {PAIRS} pairs, {DRAWS} draws  median {statistics.median(ours):7.2f} s (goal: under 30 s)"
    )
    print(f"plain Python, {PLAIN_DRAWS} draws multiplied up  median {statistics.median(plain):7.2f} s")
    ratio = statistics.median(p / o for p, o in zip(plain, ours, strict=True))
    print(f"ratio of times                           {ratio:7.0f}   (strengths differ by at most {gap:.0e})")


if __name__ == "__main__":
    main()
