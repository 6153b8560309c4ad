"""Inspect's cache of model answers.

Inspect identifies an answer by the model's provider and name, its base URL, the generation settings and the messages
with their metadata, pictures and clips. The arguments of a model (`-M`) and the content of files on this machine are
not part of the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import CachePolicy, GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.on_inspect.client import identity, local_files
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.private import active_generate_config
from humor_tasks.on_inspect.seen import check_sample


def policy(model: Model, **scopes: str) -> CachePolicy:
    """The policy for requests of this package, whose key also has the model's `identity` and `scopes`.

    Entries do not expire and are shared by all epochs.
    """
    about = identity(model)
    told = {"model": json.dumps(about, sort_keys=True)} if about else {}
    return CachePolicy(expiry=None, per_epoch=False, scopes=scopes | told)


def replayed(output: ModelOutput) -> bool:
    """Whether the running sample got this output from the cache."""
    if not output.choices:
        return False
    known = output.choices[0].message.id
    for event in reversed(list(transcript().events)):
        if isinstance(event, ModelEvent) and event.output.choices and event.output.choices[0].message.id == known:
            return event.cache == "read"
    return False


def check_cache(name: str, arguments: Mapping[str, Any], config: GenerateConfig) -> None:
    """Raise CannotRun where `--cache` could replay the answers of a model with other arguments or weights."""
    if not config.cache or (isinstance(config.cache, CachePolicy) and "model" in config.cache.scopes):
        return  # no cache, or the policy of `policy`
    given = ", ".join(f"-M {argument}" for argument in sorted(arguments))
    why = f"it does not distinguish {given}" if given else "it does not notice when files on this machine change"
    if given or local_files(name, arguments):
        cannot_run(
            f"--cache: leave it out for model {name}. Inspect's cache knows a model by its name: {why}, and would give "
            "one model's answers to another. `inspect eval-retry` resumes an interrupted run."
        )


@solver
def check_reuse(asked: str) -> Solver:
    """A setup step that applies `check_cache` and `check_sample` to the model under test, before anything is asked.

    asked: the signature of the run's questions. `inspect eval-set` compares it with that of the logs in its folder.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        check_cache(str(model), model.model_args, model.config.merge(active_generate_config()))
        check_sample(model, state)
        return state

    return solve
