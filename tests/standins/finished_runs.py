"""Results of runs that nobody made, by what they got right or rated."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks import scorers
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.variations import VARIATION, Variation
from humor_tasks.logs import FinishedRun
from humor_tasks.logs.signature import Signature
from humor_tasks.results import Result, Results
from humor_tasks.results.compare import Comparisons, compare
from humor_tasks.rows.records import Outcome


def finished(name: str, outcomes: Sequence[Outcome], benchmark: str = "matching", **more: Any) -> Result:
    """A run of the system `name` with these outcomes; those of several epochs follow each other."""
    version = more.pop("version", find_benchmark(benchmark).version)
    signature = Signature.parse(more.pop("signature", "-"))
    run = FinishedRun(Path(f"{name}.eval"), "inspect", benchmark, version, signature, name, len(outcomes), ())
    opened = find_benchmark(benchmark).reopen(version, more.pop("options", {}))
    epochs = (1,) * len(outcomes)
    return Result(run, opened, "multiple_choice", name, tuple(outcomes), epochs, **{"paths": (run.path,)} | more)


def marked(
    name: str, marks: Sequence[float], contests: int | Sequence[str] = 4, benchmark: str = "matching", **more: Any
) -> Result:
    """A run that is right or wrong on each item; `contests` of these, or of so many items each."""
    of_contest = [f"c{i // contests}" for i in range(len(marks))] if isinstance(contests, int) else contests
    outcomes = [
        Outcome(f"i{i}", contest, {"fold": str(i % 5)}, "answered", "A", "A", {"accuracy": mark, "unparsed": 0.0})
        for i, (mark, contest) in enumerate(zip(marks, of_contest, strict=True))
    ]
    return finished(name, outcomes, benchmark, **more)


def under_sets(name: str, marks: Mapping[str, Sequence[float]], contests: int = 4) -> Result:
    """A run of matching that is right or wrong on each item under each prompt set; `contests` items of each."""
    outcomes = [
        Outcome(
            **{"id": f"i{i}@{letter}", "cluster": f"c{i // contests}", "groups": {}, "status": "answered"},
            **{"answer": "A" if mark else "B", "target": "A", "values": {"accuracy": mark}},
            facts={VARIATION: Variation(f"i{i}", letter)._asdict()},
        )
        for letter, of_set in marks.items()
        for i, mark in enumerate(of_set)
    ]
    return finished(name, outcomes, version="2-all", options={"prompts": "all"})


def in_all_orders(name: str, answers: Sequence[str], contests: int = 1) -> Result:
    """A run of matching with these answers to each item, the right choice of which is A, B, C, D and E in turn."""
    outcomes = [
        Outcome(
            **{"id": f"i{i}@r{k}", "cluster": f"c{i // contests}", "groups": {}, "status": "answered"},
            **{"answer": answer, "target": "ABCDE"[k], "values": {"accuracy": float(answer == "ABCDE"[k])}},
            facts={VARIATION: Variation(f"i{i}", "", k)._asdict()},
        )
        for i, of_item in enumerate(answers)
        for k, answer in enumerate(of_item)
    ]
    return finished(name, outcomes, options={"order": "rotated"})


def rated_headlines(name: str, ratings: Sequence[float], size: int = 4) -> Result:
    """A run of ratings; the mean grade of item i is (i % 16) / 5."""
    outcomes = []
    for i, rating in enumerate(ratings):
        gold = (i % 16) / 5
        values = {"rmse": abs(rating - gold), "unparsed": 0.0}
        outcomes.append(Outcome(f"i{i}", f"c{i // size}", {}, "answered", str(rating), str(gold), values))
    return finished(name, outcomes, "humicroedit_rating")


def coins(seed: int, n: int = 120, share: float = 0.6) -> list[float]:
    """Right or wrong by chance: `share` of them right."""
    rng = random.Random(seed)
    return [float(rng.random() < share) for _ in range(n)]


def compared(*results: Result, metric: str | None = None) -> Comparisons:
    return compare(Results(results), metric)


def paired_test(first: Any, second: Any, clusters: Any, **settings: Any) -> scorers.PairedTest:
    return scorers.paired_tests([(first, second, clusters)], **settings)[0]
