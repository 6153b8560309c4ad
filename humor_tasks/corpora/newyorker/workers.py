"""Running the units of a stage: in this process, in several on this machine, or as Ray Data jobs.

Every unit computes on one thread, because the last bits of sums depend on the number of threads. So the files are the
same however many workers there are.
"""

from __future__ import annotations

import logging
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from humor_tasks.errors import BadInput

Unit = Callable[[Any], Any]


class Workers:
    """Runs one function for many items; a context manager, which ends its processes.

    unit: the function, sent once to each process, because it carries the settings and files of a whole build. peak: the
    most memory that any of its processes has held, in MiB.
    """

    def __init__(self, unit: Unit, workers: int = 1, ray: bool = False) -> None:
        self.unit, self.workers, self.ray = unit, workers, ray
        self.peak = 0.0
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *problem: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def run(self, items: Sequence[Any]) -> Iterator[Any]:
        """The results of the function for each item, in any order. Its exceptions stop the run."""
        if self.ray and items:
            for result, peak in _with_ray(self.unit, items, self.workers):
                self.peak = max(self.peak, peak)
                yield result
        elif self.workers > 1 and len(items) > 1:
            yield from self._with_processes(items)
        else:
            with one_thread():
                for item in items:
                    yield self.unit(item)
        self.peak = max(self.peak, peak_memory())

    def _with_processes(self, items: Sequence[Any]) -> Iterator[Any]:
        import multiprocessing
        from concurrent.futures import as_completed
        from concurrent.futures.process import BrokenProcessPool

        if self._pool is None:
            # Spawned, because a fork of a process with torch's threads may hang.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=(self.unit,))
        futures = [self._pool.submit(_do, item) for item in items]
        try:
            for future in as_completed(futures):
                result, peak = future.result()
                self.peak = max(self.peak, peak)
                yield result
        except BrokenProcessPool:
            raise BadInput(
                "a worker process ended, most often for lack of memory; run the command again with fewer --workers."
            ) from None
        finally:
            for future in futures:
                future.cancel()


def one_thread() -> Any:
    """A context in which torch and BLAS compute on one thread."""
    from contextlib import ExitStack

    import torch
    from threadpoolctl import threadpool_limits

    stack = ExitStack()
    before = torch.get_num_threads()
    stack.callback(torch.set_num_threads, before)
    torch.set_num_threads(1)
    stack.enter_context(threadpool_limits(1))
    return stack


def peak_memory() -> float:
    """The most memory that this process has held so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _with_ray(unit: Unit, items: Sequence[Any], workers: int) -> Iterator[tuple[Any, float]]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise BadInput("--ray needs the extra 'ray': pip install 'humor-tasks[ray]'.") from None
    if not ray.is_initialized():
        # RAY_ADDRESS names a cluster; without it Ray starts on this machine, with these workers.
        cpus = None if os.environ.get("RAY_ADDRESS") else workers
        ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    data = ray.data.from_items([{"item": item} for item in items], override_num_blocks=len(items))

    def done(row: dict[str, Any]) -> dict[str, Any]:
        with one_thread():
            try:
                return {"result": unit(row["item"]), "problem": "", "peak": peak_memory()}
            except BadInput as problem:  # Ray would wrap it into errors of its own
                return {"result": None, "problem": str(problem), "peak": peak_memory()}

    for row in data.map(done).iter_rows():
        if row["problem"]:
            raise BadInput(row["problem"])
        yield row["result"], row["peak"]


_unit: list[Unit] = []
"""The function of this worker process: sent once, because it carries the settings and files of the whole build."""


def _begin(unit: Unit) -> None:
    _unit[:] = [unit]
    one_thread()


def _do(item: Any) -> tuple[Any, float]:
    """The result, and the memory of this process so far."""
    return _unit[0](item), peak_memory()
