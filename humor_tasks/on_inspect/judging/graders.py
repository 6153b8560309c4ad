"""Requests to grader models, shared by all scorers that use graders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
    model_roles,
)
from inspect_ai.util import JSONSchema, LimitExceededError

from humor_tasks.contract.judging.questions import ByAnswer, Verdict
from humor_tasks.contract.judging.rubrics import JUDGE_FIRST, SETS, JudgeFirst, Judgement
from humor_tasks.contract.options import ALL, FIRST, Declared, parameter
from humor_tasks.contract.prompts import names_sets
from humor_tasks.errors import BadInput
from humor_tasks.logs.record import CUT_OFF, model_wrote
from humor_tasks.on_inspect.client import policy, replayed
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.judging.refusals import OURS, Standing, refusal
from humor_tasks.on_inspect.logprobs import LIKELIHOODS, letter_logprobs
from humor_tasks.on_inspect.private import PrerequisiteError, active_model
from humor_tasks.on_inspect.tool_calls import tool_called
from humor_tasks.scorers.given_markers import with_known_markers
from humor_tasks.scorers.own_turn import own_turn, unwrapped
from humor_tasks.scorers.verdict import read_word

ROLE = "grader"


@dataclass(frozen=True)
class Requests(Declared):
    """Settings of requests to graders; the graders' own configuration takes precedence.

    The cache is Inspect's; see `humor_tasks.on_inspect.client`. A later run asks again for unreadable verdicts.
    """

    temperature: float | None = parameter(
        0.0,
        "Temperature of graders whose configuration does not set one; `none`: the provider's default.",
        least=0,
    )
    seed: int | None = parameter(
        1234, "Seed of graders whose configuration does not set one; `none`: the provider's default."
    )
    cache: bool = parameter(True, "Keep verdicts in Inspect's model cache, so that none is paid for twice.")
    retries: int = parameter(0, "Number of retries for an unreadable verdict, each with the next seed.", least=0)

    def __post_init__(self) -> None:
        try:
            super().__post_init__()
        except BadInput as problem:
            cannot_run(str(problem))

    def signature_entries(self) -> dict[str, Any]:
        """The settings as entries of a signature."""
        return {"temperature": self.temperature, "seed": self.seed}

    def without(self, names: Collection[str]) -> Self:
        """The settings without those of these names, which are left to the provider."""
        changes: dict[str, Any] = dict.fromkeys(names)
        return replace(self, **changes)

    def defaults(self, settings: GenerateConfig) -> set[str]:
        """The sampling settings that nobody chose: neither these settings nor the model's own, `settings`, name one."""
        return {n for n in OURS if getattr(settings, n) is None and getattr(self, n) == getattr(Requests, n)}

    def config(self, settings: GenerateConfig, attempt: int = 0) -> GenerateConfig:
        """The generation settings of a request; `settings`: the model's own."""
        seed = None if self.seed is None else self.seed + attempt
        return GenerateConfig(
            temperature=self.temperature if settings.temperature is None else settings.temperature,
            seed=seed if settings.seed is None else settings.seed + attempt,
        )


@dataclass(frozen=True)
class GraderSettings(Requests):
    """Settings of grading requests whose verdict is in tags, or in JSON."""

    structured: bool = parameter(False, "Request a JSON verdict through the provider's structured output.")

    def signature_entries(self) -> dict[str, Any]:
        """The settings as entries of a signature."""
        return {"verdict": "json" if self.structured else "tags", **super().signature_entries()}


@dataclass(frozen=True)
class RubricSettings(GraderSettings):
    """Settings of grading requests whose question is a rubric's."""

    grader_prompts: str | None = parameter(
        None,
        "Prompt set of the graders: A (the default) to E, or a folder of template files. `humor-tasks grade` also "
        "takes `all` of them, for replies that exist (docs/wordings.md).",
    )

    judge_first: JudgeFirst = parameter("none", JUDGE_FIRST)

    def signature_entries(self) -> dict[str, Any]:
        """The settings as entries of a signature; a folder is told by the hash of its templates alone."""
        named = self.grader_prompts is not None and names_sets(self.grader_prompts) and self.grader_prompts != FIRST
        entries = super().signature_entries() | ({SETS: self.grader_prompts} if named else {})
        return entries | ({"judge_first": self.judge_first} if self.judge_first != "none" else {})


ALL_SETS = (
    f"{SETS}={ALL} judges replies that exist already. Run the task with one prompt set of the graders, then "
    f"`humor-tasks grade LOG --grader MODEL --grader-prompts {ALL}`."
)


@dataclass(frozen=True)
class VerdictForm:
    """What a request for a verdict adds to the settings, and how the verdict is read from a grader's output."""

    config: GenerateConfig
    read: Callable[[str, ModelOutput], Verdict]


def with_markers(form: VerdictForm, thinking: str | None) -> VerdictForm:
    """The form, with given markers of thinking as in `Options.thinking`."""
    return form if thinking is None else replace(form, read=lambda grader, out: form.read(grader, known(out, thinking)))


def known(output: ModelOutput, thinking: str | None) -> ModelOutput:
    """An output whose text has known markers in the place of given ones."""
    return output.model_copy(update={"completion": with_known_markers(output.completion, thinking)})


def by_answer(asked: ByAnswer) -> VerdictForm:
    """A verdict that is the answer to another benchmark's question."""
    config = GenerateConfig(**(LIKELIHOODS if asked.needs_logprobs else {}))
    return VerdictForm(config, lambda grader, output: read_answer(grader, output, asked))


def in_words(judgement: Judgement, structured: bool) -> VerdictForm:
    """A verdict that is one of the judgement's words, in tags or `structured` as JSON."""
    config = GenerateConfig()
    if structured:
        schema = JSONSchema.model_validate(judgement.schema)
        config.response_schema = ResponseSchema(name="verdict", json_schema=schema, strict=True)
    return VerdictForm(config, lambda grader, output: read(grader, output, judgement, structured))


def own_view() -> VerdictForm:
    """The judge's own view of an item, before it sees what it judges: any text that is whole."""
    return VerdictForm(GenerateConfig(), read_view)


def read_view(grader: str, output: ModelOutput) -> Verdict:
    """A judge's own view in its output, as the word of a verdict; None where it is empty, refused or cut off."""
    text, stopped = unwrapped(own_turn(output.completion).text or "").strip(), _stopped(output)
    if text and stopped != "content_filter" and not _unfinished(output):
        return Verdict(grader, text, "answered")
    status = "refused" if stopped == "content_filter" else "unparsed" if output.completion.strip() else "empty"
    why = f"is not whole (stop reason {stopped})" if text and status == "unparsed" else f"is {status}"
    return Verdict(grader, None, status, NO_VIEW.format(why), output.error or output.completion)


NO_VIEW = "The own view of the item, which judge_first=commit asks for first, {}; no verdict was asked."
NO_GRADER = "No grader: give a grader model with --model-role grader=MODEL (a panel with grader=MODEL,MODEL)."


def graders() -> list[Model]:
    """The models bound to the model role `grader`; several form a panel."""
    bound = model_roles().get(ROLE)
    if bound is None:
        cannot_run(NO_GRADER)
    return distinct(list(bound) if isinstance(bound, list) else [bound])


def distinct(models: list[Model]) -> list[Model]:
    """The panel; CannotRun for a model that occurs twice, because its seeded and cached verdicts would be identical."""
    names = [str(model) for model in models]
    if len(set(names)) < len(names):
        cannot_run(f"grader: a panel must name each model once, not {', '.join(names)}.")
    return models


def check_grader_bound() -> None:
    """Raise CannotRun while a run is being set up, before there is a log, where no grader is bound."""
    if active_model() is not None and ROLE not in model_roles():
        cannot_run(NO_GRADER)


def resolve(names: str | Sequence[str] | None) -> list[Model]:
    """The models of these names; without names, those bound to the model role `grader`."""
    if not names:
        return graders()
    models = [get_model(name, memoize=False) for name in ([names] if isinstance(names, str) else names)]
    for model in models:  # get_model(role=...) would return the model bound to the role instead
        model._set_role(ROLE)
    return distinct(models)


async def verdict_of(
    grader: Model, messages: list[ChatMessage], form: VerdictForm, how: Requests, standing: Standing
) -> Verdict:
    """One grader's verdict on the question in `messages`. standing: of this grader in the run.

    A request that fails permanently gives a missing verdict and does not end the run. An error that would affect every
    request ends the run: a wrong key, an unknown model, an unsupported schema or setting, or an error of each of the
    first questions. Limits and cancellation also end it. `inspect eval-retry` resumes the run. An unreadable verdict
    from the cache is asked for again.
    """
    turn = 0
    while True:
        word, asked = await _round(grader, messages, form, how, turn, standing)
        if word.word is not None or asked:
            return word
        turn += 1  # every attempt is an unreadable verdict of an earlier run: ask again


async def _round(
    grader: Model, messages: list[ChatMessage], form: VerdictForm, how: Requests, turn: int, standing: Standing
) -> tuple[Verdict, bool]:
    """The verdict after at most `how.retries` retries, and whether any request was not answered from the cache."""
    word, asked = Verdict(str(grader), None, "error", ""), False
    for attempt in range(how.retries + 1):
        scopes = {name: str(number) for name, number in (("attempt", attempt), ("round", turn)) if number}
        cache_policy: Any = policy(grader, **scopes) if how.cache else False
        output = await _reply(grader, messages, form, how, attempt, cache_policy, standing)
        if isinstance(output, str):
            word, asked = Verdict(str(grader), None, "error", output), True
            continue
        word = form.read(str(grader), output)
        if word.word is not None:
            break
        asked = asked or not cache_policy or not replayed(output)
    return word, asked


async def _reply(
    grader: Model,
    messages: list[ChatMessage],
    form: VerdictForm,
    how: Requests,
    attempt: int,
    cache_policy: Any,
    standing: Standing,
) -> ModelOutput | str:
    """The grader's reply, or why there is none.

    A setting that the provider refuses by name is left out, unless somebody chose it: `Requests.defaults`.
    """
    left_out, why = standing.left_out, ""
    while True:
        asking = how.without(left_out)
        config = asking.config(grader.config, attempt).merge(form.config)
        try:
            output = await grader.generate(messages, config=config, cache=cache_policy)
        except (PrerequisiteError, LimitExceededError):
            raise
        except Exception as problem:
            refused = refusal(problem)
            if refused.setting not in asking.defaults(grader.config):
                return standing.failed(grader, refused, grader.config.merge(config), again=attempt > 0)
            left_out, why = (*left_out, refused.setting), str(refused)
        else:
            standing.answered(grader, left_out, why, new=not cache_policy or not replayed(output))
            return output


def read(grader: str, output: ModelOutput, judgement: Judgement, structured: bool) -> Verdict:
    """The verdict in a grader's output; a truncated output has none, because it may end with a quotation."""
    word, reasons, status = read_word(output.completion, judgement.words, "json" if structured else "tags")
    if word is not None and not _unfinished(output):
        return Verdict(grader, word, status, reasons)
    status = "refused" if _stopped(output) == "content_filter" else "unparsed" if word is not None else status
    return Verdict(grader, None, status, reasons, output.error or output.completion)


def read_answer(grader: str, output: ModelOutput, asked: ByAnswer) -> Verdict:
    """The answer in a judge's output, and the labels' log-probabilities where they are needed."""
    answer = asked.form.read(output.completion, _stopped(output) == "content_filter")
    needs = asked.needs_logprobs
    letter_values = letter_logprobs(output, asked.form.labels, needs) if needs else {}
    if answer.value is not None and not _unfinished(output):
        return Verdict(grader, answer.value, answer.status, told=letter_values)
    status = "unparsed" if answer.value else answer.status
    return Verdict(grader, None, status, reply=output.error or output.completion)


def _unfinished(output: ModelOutput) -> bool:
    """Whether an output was cut off, or calls a tool."""
    return _stopped(output) in CUT_OFF or bool(tool_called(output))


def _stopped(output: ModelOutput) -> str:
    stopped = output.stop_reason if output.choices else "stop"
    return "content_filter" if model_wrote(output)[1] else stopped
