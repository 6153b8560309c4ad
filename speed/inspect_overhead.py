"""Samples a second of humor_tasks/matching against the same rows in a bare Inspect task, same free model."""

from __future__ import annotations

import statistics
import tempfile
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import answer

from humor_tasks.tasks import matching

RUNS, COPIES = 5, 40


def repeated(task: Task) -> Task:
    """The task over many copies of its samples, so that start-up does not decide."""
    samples = [s.model_copy(update={"id": f"{s.id}-{i}"}) for i in range(COPIES) for s in task.dataset]
    task.dataset = MemoryDataset(samples, name=task.dataset.name)
    return task


def bare(task: Task) -> Task:
    samples = [Sample(id=s.id, input=s.input, target=s.target, choices=s.choices) for s in task.dataset]
    return Task(dataset=MemoryDataset(samples), scorer=answer("letter"))


def seconds(task: Task) -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        log = eval(task, model=get_model("baseline/first"), log_dir=folder, display="none", log_level="error")[0]
        assert log.status == "success", log.error
        return time.perf_counter() - start


def main() -> None:
    ours = repeated(matching(dataset="sample", fold="all"))
    plain = bare(ours)
    n = len(ours.dataset)
    pairs = [(seconds(ours), seconds(plain)) for _ in range(RUNS)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"humor_tasks/matching {n / mine:8.0f} samples/s ({n} samples)")
    print(f"bare Inspect task    {n / theirs:8.0f} samples/s")
    print(f"ratio of times       {statistics.median(a / b for a, b in pairs):8.3f} (goal: at most 1.15)")


if __name__ == "__main__":
    main()
