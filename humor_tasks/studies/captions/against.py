"""Captions from files against people's, by the judges of `caption_writing`: one run a system and mode."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai import task_with
from inspect_ai.model import Model, ModelOutput, StopReason
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.benchmarks.crowd.corpus import HUMAN_GROUPS
from humor_tasks.benchmarks.crowd.writing import CAPTION_WRITING
from humor_tasks.errors import BadInput
from humor_tasks.files.tables import interval, short, table
from humor_tasks.logs.inspect_logs import from_log
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect.errors import CannotRun, one_line
from humor_tasks.on_inspect.running import finished
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.studies.captions.files import CaptionGroup

CAVEAT = (
    "Judges are far kinder to the captions of language models than people are: for one model against the top 10, GPT-4 "
    "judged 54 % wins, workers 35 %, an expert 1.6 % (Zhang et al. 2024, Table 4)."
)


@dataclass(frozen=True)
class Against:
    """The judges' verdicts on one system's captions in one mode: the metrics of `caption_writing`, and the log."""

    system: str
    mode: str
    metrics: Mapping[str, Estimate]
    signature: Signature
    log: str


def compare(
    groups: Sequence[CaptionGroup],
    contests: Sequence[int],
    graders: Sequence[Model],
    modes: Sequence[str],
    parameters: Mapping[str, Any],
    cache: bool = True,
    log_dir: str | None = None,
) -> list[Against]:
    """Each system's captions of these contests against people's.

    parameters: of `caption_writing`. A group without ten captions counts as one unreadable or declined reply. Raises
    BadInput where a run does not finish; then the command resumes from the cached verdicts.
    """
    against = []
    for system in dict.fromkeys(group.system for group in groups):
        of_system = {g.contest: g for g in groups if g.system == system and g.contest in contests}
        for mode in modes if of_system else ():
            settings = {**parameters, "mode": mode, "contests": ",".join(map(str, sorted(of_system))), "cache": cache}
            settings |= {"tau": "none"} if mode == "best_pick" else {}  # its replies have no letter's log-probability
            try:
                task = build(CAPTION_WRITING.name, settings, asks=False)
            except CannotRun as problem:
                raise BadInput(one_line(problem)) from None
            task = task_with(
                task,
                name=CAPTION_WRITING.name,
                solver=from_file(
                    system,
                    {f"contest-{number}": list(group.captions) for number, group in of_system.items()},
                    [f"contest-{number}" for number, group in of_system.items() if group.refused],
                ),
                metadata=(task.metadata or {}) | {"explainer": system},  # who wrote the replies; see FinishedRun
            )
            roles = {"grader": list(graders)}
            log = finished(task, f"{system}, {mode}: judging", model="none", model_roles=roles, log_dir=log_dir)
            judged = from_log(log)
            run = CAPTION_WRITING.reopen(None, next(iter(judged)).options)
            metrics = run.metrics([sample.outcome for sample in judged if sample.outcome is not None])
            against.append(Against(system, mode, metrics, judged.signature, str(log.location)))
    return against


@solver
def from_file(system: str, captions: Mapping[str, list[str]], refused: Sequence[str]) -> Solver:
    """Replies with captions of a file.

    Args:
        system: Who wrote them.
        captions: The captions by the sample's id.
        refused: The ids of the samples whose reply declined.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        # A list in JSON is read back as it is, whatever the captions look like.
        identity = str(state.sample_id)
        stop: StopReason = "content_filter" if identity in refused else "stop"
        state.output = ModelOutput.from_content(system, json.dumps(captions[identity]), stop)
        return state

    return solve


def as_markdown(against: Sequence[Against]) -> str:
    """The win rates, each beside the judge's accuracy and the corrected one, in per cent."""
    rows = []
    for verdicts in against:
        for name in HUMAN_GROUPS:
            metrics = (f"win_rate_{name}", "judge_accuracy", f"corrected_win_rate_{name}")
            values = [interval(verdicts.metrics.get(metric), 1, 100) for metric in metrics]
            rows.append([short(verdicts.system), verdicts.mode, name, *values])
    head = ["system", "mode", "against", "win rate, %", "judge's accuracy, %", "corrected, %"]
    return f"{table(head, rows)}\n\n{CAVEAT}"
