"""The crowd benchmarks: seconds to build pairs and groups, and lm-eval's documents a second beside `nyc_ranking`.

    python speed/crowd_rows.py --dataset FOLDER [--split all] [--items 100000] [--corpus FOLDER]

FOLDER holds contests with ratings (docs/crowd.md). --corpus: a folder of the caption contest's corpus, whose ranking
rows are repeated as often as there are pairs; default: the packaged sample. Both tasks are answered by the model
`humor-baseline first` in one process, in turn, three times each, and the best counts. Loading rows is not part of it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from typing import Any

from humor_tasks import load
from humor_tasks.contract.definition import Run
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.task import BenchmarkTask
from humor_tasks.testing import run_lm_eval

BUILDS: dict[str, dict[str, Any]] = {
    "top_against_1000": {"pairs": "top_against_1000", "per_contest": 100},
    "rule": {"pairs": "rule", "per_contest": 1000},
    "hard": {"pairs": "hard", "per_contest": 1000},
    "groups": {"against": "all"},
}


def documents_a_second(task: str, run: Run) -> float:
    """lm-eval's documents a second from opened rows to results."""
    opened, BenchmarkTask._load = BenchmarkTask._load, _with(run)  # type: ignore[method-assign]
    try:
        start = time.perf_counter()
        run_lm_eval(BaselineLM("first"), task, bootstrap_iters=0)
        return len(run.records) / (time.perf_counter() - start)
    finally:
        BenchmarkTask._load = opened  # type: ignore[method-assign]


def _with(run: Run) -> Any:
    from humor_tasks.on_lm_eval.task import _doc

    def load_rows(self: BenchmarkTask, **seed: int) -> None:
        self.run = run.with_options(**run.options.for_likelihoods())
        self._docs = [_doc(record, self.run) for record in run.records]
        self._records = {record.id: record for record in run.records}
        self._places = {identity: i for i, identity in enumerate(self._records)}

    return load_rows


def repeated(run: Run, count: int) -> Run:
    """The run with its records repeated under new ids."""
    records = [replace(run.records[i % len(run.records)], id=f"{i}") for i in range(count)]
    return replace(run, data=replace(run.data, records=tuple(records)))


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", default="all")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--corpus", default="sample")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    where: dict[str, Any] = {"dataset": given.dataset, "split": given.split, "setting": "caption_only"}
    total, pairs = 0.0, None
    for name, how in BUILDS.items():
        start = time.perf_counter()
        run = load("crowd_groups" if name == "groups" else "crowd_pairs", **where, **how)
        took = time.perf_counter() - start
        total += took
        pairs = run if name == "rule" else pairs
        print(f"{name}: {len(run.records):,} rows of {run.data.provenance['contests']} contests in {took:.1f} s")
    print(f"all of them: {total:.1f} s, each with reading the contests (goal: pairs and groups under 60 s)")
    assert pairs is not None
    split = {} if given.corpus == "sample" else {"split": "validation"}
    ranking = load("ranking", dataset=given.corpus, setting="caption_only", **split)
    runs = {"crowd_pairs": repeated(pairs, given.pairs), "nyc_ranking": repeated(ranking, given.pairs)}
    found = [{task: documents_a_second(task, run) for task, run in runs.items()} for _ in range(3)]
    rates = {task: max(each[task] for each in found) for task in runs}
    ratio = rates["crowd_pairs"] / rates["nyc_ranking"]
    print(f"{given.pairs:,} documents: {', '.join(f'{task} {rate:,.0f}/s' for task, rate in rates.items())}")
    print(f"ratio {ratio:.2f} (goal: at least 1)")


if __name__ == "__main__":
    main()
