"""Benchmark -> Inspect Task, with the parameters that only Inspect's tasks have."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import ChatMessage, GenerateConfig, get_model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from humor_tasks.benchmarks import NAMES, find_benchmark
from humor_tasks.contract.answers import AnswerForm, Rating
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.questions import Judging
from humor_tasks.contract.judging.rubrics import POINT
from humor_tasks.contract.options import ALL, Declared, Parameter, declared, parameter, parameters_of
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect import parts
from humor_tasks.on_inspect.checks import check_as_typed, check_model, check_reuse, check_takes
from humor_tasks.on_inspect.client import register_prices
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.handles import all_in_process, models_of_roles, restore
from humor_tasks.on_inspect.hooks import tell_refused_settings, warn_of_reducers
from humor_tasks.on_inspect.judging.graders import (
    ALL_SETS,
    GraderSettings,
    Requests,
    RubricSettings,
    check_grader_bound,
    in_words,
)
from humor_tasks.on_inspect.limits import bounded
from humor_tasks.on_inspect.local import fill_batches
from humor_tasks.on_inspect.logprobs import LIKELIHOODS
from humor_tasks.on_inspect.messages import chat_messages, in_thread
from humor_tasks.on_inspect.outcomes import scorers_of
from humor_tasks.on_inspect.private import active_model
from humor_tasks.on_inspect.solver_parts import expected_answer, left_to_judges, require_grader
from humor_tasks.on_inspect.solvers.asks_first import asks_first
from humor_tasks.on_inspect.tool_calls import MOST_MESSAGES
from humor_tasks.on_inspect.viewer import viewer_of
from humor_tasks.rows.records import Prompt, Record

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Repeated(Declared):
    """Repeated evaluation of items."""

    replicates: int = parameter(1, "Number of replies per item; published figures are means over 5.", least=1)


def only_inspect(name: str) -> type[Declared]:
    """The parameters that an Inspect task has beside those of the benchmark."""
    benchmark = find_benchmark(name)
    if benchmark.judging:
        if benchmark.judging.rubrics:
            return RubricSettings
        return GraderSettings if benchmark.judging.verdict_in_words else Requests
    return Repeated if benchmark.uses.repeated else Declared


def parameters_of_task(name: str) -> dict[str, Parameter]:
    """The parameters of an Inspect task by name: the benchmark's, then those of `only_inspect`."""
    declared_parameters = parameters_of(find_benchmark(name).options)
    return declared_parameters | {
        n: p for n, p in parameters_of(only_inspect(name)).items() if n not in declared_parameters
    }


def build(name: str, given: Mapping[str, Any], scorers: list[Scorer] | None = None, asks: bool = True) -> Task:
    """Open a benchmark and wrap it as a Task. Raises CannotRun, without a traceback, for invalid input.

    given: the parameters of the task, of the benchmark and of `only_inspect`.
    scorers: replace the scorers that the benchmark or its answer form would have.
    asks: whether the model under test is called. False if only judges are called, because the replies exist already.
    """
    try:
        benchmark = find_benchmark(name)
        judging = benchmark.judging
        asks = asks and (judging is None or judging.judges_replies)
        check_as_typed(parameters_of_task(name), given, sys.argv)
        if judging:
            check_grader_bound()
        only = only_inspect(name)(**_of(name, given, own=False))
        run = benchmark.open(**_of(name, given, own=True))
        check_rubrics(judging, only)
        run.check_media()  # of all rows, because Inspect applies --limit after it builds the task
        signature = run.signature("generate")
        shown = [(record, run.prompt(record)) for record in run.records]
        samples = [sample(run, record, prompt, signature) for record, prompt in shown]
        if asks:
            check_model(active_model(), run.options.split, run.units)
    except BadInput as problem:
        cannot_run(f"{'humor_tasks/' * (name in NAMES)}{name}: {problem}")
    if asks:
        check_takes(active_model(), [medium for record in run.records for medium in (record.picture, record.clip)])
    fill_batches([active_model(), *models_of_roles()])
    if requests := run.variations.in_words(len(run.data.records)):
        logger.warning("%s: %s", name, requests)
    about: dict[str, Any] = {
        "signature": str(signature),
        "source": {**run.data.provenance, **run.variations.provenance},
    }
    about["paper"] = benchmark.card.paper.citation
    if prescribed := {name: value for name, value in run.options.generation().items() if value is not None}:
        about["generation"] = prescribed  # what else a log says of sampling is the user's
    register_prices()
    warn_of_reducers()
    setup = [require_grader()] if judging else []
    setup += [check_reuse(str(signature.without_release))] if asks else []
    setup += [show_pictures(run, shown, asks)] if run.shows_media else []
    solver, config = _solver(run.form) if asks else left_to_judges(), _config(run)
    config = bounded(config, active_model()) if asks else config
    if asks and config.temperature is not None:
        tell_refused_settings()
    if asks and shown[0][1].first:
        setup.append(asks_first())
        solver = generate(tool_calls="none", response_schema=config.response_schema)  # the first reply is no verdict
        config = config.model_copy(update={"response_schema": None})
    return Task(
        dataset=MemoryDataset(samples, name=f"{name}-{run.options.split}", location=run.options.dataset),
        setup=setup or None,
        cleanup=log_pictures if run.shows_media else None,
        solver=solver,
        scorer=scorers or _scorers(run, only),
        config=config,
        # with one replicate, --epochs sets the number; metrics are over all replies
        epochs=only.replicates if isinstance(only, Repeated) and only.replicates > 1 else None,
        version=run.version,
        message_limit=MOST_MESSAGES + max(len(sample.input) for sample in samples),
        description=benchmark.card.question,
        # the scorer, whose first metric is the main one: Inspect warns of a metric that has no value yet
        headline_metric=None if scorers else HeadlineMetric(scorer=next(iter(scorers_of(run)), None)),
        metadata=about,
        viewer=viewer_of(
            [r.target or " ".join(point.text for point in r.points) for r in run.records], run.benchmark.display.columns
        ),
    )


def check_rubrics(judging: Judging[Any] | None, only: Declared) -> None:
    """Raise BadInput for templates that graders cannot be asked by, before the model under test is."""
    if judging and isinstance(only, RubricSettings):
        if only.grader_prompts == ALL:
            raise BadInput(ALL_SETS)
        judging.open(only.grader_prompts, only.judge_first)


def _of(name: str, given: Mapping[str, Any], own: bool) -> dict[str, Any]:
    """The given parameters of the benchmark, or those of `only_inspect`; some, such as `seed`, belong to both."""
    only = {option.name for option in declared(only_inspect(name))}
    theirs = only - set(parameters_of(find_benchmark(name).options))
    return {option: value for option, value in given.items() if (option not in theirs if own else option in only)}


def _solver(form: AnswerForm) -> Solver:
    """How the model under test is asked."""
    return expected_answer(list(form.labels)) if _likelihoods(form) else generate(tool_calls="none")


def _likelihoods(form: AnswerForm) -> bool:
    return isinstance(form, Rating) and form.needs_likelihoods


def _scorers(run: Run, only: Declared) -> list[Scorer]:
    """The first scorer that fits the run, with the run's data and the settings of grading where it asks judges."""
    name = next(iter(scorers_of(run)), "reference_overlap")
    if not hasattr(parts, name):
        cannot_run(f"{run.benchmark.name}: its scorer '{name}' is none of humor_tasks.on_inspect.")
    made = getattr(parts, name)
    if run.benchmark.judging is None:
        return [made()]
    judge = made(**asdict(only))
    judge.data = run.data
    return [judge]


def _config(run: Run) -> GenerateConfig:
    """What a request to the model under test asks for beside the reply; a judge under test is asked as a grader."""
    asked = LIKELIHOODS if _likelihoods(run.form) or run.options.needs_logprobs else {}
    config = GenerateConfig(**run.options.generation(), **asked)
    if run.benchmark.judging or not run.benchmark.verdicts:
        return config
    settings = {
        option.name: getattr(run.options, option.name)
        for option in declared(GraderSettings)
        if hasattr(run.options, option.name)
    }
    how = GraderSettings(**settings)
    return config.merge(how.config(GenerateConfig())).merge(in_words(POINT, how.structured).config)


def sample(run: Run, record: Record, prompt: Prompt, signature: Signature) -> Sample:
    """One record and its prompt as a Sample; pictures are added when it runs. `signature` is that of the run."""
    about: dict[str, Any] = {"benchmark": run.benchmark.name, "version": run.version, "options": run.options.scoring()}
    about |= {"signature": str(signature), "split": run.options.split}
    if run.data.positions:  # for the order of joined parts
        about["place"] = run.variations.place(record, run.data.positions)
    about |= {"groups": dict(record.groups), "facts": dict(record.facts)}
    metadata: dict[str, Any] = {"cluster": record.cluster, "humor_tasks": about}
    judging = run.benchmark.judging
    if record.points or (judging and judging.judges_replies):  # what judges are asked is made from these
        metadata |= {"points": [asdict(point) for point in record.points], "fields": dict(record.fields)}
    return Sample(
        id=record.id,
        input=chat_messages(prompt, record, run.form, run.reply_length, pictures=False),
        choices=list(record.choices) or None,
        target=record.target or [point.text for point in record.points],
        metadata=metadata,
    )


def show_pictures(run: Run, shown: Sequence[tuple[Record, Prompt]], asks: bool = True) -> Solver:
    """A setup step that reads a sample's pictures and clips when the sample starts, not when the task is built.

    The sample's metadata records the source and SHA-256 of each, so that a log without images identifies them.
    shown: the run's records with their prompts.
    """
    by_id = {record.id: (record, prompt) for record, prompt in shown}

    def read(record: Record, prompt: Prompt, handles: bool) -> tuple[list[ChatMessage], list[dict[str, str]]]:
        messages = chat_messages(prompt, record, run.form, run.reply_length, pictures=True, handles=handles)
        return messages, [{"where": m.where, "sha256": m.sha256()} for m in prompt.media]

    @solver(name="show_pictures")
    def show() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            record, prompt = by_id[str(state.sample_id)]
            if asks:
                check_takes(get_model(), prompt.media)
            try:
                if asks and all_in_process():  # nothing to read: the pictures were checked
                    prepared = read(record, prompt, True)
                else:
                    prepared = await in_thread(read, record, prompt, False)
            except BadInput as problem:
                cannot_run(str(problem))
            state.messages, state.metadata["pictures"] = prepared
            return state

        return solve

    return show()


async def log_pictures(state: TaskState) -> None:
    """A sample's last step: its log gets the pictures that models found by their handles."""
    try:
        state.messages = await in_thread(restore, state.messages, f"of sample {state.sample_id}")
    except BadInput as problem:
        logger.warning("The log of sample %s lacks its pictures: %s", state.sample_id, problem)
