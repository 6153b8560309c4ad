"""Grading explanations that either harness logged, through Inspect's model API.

A logged reply becomes a sample whose model has already answered; `element_coverage` does the rest, so
that limits, panels, the verdict cache and the log are Inspect's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import Model, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks import __version__
from humor_tasks.api import Report
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.rubric import open_rubric
from humor_tasks.data.reading import read_body
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.on_inspect.client import open_model
from humor_tasks.on_inspect.errors import plain
from humor_tasks.on_inspect.judging.coverage import element_coverage, explanation_form
from humor_tasks.on_inspect.judging.graders import ROLE
from humor_tasks.on_inspect.logs import outcome_with_verdicts, read_log, signature_in
from humor_tasks.on_inspect.outcomes import run_of
from humor_tasks.on_inspect.prices import register_prices
from humor_tasks.on_inspect.private import PrerequisiteError

GRADED = ("humorbench",)


@dataclass(frozen=True)
class Written:
    """Replies of one model, each as a sample to grade; `signature` is that of the run that wrote them."""

    model: str
    signature: str
    fingerprint: str | None
    rows: int | None
    samples: tuple[Sample, ...]


def read_written(path: Path, task: str, partial: bool = False) -> Written:
    """The replies in an Inspect log (.eval, .json) or lm-eval's samples (.jsonl).

    Raises BadInput for another task's log, an unfinished one unless `partial`, a log without replies and
    a reply that stands twice.
    """
    check_choice("task", task, GRADED)
    if not path.is_file():
        raise BadInput(f"{path}: there is no such log.")
    if path.suffix == ".jsonl":
        model, about = _run_beside(path)
        samples = list(_of_lm_eval(path, task))
    else:
        log = read_log(path)
        model, about = log.eval.model, log.eval.metadata or {}
        if log.status != "success" and not partial:
            raise BadInput(f"{path}: ended with status {log.status}; finish it with inspect eval-retry, or --partial.")
        samples = list(_of_inspect(path, log, task, partial))
    if not samples:
        raise BadInput(f"{path}: holds no replies of {task}.")
    seen: set[Any] = set()
    for sample in samples:
        if sample.id in seen:
            raise BadInput(f"{path}: holds two replies for {sample.id}; keep one run a file.")
        seen.add(sample.id)
    source = about.get("source", {})
    return Written(model, about.get("signature", "-"), source.get("fingerprint"), source.get("rows"), tuple(samples))


def grading_task(written: Written, task: str, name: str, **how: Any) -> Task:
    """A task whose samples are answered already and only graded."""
    register_prices()
    return Task(
        name=f"grade_{task}",
        dataset=MemoryDataset(list(written.samples), name=name, location=name),
        solver=replay(),
        scorer=[element_coverage(**how), explanation_form()],
        version=run_of(written.samples[0].metadata or {}, task).version,
        metadata={
            "explainer": written.model,
            "graded_log": name,
            "signature": written.signature,
            "source": {"fingerprint": written.fingerprint, "rows": written.rows},
            "paper": find_benchmark(task).paper,
        },
    )


def grade(
    path: Path, task: str, graders: Sequence[str], log_dir: str | None = None, partial: bool = False, **how: Any
) -> EvalLog:
    """Grade a log; a second run asks only for the verdicts that the first did not get.

    `partial` grades what an unfinished Inspect log holds; without it such a log is refused.
    """
    written = read_written(path, task, partial)
    open_rubric(task, how.get("prompts"))  # told before anything is paid for
    models: list[str | Model] = [open_model(name, role=ROLE) for name in graders]
    try:
        built = grading_task(written, task, path.name, **how)
    except (PrerequisiteError, ValueError) as problem:
        raise BadInput(f"grader: {plain(problem)}") from None
    (log,) = eval(built, model="none/none", model_roles={ROLE: models}, log_dir=log_dir)
    return log


def report_of(log: EvalLog) -> Report:
    """The scores of a log of explanations, computed from its samples.

    Raises BadInput when the run did not finish; the verdicts it got are in the cache.
    """
    if log.status != "success" or not log.samples:
        why = f": {log.error.message}" if log.error else ""
        raise BadInput(f"grading ended with status {log.status}{why}. Run the command again: it asks for the rest.")
    outcomes = [outcome_with_verdicts(sample) for sample in log.samples]
    run = run_of(log.samples[0].metadata, GRADED[0])
    graders = next((s for sample in log.samples if (s := signature_in(sample))), "-")
    written = (log.eval.metadata or {}).get("signature", "-")
    signature = f"{written}||graded:{len(outcomes)}|v:{run.version}|{graders}|humor_tasks:{__version__}"
    return Report(run.metrics(outcomes), signature, tuple(outcomes))


@solver
def replay() -> Solver:
    """Answers with the reply that was logged."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("logged", state.metadata["logged_reply"])
        if state.metadata.get("logged_stop") == "content_filter":
            state.output.choices[0].stop_reason = "content_filter"
        state.messages.append(state.output.message)
        return state

    return solve


def _of_lm_eval(path: Path, task: str) -> Iterator[Sample]:
    for i, line in enumerate(read_body(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            logged = json.loads(line)
            doc, reply = logged["doc"], logged["filtered_resps"][0]
            settings = {"benchmark": task, **doc["scoring"]}
            metadata = {name: doc[name] for name in ("cluster", "points", "fields")}
            metadata |= {"humor_tasks": settings, "logged_reply": _text(reply)}
            prompt = str(logged["arguments"]["gen_args_0"]["arg_0"])
            yield _sample(doc["id"], prompt, metadata)
        except (KeyError, TypeError, IndexError, ValueError, RecursionError) as problem:
            raise BadInput(f"{path}, line {i}: is no sample of the lm-eval task {task} ({problem!r}).") from None


def _of_inspect(path: Path, log: EvalLog, task: str, partial: bool) -> Iterator[Sample]:
    for logged in log.samples or []:
        metadata = dict(logged.metadata)
        if metadata.get("humor_tasks", {}).get("benchmark") != task:
            raise BadInput(f"{path}: sample {logged.id} is not of humor_tasks/{task}.")
        if logged.epoch > 1:
            raise BadInput(f"{path}: holds several epochs; grade it in place with inspect score instead.")
        if partial and not logged.output.choices:
            continue
        if (logged.error is not None and not partial) or not logged.output.choices:
            raise BadInput(f"{path}: sample {logged.id} has no reply; finish the run with inspect eval-retry.")
        metadata |= {"logged_reply": logged.output.completion, "logged_stop": logged.output.stop_reason}
        yield _sample(str(logged.id), _asked(logged), metadata)


def _asked(logged: EvalSample) -> str:
    return logged.input if isinstance(logged.input, str) else "\n\n".join(message.text for message in logged.input)


def _sample(identity: str, prompt: str, metadata: Mapping[str, Any]) -> Sample:
    target = [point["text"] for point in metadata["points"]]
    return Sample(id=identity, input=prompt, target=target, metadata=dict(metadata))


def _text(reply: Any) -> str:
    if not isinstance(reply, str):
        raise TypeError(f"the reply is {reply!r}")
    return reply


def _run_beside(path: Path) -> tuple[str, dict[str, Any]]:
    """The model's name and the task's metadata, from the results file that lm-eval writes beside its samples."""
    try:
        name, stamp = path.stem.removeprefix("samples_").rsplit("_", 1)
        results = json.loads((path.parent / f"results_{stamp}.json").read_text(encoding="utf-8"))
        about = dict(results["configs"][name]["metadata"])
        return str(results["model_name"] or results["model_source"]), about
    except (OSError, ValueError, KeyError, TypeError):
        return path.parent.name or "-", {}
