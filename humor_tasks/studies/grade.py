"""Grading of explanations logged by either harness, through Inspect's model API.

A logged reply becomes a sample that already has its model output. `element_coverage` grades it, so Inspect provides
rate limits, grader panels, the verdict cache and the log.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks._version import __version__
from humor_tasks.api import Report
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.rubric import open_rubric
from humor_tasks.data.logs import LoggedSample, read_run
from humor_tasks.data.logs.inspect_logs import from_log
from humor_tasks.data.logs.reading import RETRY
from humor_tasks.data.records import Outcome
from humor_tasks.data.signature import Signature
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.on_inspect.client import open_model
from humor_tasks.on_inspect.errors import plain
from humor_tasks.on_inspect.judging.graders import ROLE
from humor_tasks.on_inspect.outcomes import run_of
from humor_tasks.on_inspect.parts import element_coverage, explanation_form
from humor_tasks.on_inspect.prices import register_prices
from humor_tasks.on_inspect.private import PrerequisiteError
from humor_tasks.studies.results.read import SECRET

GRADED = ("humorbench",)
COVERAGE = ("element_coverage", "points")  # the scorer, and a key of its score's metadata
GRADE_IN_PLACE = "grade it in place with inspect score instead."


@dataclass(frozen=True)
class Written:
    """Replies of one model, each as a sample to grade; `signature` is the signature of the run that wrote them."""

    model: str
    signature: Signature
    fingerprint: str | None
    rows: int | None
    samples: tuple[Sample, ...]
    part: Mapping[str, str]
    """Of a part of a run: its name, under `shard`."""
    arguments: Mapping[str, Any]
    """Those that the model was made with, without keys and passwords."""


def read_written(path: Path, task: str, partial: bool = False) -> Written:
    """The replies in an Inspect log (.eval, .json) or lm-eval's samples (.jsonl).

    Raises BadInput for a log of another task, an unfinished log unless `partial`, a log without replies and a
    repeated reply.
    """
    check_choice("task", task, GRADED)
    finished = None if partial else f"{RETRY.rstrip('.')}, or --partial."
    run = read_run(path, task, finished=finished, one_epoch=GRADE_IN_PLACE, replies=not partial)
    samples = tuple(_sample(sample) for sample in run.samples if sample.reply is not None)
    if not samples:
        raise BadInput(f"{path}: holds no replies of {task}.")
    fingerprint, rows = run.source.get("fingerprint"), run.source.get("rows")
    part = {"shard": str(run.source["shard"])} if "shard" in run.source else {}
    arguments = {name: value for name, value in run.arguments.items() if not SECRET.search(name)}
    return Written(run.model, run.signature, fingerprint, rows, samples, part, arguments)


def grading_task(written: Written, task: str, name: str, **how: Any) -> Task:
    """A task whose samples already have replies and are only graded."""
    register_prices()
    return Task(
        name=f"grade_{task}",
        dataset=MemoryDataset(list(written.samples), name=name, location=name),
        solver=replay(),
        scorer=[element_coverage(**how), explanation_form()],
        version=run_of(written.samples[0].metadata or {}, task).version,
        metadata={
            "explainer": written.model,
            "explainer_arguments": dict(written.arguments),
            "graded_log": name,
            "signature": str(written.signature),
            "source": {"fingerprint": written.fingerprint, "rows": written.rows, **written.part},
            "paper": find_benchmark(task).card.paper.citation,
        },
    )


def grade(
    path: Path, task: str, graders: Sequence[str], log_dir: str | None = None, partial: bool = False, **how: Any
) -> EvalLog:
    """Grade a log; a second run requests only the verdicts that the first did not get.

    `partial` grades the replies in an unfinished Inspect log; without it, such a log raises BadInput.
    """
    written = read_written(path, task, partial)
    open_rubric(task, how.get("prompts"))  # reports an error before any model call is paid for
    models: list[str | Model] = [open_model(name, role=ROLE) for name in graders]
    try:
        built = grading_task(written, task, path.name, **how)
    except (PrerequisiteError, ValueError) as problem:
        raise BadInput(f"grader: {plain(problem)}") from None
    (log,) = eval(built, model="none/none", model_roles={ROLE: models}, log_dir=log_dir)
    return log


def report_of(log: EvalLog) -> Report:
    """The scores of a log of graded explanations, computed from its samples.

    Raises BadInput when the run did not finish; its verdicts are in the cache.
    """
    graded = from_log(log)
    if graded.status != "success" or not graded.held:
        why = f": {graded.error}" if graded.error else ""
        raise BadInput(
            f"grading ended with status {graded.status}{why}. Run the command again: it requests only what is missing."
        )
    samples = list(graded.samples)
    outcomes = [_outcome(sample) for sample in samples]
    run = run_of((log.samples or [])[0].metadata, GRADED[0])
    graders = next((s.grading for one in samples if (s := one.scored_by(*COVERAGE))), Signature())
    about = {"graded": len(outcomes), "v": run.version, **graders, "humor_tasks": __version__}
    return Report(run.metrics(outcomes), graded.signature, tuple(outcomes), Signature(about))


def _outcome(sample: LoggedSample) -> Outcome:
    """The sample's outcome, with the values from the graders' verdicts where there are any.

    Includes samples that Inspect's metrics leave out as unscored.
    """
    form, coverage = sample.scored_by("explanation_form"), sample.scored_by(*COVERAGE)
    found = [score.outcome for score in (coverage, form) if score and score.outcome]
    if not found:
        raise BadInput(f"{sample.where} has no score of element_coverage.")
    values = {name: value for outcome in reversed(found) for name, value in outcome.values.items()}
    values |= coverage.details.get("failed", {}) if coverage else {}
    return dataclasses.replace(found[0], values=values)


@solver
def replay() -> Solver:
    """Set the logged reply as the model output."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("logged", state.metadata["logged_reply"])
        if state.metadata.get("logged_stop") == "content_filter":
            state.output.choices[0].stop_reason = "content_filter"
        state.messages.append(state.output.message)
        return state

    return solve


def _sample(logged: LoggedSample) -> Sample:
    if not logged.points:
        raise BadInput(f"{logged.where} holds no points to grade; log it with a humorbench task.")
    told: dict[str, Any] = {"benchmark": logged.benchmark, "version": logged.version, "options": dict(logged.options)}
    told |= {"place": logged.place} if logged.place is not None else {}
    metadata = {
        "cluster": logged.cluster,
        "humor_tasks": told | {"groups": dict(logged.groups), "facts": dict(logged.facts)},
        "points": [dataclasses.asdict(point) for point in logged.points],
        "fields": dict(logged.fields),
        "logged_reply": logged.reply,
        "logged_stop": logged.stop,
    }
    target = [point.text for point in logged.points]
    return Sample(id=logged.id, input=logged.prompt, target=target, metadata=metadata)
