"""Every metric of Humicroedit's rating and 10,000 cluster-bootstrap draws of them, against a plain Python loop.

As many rows and headlines as the test split might have, drawn. The loop runs a few draws and is multiplied up.
"""

from __future__ import annotations

import math
import random
import statistics
import time

from humor_tasks import scorers

ROWS, HEADLINES, DRAWS, PLAIN_DRAWS, RUNS = 3_024, 1_040, 10_000, 20, 3
PERCENTS = (10, 20, 30, 40)


def rows(rng: random.Random) -> tuple[list[float], list[float], list[str]]:
    pred, gold, clusters = [], [], []
    for i in range(ROWS):
        grade = statistics.fmean(min(3, max(0, round(rng.gauss(0.9, 1)))) for _ in range(5))
        gold.append(grade)
        pred.append(0.6 + 0.35 * grade + rng.gauss(0, 0.3))
        clusters.append(f"headline {i % HEADLINES}")
    return pred, gold, clusters


def ranks(x: list[float]) -> list[float]:
    order = sorted(range(len(x)), key=x.__getitem__)
    found, start = [0.0] * len(x), 0
    while start < len(order):
        end = start
        while end < len(order) and x[order[end]] == x[order[start]]:
            end += 1
        for place in range(start, end):
            found[order[place]] = (start + end + 1) / 2
        start = end
    return found


def correlation(x: list[float], y: list[float]) -> float:
    mx, my = sum(x) / len(x), sum(y) / len(y)
    top = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return top / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))


def plain_metrics(pred: list[float], gold: list[float]) -> list[float]:
    squares = [(p - g) ** 2 for p, g in zip(pred, gold, strict=True)]
    found = [math.sqrt(sum(squares) / len(squares)), correlation(pred, gold), correlation(ranks(pred), ranks(gold))]
    # At the cuts in the order of the rows: the simplest there is.
    order = sorted(range(len(gold)), key=gold.__getitem__)
    for percent in PERCENTS:
        k = round(percent * len(order) / 100)
        found.append(math.sqrt(sum(squares[i] for i in order[:k] + order[-k:]) / (2 * k)))
    bins: list[list[float]] = [[] for _ in range(15)]
    for p, g in zip(pred, gold, strict=True):
        bins[min(int(g * 5 + 1e-9), 14)].append(abs(p - g))
    return found + [sum(errors) / len(errors) if errors else math.nan for errors in bins]


def plain_bootstrap(pred: list[float], gold: list[float], clusters: list[str], draws: int) -> None:
    members: dict[str, list[int]] = {}
    for i, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(i)
    rng, names = random.Random(0), list(members)
    for _ in range(draws):
        drawn = [i for name in rng.choices(names, k=len(names)) for i in members[name]]
        plain_metrics([pred[i] for i in drawn], [gold[i] for i in drawn])


def main() -> None:
    pred, gold, clusters = rows(random.Random(0))
    scorers.cluster_bootstrap(pred, gold, clusters, draws=100)  # imports
    ours, plain = [], []
    for _ in range(RUNS):
        start = time.perf_counter()
        scorers.cluster_bootstrap(pred, gold, clusters, draws=DRAWS)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        plain_bootstrap(pred, gold, clusters, PLAIN_DRAWS)
        plain.append((time.perf_counter() - start) * DRAWS / PLAIN_DRAWS)
    print(f"{ROWS} rows, every metric, {DRAWS} draws  median {statistics.median(ours):7.2f} s (goal: under 2 s)")
    print(f"plain Python, {PLAIN_DRAWS} draws multiplied up  median {statistics.median(plain):7.2f} s")
    ratio = statistics.median(p / o for p, o in zip(plain, ours, strict=True))
    print(f"ratio of times                           {ratio:7.0f}   (goal: at least 50)")


if __name__ == "__main__":
    main()
