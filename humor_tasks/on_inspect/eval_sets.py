"""Tasks of several benchmarks and models as one `eval_set` of Inspect, which resumes in its folder."""

from __future__ import annotations

import contextvars
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from inspect_ai import Task, eval_set, task_with
from inspect_ai.log import EvalLog
from inspect_ai.model import CachePolicy, GenerateConfig, Model

from humor_tasks.benchmarks import GROUP, NAMES
from humor_tasks.errors import BadInput, one_line
from humor_tasks.on_inspect.client import policy, register_prices
from humor_tasks.on_inspect.judging.graders import ROLE
from humor_tasks.on_inspect.local import LocalAPI
from humor_tasks.on_inspect.private import PrerequisiteError, init_active_model, init_model_roles, task_create


@dataclass(frozen=True)
class Asked:
    """A benchmark's task with its parameters, which are not all of them."""

    benchmark: str
    parameters: Mapping[str, Any]

    @property
    def task(self) -> str:
        """The task's name in Inspect; that of another package begins with its module."""
        if self.benchmark in NAMES:
            return f"humor_tasks/{self.benchmark}"
        (entry,) = {entry.module.partition(".")[0] for entry in entry_points(group=GROUP, name=self.benchmark)}
        return f"{entry}/{self.benchmark}"

    @property
    def key(self) -> tuple[str, str]:
        """What tells it apart in logs."""
        return self.task, _key(self.parameters)


def keep_replies(models: Sequence[Model], identity: str) -> None:
    """Let Inspect's cache keep the replies of models with a server, for the run of this id alone.

    A log is written a few samples at a time, so that a killed run would ask for some of them again.
    """
    for model in models:
        if not isinstance(model.api, LocalAPI):
            scopes = {"model": str(model), **policy(model).scopes, "run": identity}
            cache = CachePolicy(expiry=None, per_epoch=True, scopes=scopes)
            model.config = model.config.merge(GenerateConfig(cache=cache))


def tasks_of(asked: Sequence[Asked], models: Sequence[Model], graders: Sequence[Model]) -> list[Task]:
    """The tasks for all models. Raises BadInput with everything that a task refuses of a model."""
    made: list[Task] = []
    problems: list[str] = []
    for model in models:
        for each in asked:
            try:
                made.append(contextvars.copy_context().run(_task, each, model, graders))
            except PrerequisiteError as problem:
                problems.append(f"{model}: {one_line(problem, 600)}")
    if problems:
        raise BadInput("\n".join(problems))
    return made


def _task(asked: Asked, model: Model, graders: Sequence[Model]) -> Task:
    """A task, made while its model is the active one, as Inspect makes tasks that are named on its command line."""
    init_active_model(model, GenerateConfig())
    init_model_roles({ROLE: list(graders)} if graders else {})
    return task_with(task_create(asked.task, **asked.parameters), model=model)


def run_tasks(folder: str, tasks: Sequence[Task], graders: Sequence[Model], limit: int | None) -> list[EvalLog]:
    """The headers of the logs in a folder, of tasks that have finished or not.

    A task that fails is tried once more, with the samples that it has; its log then says why it failed. Raises
    BadInput where the set cannot start, and where a log cannot be written.
    """
    register_prices()
    try:
        _, logs = eval_set(
            list(tasks),
            log_dir=folder,
            model_roles={ROLE: list(graders)} if graders else None,
            limit=limit,
            retry_attempts=1,
        )
    except PrerequisiteError as problem:
        raise BadInput(one_line(problem, 600)) from None
    except OSError as problem:
        raise BadInput(f"{folder}: cannot be written ({problem}). Make room, or choose another folder.") from None
    return logs


def unfinished(logs: Sequence[EvalLog], asked: Sequence[Asked], models: Sequence[str]) -> list[tuple[Asked, str, str]]:
    """The tasks that have not finished, each with its model and why, in the order of models and tasks."""
    by_key = {(_named(log), _key(log.eval.task_args_passed), log.eval.model): log for log in logs}
    found = []
    for model in models:
        for each in asked:
            log = by_key.get((*each.key, model))
            if log is None or log.status != "success":
                found.append((each, model, one_line(log.error.message) if log and log.error else "it did not end"))
    return found


def _named(log: EvalLog) -> str:
    return log.eval.task_registry_name or log.eval.task


def _key(parameters: Mapping[str, Any]) -> str:
    return json.dumps(dict(parameters), sort_keys=True, default=str)
