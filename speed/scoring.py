"""Scoring 100,000 predictions without a harness: reading letters, outcomes, clustered metrics."""

from __future__ import annotations

import dataclasses
import time

from humor_tasks import evaluate, load

N = 100_000


def main() -> None:
    run = load("ranking", dataset="sample", fold="all")
    records = tuple(
        dataclasses.replace(run.records[i % len(run.records)], id=str(i), cluster=str(i // 15)) for i in range(N)
    )
    run = dataclasses.replace(run, data=dataclasses.replace(run.data, records=records))
    replies = ("Answer: A", "Both have their charm, but the second wins.\n\n**Answer:** B", "I am not sure.", "B")
    predictions = {record.id: replies[i % len(replies)] for i, record in enumerate(records)}
    start = time.perf_counter()
    report = evaluate(run, predictions)
    print(f"{N} predictions scored in {time.perf_counter() - start:.2f} s (goal: under 5 s)")
    print(report)


if __name__ == "__main__":
    main()
