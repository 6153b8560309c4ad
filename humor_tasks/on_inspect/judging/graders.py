"""Asking grader models, the same way wherever one is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
    model_roles,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema, LimitExceededError

from humor_tasks.benchmarks.options import Declared, parameter
from humor_tasks.benchmarks.rubric import POINT, Judgement, Rubric, open_rubric
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.on_inspect.messages import turn_messages
from humor_tasks.on_inspect.private import PrerequisiteError, active_model
from humor_tasks.scorers.verdict import read_word

ROLE = "grader"
CUT_OFF = ("max_tokens", "model_length")


@dataclass(frozen=True)
class Asking(Declared):
    """How graders are asked; their own configuration goes first. The cache is Inspect's, without an end date and for
    every epoch."""

    structured: bool = parameter(False, "Ask graders for a JSON verdict by the provider's structured output.")
    temperature: float | None = parameter(
        0.0, "Temperature of graders whose own configuration sets none; `none` leaves it to the provider."
    )
    seed: int | None = parameter(
        1234, "Seed of graders whose own configuration sets none; `none` leaves it to the provider."
    )
    cache: bool = parameter(True, "Keep every verdict in Inspect's model cache and never pay for it twice.")
    retries: int = parameter(
        0, "How often an unreadable verdict is asked for again, each time with the next seed.", least=0
    )

    def __post_init__(self) -> None:
        try:
            super().__post_init__()
        except BadInput as problem:
            raise CannotRun(str(problem)) from None

    def config(self, own: GenerateConfig, attempt: int = 0, judgement: Judgement = POINT) -> GenerateConfig:
        """The generation settings of a grading request to a model whose own settings are `own`."""
        seed = None if self.seed is None else self.seed + attempt
        config = GenerateConfig(
            temperature=self.temperature if own.temperature is None else own.temperature,
            seed=seed if own.seed is None else own.seed + attempt,
        )
        if self.structured:
            schema = JSONSchema.model_validate(judgement.schema)
            config.response_schema = ResponseSchema(name="verdict", json_schema=schema, strict=True)
        return config

    def shown(self) -> str:
        """For signatures."""
        form = "json" if self.structured else "tags"
        return f"verdict:{form}|temperature:{self.temperature}|seed:{self.seed}"


@dataclass(frozen=True)
class Graded:
    """One grader's word: what it means (True for PASS), None unless `status` is answered.

    `status` is that of a reading, or `error` when the grader gave no reply. `reply` is kept only
    where no verdict could be read from it.
    """

    grader: str
    word: Any
    status: str
    reasons: str
    reply: str | None = None


NO_GRADER = "No grader: name the model that grades with --model-role grader=MODEL (grader=MODEL,MODEL for a panel)."


def graders() -> list[Model]:
    """The models bound to the role `grader`, several for a panel."""
    bound = model_roles().get(ROLE)
    if bound is None:
        raise CannotRun(NO_GRADER)
    return distinct(list(bound) if isinstance(bound, list) else [bound])


def distinct(models: list[Model]) -> list[Model]:
    """The panel; a model that stands in it twice would give the same pinned, cached vote twice."""
    names = [str(model) for model in models]
    if len(set(names)) < len(names):
        raise CannotRun(f"grader: a panel names each model once, not {', '.join(names)}.")
    return models


def check_grader_bound() -> None:
    """Fails at once, without a log, where a run is being set up and no grader is named."""
    if active_model() is not None and ROLE not in model_roles():
        raise CannotRun(NO_GRADER)


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
    models = [get_model(name, memoize=False) for name in ([names] if isinstance(names, str) else names)]
    for model in models:  # get_model(role=...) would give the model that is bound to the role instead
        model._set_role(ROLE)
    return distinct(models)


@lru_cache(maxsize=8)
def rubric_of(family: str, prompts: str | None, judgement: Judgement = POINT) -> Rubric:
    """The family's rubric; what is wrong with a prompts folder is shown without a traceback."""
    try:
        return open_rubric(family, prompts, judgement)
    except BadInput as problem:
        raise CannotRun(str(problem)) from None


async def ask(grader: Model, rubric: Rubric, material: Mapping[str, str], how: Asking) -> Graded:
    """One grader's verdict on `material`, see `put`."""
    return await put(grader, turn_messages(rubric.ask(material, how.structured).turns), rubric.judgement, how)


async def put(grader: Model, messages: list[ChatMessage], judgement: Judgement, how: Asking) -> Graded:
    """One grader's verdict on the question in `messages`.

    A request that fails for good is a verdict that is missing, not the end of the run. What would fail
    for every request ends it: a wrong key, an unknown model, a schema the provider does not take; so do
    limits and a cancelled run. `inspect eval-retry` then takes it up.
    """
    word = Graded(str(grader), None, "error", "")
    for attempt in range(how.retries + 1):
        scopes = {"attempt": str(attempt)} if attempt else {}
        policy: Any = CachePolicy(expiry=None, per_epoch=False, scopes=scopes) if how.cache else False
        try:
            output = await grader.generate(messages, config=how.config(grader.config, attempt, judgement), cache=policy)
        except (PrerequisiteError, LimitExceededError):
            raise
        except Exception as problem:
            _check_hopeless(grader, problem, how)
            word = Graded(str(grader), None, "error", f"{type(problem).__name__}: {problem}")
        else:
            word = read(str(grader), output, judgement, how)
        if word.word is not None:
            break
    return word


def _check_hopeless(grader: Model, problem: Exception, how: Asking) -> None:
    status = getattr(problem, "status_code", None)
    if status in (401, 403, 404):
        raise CannotRun(f"grader {grader} cannot be asked (status {status}): {problem}") from None
    if status == 400 and how.structured:
        raise CannotRun(f"grader {grader} takes no schema: use structured=false. It says: {problem}") from None


def read(grader: str, output: ModelOutput, judgement: Judgement, how: Asking) -> Graded:
    """What a grader's output says; one cut off by its length says nothing: a quotation may stand at its end."""
    meant, reasons, status = read_word(output.completion, judgement.words, "json" if how.structured else "tags")
    stopped = output.stop_reason if output.choices else "stop"
    if meant is not None and stopped not in CUT_OFF:
        return Graded(grader, meant, status, reasons)
    status = "refused" if stopped == "content_filter" else "unparsed" if meant is not None else status
    return Graded(grader, None, status, reasons, output.error or output.completion)
