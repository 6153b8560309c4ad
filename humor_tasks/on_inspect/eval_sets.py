"""Tasks of several benchmarks and models as one `eval_set` of Inspect, which resumes in its folder."""

from __future__ import annotations

import contextvars
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from inspect_ai import Task, eval_set, task_with
from inspect_ai.log import EvalLog
from inspect_ai.model import CachePolicy, GenerateConfig, Model

from humor_tasks.benchmarks import GROUP, NAMES
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.files.secrets import without_credentials
from humor_tasks.on_inspect.checks import check_takes
from humor_tasks.on_inspect.client import open_model, policy, register_prices
from humor_tasks.on_inspect.errors import one_line
from humor_tasks.on_inspect.judging.graders import ROLE
from humor_tasks.on_inspect.limits import bounded
from humor_tasks.on_inspect.local import LocalAPI
from humor_tasks.on_inspect.messages import chat_messages
from humor_tasks.on_inspect.private import (
    PrerequisiteError,
    init_active_model,
    init_model_roles,
    registry_info,
    registry_lookup,
    task_create,
)


@dataclass(frozen=True)
class SetTask:
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


@dataclass(frozen=True)
class Opened:
    """A model that a plan is made for.

    model: None where it cannot be opened. problem: why not, in one sentence with the remedy. here: whether it runs on
    this machine. reads_no_tokens: whether it compares or rates without a prompt, as baselines and CLIP do. most_tokens:
    the limit of a reply; None where it is unknown.
    """

    name: str
    model: Model | None = None
    problem: str = ""
    here: bool = False
    reads_no_tokens: bool = False
    most_tokens: int | None = None


HERE = frozenset({"hf", "llama-cpp-python", "mockllm", "nnterp", "ollama", "sglang", "transformer_lens", "vllm"})
"""Inspect's providers whose models run on this machine, besides this package's."""
WRITERS = frozenset({"image_text", "ofa", "text"})
"""Providers of this package whose models read a prompt and write a reply; the others score choices."""


def open_for_plan(
    name: str, arguments: Sequence[str], base_url: str | None, role: str | None = None, most: int | None = None
) -> Opened:
    """A model by name, or the problem with it, such as a missing key or package. most: tokens of a reply, if given."""
    try:
        model = open_model(name, arguments, base_url, role=role)
    except BadInput as problem:
        return Opened(name, problem=str(problem))
    ours = isinstance(model.api, LocalAPI)
    limit = most or (None if ours else bounded(GenerateConfig(), model).max_tokens or model.config.max_tokens)
    provider = name.partition("/")[0]
    return Opened(str(model), model, "", ours or provider in HERE, ours and provider not in WRITERS, limit)


def refuses(model: Model, run: Run[Any]) -> str | None:
    """Why a model cannot be asked what a run asks; None where it can, as far as is known before it is asked.

    That are pictures and clips that its provider does not take, and questions that a model without a prompt cannot
    answer, such as a baseline that rates.
    """
    record = run.records[0]
    prompt = run.prompt(record)
    media = [medium for each in run.records for medium in run.prompt(each).media] if run.shows_media else []
    try:
        check_takes(model, media)
        if chooser := getattr(model.api, "chooser", None):
            messages = chat_messages(prompt, record, run.form, run.reply_length, pictures=True)
            chooser.check(model.api.question(messages))  # type: ignore[attr-defined]
    except (PrerequisiteError, BadInput) as problem:
        return f"{model}: {one_line(problem).removeprefix(f'{model}: ')}"
    return None


def keep_replies(models: Sequence[Model], identity: str) -> None:
    """Let Inspect's cache keep the replies of models with a server, for the run of this id alone.

    A log is written a few samples at a time, so that a killed run would ask for some of them again.
    """
    for model in models:
        if not isinstance(model.api, LocalAPI):
            scopes = {"model": str(model), **policy(model).scopes, "run": identity}
            cache = CachePolicy(expiry=None, per_epoch=True, scopes=scopes)
            model.config = model.config.merge(GenerateConfig(cache=cache))


def tasks_of(
    asked: Sequence[SetTask], models: Sequence[Model], graders: Sequence[Model], most: int | None = None
) -> list[Task]:
    """The tasks for all models. Raises BadInput with everything that a task refuses of a model.

    most: tokens of a reply; None: as Inspect and the model have it.
    """
    made: list[Task] = []
    problems: list[str] = []
    for model in models:
        for each in asked:
            try:
                made.append(contextvars.copy_context().run(_task, each, model, graders, most))
            except (PrerequisiteError, BadInput) as problem:
                problems.append(f"{model}: {one_line(problem)}")
    if problems:
        raise BadInput("\n".join(problems))
    return made


def _task(asked: SetTask, model: Model, graders: Sequence[Model], most: int | None) -> Task:
    """A task, made while its model is the active one, as Inspect makes tasks that are named on its command line."""
    function = registry_lookup("task", asked.task)
    if function is None:
        raise BadInput(f"{asked.task}: no such task is registered with Inspect; its package must export it.")
    takes = registry_info(function).metadata["params"]
    if unknown := asked.parameters.keys() - set(takes):
        raise BadInput(f"{asked.task}: its function takes no {', '.join(sorted(unknown))}; add it, or leave it out.")
    init_active_model(model, GenerateConfig(max_tokens=most))
    init_model_roles({ROLE: list(graders)} if graders else {})
    return task_with(task_create(asked.task, **asked.parameters), model=model)


def run_tasks(
    folder: str,
    tasks: Sequence[Task],
    graders: Sequence[Model],
    limit: int | None,
    most: int | None = None,
    retries: int | None = None,
) -> list[EvalLog]:
    """The headers of the logs in a folder, of tasks that have finished or not.

    A task that fails is tried once more, with the samples that it has; its log then says why it failed. retries: of a
    request; None: as Inspect has it, without end. Raises BadInput where the set cannot start, and where a log cannot be
    written.
    """
    register_prices()
    try:
        _, logs = contextvars.copy_context().run(  # it leaves its last model and roles behind
            eval_set,
            list(tasks),
            log_dir=folder,
            model_roles={ROLE: list(graders)} if graders else None,
            limit=limit,
            retry_attempts=1,
            max_tokens=most,
            max_retries=retries,
        )
    except PrerequisiteError as problem:
        told = one_line(problem)
        if "dirty" in told:  # its remedy is an option of another command
            log = next(iter(re.findall(r"[^/'\s]+\.eval", told)), "a log")
            raise BadInput(
                f"{folder}: {log} is of a task that this command does not run: its rows have changed or cannot be read "
                "now. Put that right, or choose another folder."
            ) from None
        raise BadInput(told) from None
    except OSError as problem:
        raise BadInput(f"{folder}: cannot be written ({problem}). Make room, or choose another folder.") from None
    return logs


def unfinished(
    logs: Sequence[EvalLog], asked: Sequence[SetTask], models: Sequence[str]
) -> list[tuple[SetTask, str, str]]:
    """The tasks that have not finished, each with its model and why, in the order of models and tasks.

    Why is "" where it was stopped, not failed.
    """
    by_key = {(_named(log), _key(log.eval.task_args_passed), log.eval.model): log for log in logs}
    found = []
    for model in models:
        for each in asked:
            log = by_key.get((*each.key, model))
            if log is None or log.status != "success":
                why = without_credentials(" ".join(log.error.message.split())) if log and log.error else ""
                found.append((each, model, why))
    return found


def _named(log: EvalLog) -> str:
    return log.eval.task_registry_name or log.eval.task


def _key(parameters: Mapping[str, Any]) -> str:
    return json.dumps(dict(parameters), sort_keys=True, default=str)
