"""Warnings at the start and end of a task: missing verdicts, and `--epochs-reducer`, which changes no metric here."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache

from inspect_ai.hooks import Hooks, RunEnd, RunStart, TaskEnd, TaskStart, hooks
from inspect_ai.log import MetadataEdit, ProvenanceData, edit_eval_log, write_eval_log_async

from humor_tasks.contract.judging.missing import MISSING, missing_warning
from humor_tasks.contract.replies import endings_warning
from humor_tasks.on_inspect.judging.refusals import named_setting

logger = logging.getLogger(__name__)
_running: set[str] = set()


def warn_if_scored_again(values: Mapping[str, float]) -> None:
    """Warn where a finished log is scored again; a run warns once, when its task ends."""
    for warning in filter(None, () if _running else (missing_warning(values), endings_warning(values))):
        logger.warning(warning)


@cache
def warn_when_tasks_end() -> None:
    """Let every later task of this process warn when it ends.

    Scorers call it when they are made. At import, Inspect would announce the hook at the start of every run.
    """

    @hooks(name="missing_verdicts", description="Warns of missing verdicts of graders.")
    class _MissingVerdicts(Hooks):
        async def on_run_start(self, data: RunStart) -> None:
            _running.add(data.run_id)

        async def on_run_end(self, data: RunEnd) -> None:
            _running.discard(data.run_id)

        async def on_task_end(self, data: TaskEnd) -> None:
            scores = data.log.results.scores if data.log.results else []
            values = [{name: metric.value for name, metric in score.metrics.items()} for score in scores]
            warnings = list(dict.fromkeys(filter(None, map(missing_warning, values))))
            endings = list(dict.fromkeys(filter(None, map(endings_warning, values))))
            for warning in (*warnings, *endings):
                logger.warning("%s: %s", data.log.eval.task, warning)
            if warnings:
                edit = MetadataEdit(metadata_set={MISSING: " ".join(warnings)})
                log = edit_eval_log(data.log, [edit], ProvenanceData(author="humor_tasks", reason="missing verdicts"))
                await write_eval_log_async(log, data.log.location, header_only=True)


@cache
def tell_refused_settings() -> None:
    """Let every later run of this process whose model refuses a setting of the task by name say what to do.

    The request is Inspect's own, so that the provider's error ends the run. Tasks with such settings call it.
    """

    @hooks(name="refused_settings", description="Says how a setting that a model does not take is left out.")
    class _RefusedSettings(Hooks):
        async def on_run_end(self, data: RunEnd) -> None:
            for log in data.logs:
                error = log.error.message.replace("\\n", "\n").replace("\\'", "'") if log.error else ""
                name = named_setting(" ".join(error.rpartition("\n\n")[2].split()))  # after the request
                if name and getattr(log.plan.config, name, None) is not None:
                    told = f"{log.eval.task}: {log.eval.model} does not take {name}"
                    logger.warning("%s. Give -T %s=none, which leaves it to the provider.", told, name)


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
