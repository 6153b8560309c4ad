"""Benchmark -> Inspect Task."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from humor_tasks.benchmarks import NAMES, find_benchmark
from humor_tasks.benchmarks.contract import Run
from humor_tasks.data.records import Record
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.on_inspect.messages import chat_messages
from humor_tasks.on_inspect.modalities import check_takes
from humor_tasks.on_inspect.prices import register_prices
from humor_tasks.on_inspect.private import active_model
from humor_tasks.on_inspect.scorers import multiple_choice, reference_overlap


def build(name: str, parameters: dict[str, Any], scorers: list[Scorer] | None = None, asks: bool = True) -> Task:
    """Open a benchmark and wrap it as a Task; what is wrong with the input is shown without a traceback.

    `asks` is false where the scorers' judges are asked, and the model under test is not.
    """
    try:
        run = find_benchmark(name).open(**parameters)
        samples = [sample(run, record) for record in run.records]
    except BadInput as problem:
        raise CannotRun(f"{'humor_tasks/' * (name in NAMES)}{name}: {problem}") from None
    if asks:
        check_takes(active_model(), [shown for record in run.records for shown in (record.picture, record.clip)])
    about = {"signature": run.signature("generate"), "source": dict(run.data.provenance), "paper": run.benchmark.paper}
    register_prices()
    return Task(
        dataset=MemoryDataset(samples, name=f"{name}-{run.options.split}", location=run.options.dataset),
        setup=[show_pictures(run, asks)] if any(record.picture or record.clip for record in run.records) else None,
        solver=generate(),
        scorer=scorers or (multiple_choice() if run.form.labels else reference_overlap()),
        version=run.version,
        metadata=about,
    )


def sample(run: Run, record: Record) -> Sample:
    """One record as a Sample; pictures are left out until the sample runs."""
    told = {"benchmark": run.benchmark.name, "version": run.version, "options": run.options.scoring()}
    metadata: dict[str, Any] = {"cluster": record.cluster, "humor_tasks": told | {"groups": dict(record.groups)}}
    if record.points:
        metadata |= {"points": [asdict(point) for point in record.points], "fields": dict(record.fields)}
    return Sample(
        id=record.id,
        input=chat_messages(run.prompt(record), record, pictures=False),
        choices=list(record.choices) or None,
        target=record.target or [point.text for point in record.points],
        metadata=metadata,
    )


def show_pictures(run: Run, asks: bool = True) -> Solver:
    """A setup step that reads a sample's pictures and clips when the sample starts, not when the task is built.

    Each one's place and SHA-256 go into the sample's metadata, so that a log written without
    images still tells what was shown.
    """
    records = {record.id: record for record in run.records}

    @solver(name="show_pictures")
    def show() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            record = records[str(state.sample_id)]
            prompt = run.prompt(record)
            if asks:
                check_takes(get_model(), prompt.media)
            state.messages = chat_messages(prompt, record, pictures=True)
            state.metadata["pictures"] = [{"where": m.where, "sha256": m.sha256()} for m in prompt.media]
            return state

        return solve

    return show()
