"""Documents a second of nyc_ranking against a bare lm-eval task over the same rows, same free model.

The bare task holds finished prompts and counts right letters; both run through lm-eval's evaluator.
"""

from __future__ import annotations

import logging
import statistics
import time
from typing import Any

from datasets import Dataset
from lm_eval import evaluator
from lm_eval.api.task import ConfigurableTask, Task

from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.task import BenchmarkTask

RUNS, COPIES = 5, 60


def ours() -> BenchmarkTask:
    config = {"task": "nyc_ranking", "benchmark": "ranking", "output_type": "multiple_choice"}
    task = BenchmarkTask(config | {"metadata": {"dataset": "sample", "fold": "all"}})
    task._docs = task._docs * COPIES
    return task


def bare(task: BenchmarkTask) -> ConfigurableTask:
    """The same rows as a plain callable multiple_choice task."""
    scenes = {doc["id"]: task.doc_to_text(doc).removesuffix("Answer:") for doc in task.test_docs()}
    rows = [doc | {"scene": scenes[doc["id"]]} for doc in task.test_docs()]
    config: dict[str, Any] = {
        "task": "bare",
        "custom_dataset": lambda **_: {"test": Dataset.from_list(rows)},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": lambda doc: doc["scene"] + "Answer:",
        "doc_to_target": lambda doc: "AB".index(doc["target"]),
        "doc_to_choice": lambda doc: ["A", "B"],
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "num_fewshot": 0,
    }
    return ConfigurableTask(config=config)


def seconds(make: Task) -> float:
    make.set_config("num_fewshot", 0)
    start = time.perf_counter()
    result = evaluator.evaluate(BaselineLM("first"), {"tasks": {make.task_name: make}}, bootstrap_iters=0)
    assert result is not None
    return time.perf_counter() - start


def main() -> None:
    logging.disable(logging.WARNING)
    mine = ours()
    mine.set_fewshot_seed(1234)
    plain = bare(mine)
    n = len(mine.test_docs())
    pairs = [(seconds(mine), seconds(plain)) for _ in range(RUNS)]
    ours_s, bare_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"nyc_ranking     {n / ours_s:8.0f} docs/s ({n} documents)")
    print(f"bare task       {n / bare_s:8.0f} docs/s")
    print(f"ratio of times  {statistics.median(a / b for a, b in pairs):8.3f} (goal: at most 1.15)")


if __name__ == "__main__":
    main()
