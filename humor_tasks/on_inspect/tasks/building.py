"""Benchmark -> Inspect Task, with the parameters that only Inspect's tasks have."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, GenerateConfig, get_model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from humor_tasks.benchmarks import NAMES, find_benchmark
from humor_tasks.benchmarks.answers import AnswerForm, Rating
from humor_tasks.benchmarks.contract import Run
from humor_tasks.benchmarks.judging import Judging
from humor_tasks.benchmarks.options import Declared, Parameter, declared, parameter, parameters_of
from humor_tasks.data.logs.metadata import held_of, without_release
from humor_tasks.data.records import Prompt, Record
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.answer_cache import check_reuse
from humor_tasks.on_inspect.epochs import warn_of_reducers
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.handles import all_in_process, models_of_roles, restore
from humor_tasks.on_inspect.judging.graders import (
    Asking,
    Requests,
    check_grader_bound,
    left_to_judges,
    require_grader,
)
from humor_tasks.on_inspect.judging.judge import Judge
from humor_tasks.on_inspect.judging.scorers import SCORERS
from humor_tasks.on_inspect.logprobs import LIKELIHOODS
from humor_tasks.on_inspect.messages import chat_messages
from humor_tasks.on_inspect.modalities import check_takes
from humor_tasks.on_inspect.prices import register_prices
from humor_tasks.on_inspect.private import active_model
from humor_tasks.on_inspect.providers.local import fill_batches
from humor_tasks.on_inspect.scorers import multiple_choice, rating_error, reference_overlap
from humor_tasks.on_inspect.seen import check_model
from humor_tasks.on_inspect.solvers.expected_answer import expected_answer
from humor_tasks.on_inspect.threads import in_thread
from humor_tasks.on_inspect.viewer import viewer_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Repeated(Declared):
    """Repeated evaluation of items."""

    replicates: int = parameter(1, "Number of replies per item; published figures are means over 5.", least=1)


def only_inspect(name: str) -> type[Declared]:
    """The parameters that an Inspect task has beside those of the benchmark."""
    benchmark = find_benchmark(name)
    if benchmark.judging:
        return Asking if benchmark.judging.in_words else Requests
    return Repeated if benchmark.repeated else Declared


def parameters_of_task(name: str) -> dict[str, Parameter]:
    """The parameters of an Inspect task by name: the benchmark's, then those of `only_inspect`."""
    own = parameters_of(find_benchmark(name).options)
    return own | {n: each for n, each in parameters_of(only_inspect(name)).items() if n not in own}


def build(
    name: str,
    given: Mapping[str, Any],
    scorers: list[Scorer] | None = None,
    asks: bool = True,
) -> Task:
    """Open a benchmark and wrap it as a Task. Raises CannotRun, without a traceback, for invalid input.

    given: the parameters of the task, of the benchmark and of `only_inspect`.
    scorers: scorers to use instead of the one for the judging or the answer form.
    asks: whether the model under test is called; false where the replies are known.
    """
    judging = find_benchmark(name).judging
    asks = asks and (judging is None or judging.of_reply)
    if judging:
        check_grader_bound()
    try:
        only = only_inspect(name)(**_of(name, given, own=False))
        run = find_benchmark(name).open(**_of(name, given, own=True))
        run.check_media()  # of all rows, because Inspect applies --limit after it builds the task
        signature = run.signature("generate")
        samples = [sample(run, record, signature) for record in run.records]
        if asks:
            check_model(active_model(), run.options.split, run.units)
    except BadInput as problem:
        cannot_run(f"{'humor_tasks/' * (name in NAMES)}{name}: {problem}")
    if asks:
        check_takes(active_model(), [shown for record in run.records for shown in (record.picture, record.clip)])
    fill_batches([active_model(), *models_of_roles()])
    about: dict[str, Any] = {"signature": signature, "source": dict(run.data.provenance), "paper": run.benchmark.paper}
    if prescribed := {name: value for name, value in run.options.generation().items() if value is not None}:
        about["generation"] = prescribed  # what else a log says of sampling is the user's
    register_prices()
    warn_of_reducers()
    shows = any(record.picture or record.clip for record in run.records)
    setup = [*([require_grader()] if judging else []), *([check_reuse(without_release(signature))] if asks else [])]
    setup += [show_pictures(run, asks)] if shows else []
    likelihoods = isinstance(run.form, Rating) and run.form.needs_likelihoods
    asked = LIKELIHOODS if likelihoods or run.options.needs_logprobs else {}
    return Task(
        dataset=MemoryDataset(samples, name=f"{name}-{run.options.split}", location=run.options.dataset),
        setup=setup or None,
        cleanup=log_pictures if shows else None,
        solver=expected_answer(list(run.form.labels)) if likelihoods else generate() if asks else left_to_judges(),
        scorer=scorers or (_judge(run, judging, asdict(only)) if judging else _scorer(run.form)),
        config=GenerateConfig(**run.options.generation(), **asked),
        # with one replicate, --epochs sets the number; metrics are over all replies
        epochs=only.replicates if isinstance(only, Repeated) and only.replicates > 1 else None,
        version=run.version,
        metadata=about,
        viewer=viewer_of([r.target or " ".join(point.text for point in r.points) for r in run.records]),
    )


def _of(name: str, given: Mapping[str, Any], own: bool) -> dict[str, Any]:
    """The given parameters of the benchmark, or those of `only_inspect`; some, such as `seed`, belong to both."""
    only = {each.name for each in declared(only_inspect(name))}
    theirs = only - set(parameters_of(find_benchmark(name).options))
    return {each: value for each, value in given.items() if (each not in theirs if own else each in only)}


def _judge(run: Run, judging: Judging[Any], how: Mapping[str, Any]) -> Scorer:
    """The scorer that asks graders, with the run's data, which some outcomes need."""
    judge = SCORERS[judging.scorer](**how)
    if isinstance(judge, Judge):
        judge.data = run.data
    return judge


def _scorer(form: AnswerForm) -> Scorer:
    """The scorer for an answer form."""
    if isinstance(form, Rating):
        return rating_error()
    return multiple_choice() if form.labels else reference_overlap()


def sample(run: Run, record: Record, signature: str) -> Sample:
    """One record as a Sample; pictures are added when the sample runs. `signature` is that of the run."""
    about: dict[str, Any] = {"benchmark": run.benchmark.name, "version": run.version, "options": run.options.scoring()}
    about |= {"signature": signature, "split": run.options.split}
    about |= {"place": run.data.places[record.id]} if run.data.places else {}  # for the order of joined parts
    metadata: dict[str, Any] = {"cluster": record.cluster, "humor_tasks": about | held_of(record)}
    judging = run.benchmark.judging
    if record.points or (judging and judging.of_reply):  # what judges are asked is made from these
        metadata |= {"points": [asdict(point) for point in record.points], "fields": dict(record.fields)}
    return Sample(
        id=record.id,
        input=chat_messages(run.prompt(record), record, run.form, run.reply_length, pictures=False),
        choices=list(record.choices) or None,
        target=record.target or [point.text for point in record.points],
        metadata=metadata,
    )


def show_pictures(run: Run, asks: bool = True) -> Solver:
    """A setup step that reads a sample's pictures and clips when the sample starts, not when the task is built.

    The sample's metadata records the source and SHA-256 of each, so that a log without images identifies them.
    """
    records = {record.id: record for record in run.records}

    def read(record: Record, prompt: Prompt, handles: bool) -> tuple[list[ChatMessage], list[dict[str, str]]]:
        messages = chat_messages(prompt, record, run.form, run.reply_length, pictures=True, handles=handles)
        return messages, [{"where": m.where, "sha256": m.sha256()} for m in prompt.media]

    @solver(name="show_pictures")
    def show() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            record = records[str(state.sample_id)]
            prompt = run.prompt(record)
            if asks:
                check_takes(get_model(), prompt.media)
            try:
                if asks and all_in_process():  # nothing to read: the pictures were checked
                    found = read(record, prompt, True)
                else:
                    found = await in_thread(read, record, prompt, False)
            except BadInput as problem:
                cannot_run(str(problem))
            state.messages, state.metadata["pictures"] = found
            return state

        return solve

    return show()


async def log_pictures(state: TaskState) -> None:
    """A sample's last step: its log gets the pictures that models found by their handles."""
    try:
        state.messages = await in_thread(restore, state.messages, f"of sample {state.sample_id}")
    except BadInput as problem:
        logger.warning("The log of sample %s lacks its pictures: %s", state.sample_id, problem)
