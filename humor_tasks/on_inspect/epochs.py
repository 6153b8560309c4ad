"""The warning of a run with `--epochs-reducer`, which does not change the metrics of this package."""

from __future__ import annotations

import logging
from functools import cache

from inspect_ai.hooks import Hooks, TaskStart, hooks

logger = logging.getLogger(__name__)


@cache
def warn_of_reducers() -> None:
    """Let every later task of this process with `benchmark_metrics` warn at its start of another reducer than `mean`.

    Tasks call it when they are made. At import, Inspect would announce the hook at the start of every run.
    """

    @hooks(name="epochs_reducer", description="Warns of a reducer of epochs that has no effect.")
    class _Reducers(Hooks):
        async def on_task_start(self, data: TaskStart) -> None:
            unused = [name for name in data.spec.config.epochs_reducer or () if name != "mean"]
            if unused and "humor_tasks/benchmark_metrics" in str(data.spec.scorers):
                logger.warning(
                    "%s: the epochs reducer %s does not change these metrics: they count every reply of every epoch.",
                    data.spec.task,
                    ", ".join(unused),
                )
