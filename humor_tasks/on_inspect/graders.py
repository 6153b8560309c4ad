"""Asking grader models, the same way wherever one is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import CachePolicy, GenerateConfig, Model, ModelOutput, ResponseSchema, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema, LimitExceededError

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.messages import turn_messages
from humor_tasks.rubric import Rubric, open_rubric
from humor_tasks.scorers.verdict import VERDICT_SCHEMA, read_verdict

ROLE = "grader"
CUT_OFF = ("max_tokens", "model_length")


@dataclass(frozen=True)
class Asking:
    """How graders are asked.

    structured: a JSON verdict by the provider's structured output. temperature and seed are pinned
    (None: left to the model). cache: an answer once paid for is not asked for again; kept by
    Inspect's model cache without an end date, for every epoch.
    """

    structured: bool = False
    temperature: float | None = 0.0
    seed: int | None = 1234
    cache: bool = True

    def config(self) -> GenerateConfig:
        """The generation settings of a grading request."""
        config = GenerateConfig(temperature=self.temperature, seed=self.seed)
        if self.structured:
            schema = JSONSchema.model_validate(VERDICT_SCHEMA)
            config.response_schema = ResponseSchema(name="verdict", json_schema=schema, strict=True)
        return config

    def shown(self) -> str:
        """For signatures."""
        form = "json" if self.structured else "tags"
        return f"verdict:{form}|temperature:{self.temperature}|seed:{self.seed}"


@dataclass(frozen=True)
class Graded:
    """One grader's word on one point; `passed` is None unless `status` is answered.

    `status` is that of a reading, or `error` when the grader gave no reply. `reply` is kept only
    where no verdict could be read from it.
    """

    grader: str
    passed: bool | None
    status: str
    reasons: str
    reply: str | None = None


def graders() -> list[Model]:
    """The models bound to the role `grader`, several for a panel."""
    bound = model_roles().get(ROLE)
    if bound is None:
        raise PrerequisiteError(
            "No grader: name the model that grades with --model-role grader=MODEL (grader=MODEL,MODEL for a panel)."
        )
    return list(bound) if isinstance(bound, list) else [bound]


@solver
def require_grader() -> Solver:
    """A setup step that fails before anything is paid for when no grader is named."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        graders()
        return state

    return solve


def resolve(names: str | Sequence[str] | None) -> list[Model]:
    """These models, or those bound to the role `grader`."""
    if not names:
        return graders()
    return [get_model(name, role=ROLE) for name in ([names] if isinstance(names, str) else names)]


@lru_cache(maxsize=8)
def rubric_of(family: str, prompts: str | None) -> Rubric:
    """The family's rubric; what is wrong with a prompts folder is shown without a traceback."""
    try:
        return open_rubric(family, prompts)
    except BadInput as problem:
        raise PrerequisiteError(str(problem)) from None


async def ask(grader: Model, rubric: Rubric, material: Mapping[str, str], how: Asking) -> Graded:
    """One grader's verdict on one point.

    A request that fails for good is a verdict that is missing, not the end of the run; limits,
    missing keys and a cancelled run are not the grader's failure and pass through.
    """
    messages = turn_messages(rubric.ask(material, how.structured).turns)
    policy: Any = CachePolicy(expiry=None, per_epoch=False) if how.cache else False
    try:
        output = await grader.generate(messages, config=how.config(), cache=policy)
    except (PrerequisiteError, LimitExceededError):
        raise
    except Exception as problem:
        return Graded(str(grader), None, "error", f"{type(problem).__name__}: {problem}")
    return read(str(grader), output, how)


def read(grader: str, output: ModelOutput, how: Asking) -> Graded:
    """What a grader's output says; one cut off by its length says nothing: a quotation may stand at its end."""
    verdict = read_verdict(output.completion, "json" if how.structured else "tags")
    stopped = output.stop_reason if output.choices else "stop"
    if verdict.passed is not None and stopped not in CUT_OFF:
        return Graded(grader, verdict.passed, verdict.status, verdict.reasons)
    status = "refused" if stopped == "content_filter" else "unparsed" if verdict.passed is not None else verdict.status
    return Graded(grader, None, status, verdict.reasons, output.error or output.completion)
