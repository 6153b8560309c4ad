"""Explainers and graders of element_coverage that answer by rule, tasks for them, and what a log says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score
from standins.logs import metrics

from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.points import graded
from humor_tasks.on_inspect import element_coverage
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.testing import ScriptedModel, scripted_judge, verdict_reply

FEW = "toxic_or_shocking"  # four rows, for what more would not show better
REFUSAL = "I'm sorry, but I can't help with that."


def explainer(replies: Mapping[str, str]) -> ScriptedModel:
    """Answers by the record's id."""
    return ScriptedModel("explainer", lambda messages: replies[(messages[-1].metadata or {})["id"]])


def grader(name: str, rule: Callable[[str], bool | None]) -> ScriptedModel:
    """Judges by the point alone."""
    return scripted_judge(name, lambda shown: rule(shown["point"]))


def breaks(name: str) -> ScriptedModel:
    return ScriptedModel(name, RuntimeError("the grader is down"))


def verdict(passed: bool | None, reasons: str = "So it is.") -> str:
    return verdict_reply(passed, reasons=reasons)


def as_object(passed: bool | None, reasons: str = "So it is.") -> str:
    return verdict_reply(passed, structured=True, reasons=reasons)


def graded_log(
    task: Task, model: ScriptedModel | None, *graders: ScriptedModel, status: str = "success", **more: Any
) -> EvalLog:
    roles: dict[str, Any] = {"grader": [g.model for g in graders]} if graders else {}
    named = model.model if model else "none/none"
    log = eval(task, model=named, model_roles=roles, display="log", **more)[0]
    assert log.status == status, log.error
    return log


def found(log: EvalLog, scorer: str = "element_coverage") -> dict[str, Score]:
    return {str(sample.id): (sample.scores or {})[scorer] for sample in log.samples or []}


def only(log: EvalLog, scorer: str = "element_coverage") -> Score:
    (result,) = found(log, scorer).values()
    return result


def left_out(log: EvalLog) -> int:
    """The samples without an explanation that have no value."""
    return sum(result.value == "N" and result.answer is None for result in found(log).values())


def unread(log: EvalLog) -> int:
    """The samples whose points were asked about, and have no verdict at all."""
    return sum(result.value == "N" and result.answer is not None for result in found(log).values())


def points(result: Score) -> list[dict[str, Any]]:
    """What was asked about, with the panel's verdict and the judges'."""
    asked = (result.metadata or {})["judged"]
    return [{**each["about"], "passed": each["verdict"], "verdicts": each["verdicts"]} for each in asked]


def same(log: EvalLog, expected: Mapping[str, Estimate]) -> None:
    """The log's scorer reports exactly these estimates."""
    shown = metrics(log)
    names = [name for name in shown if not name.endswith(("stderr", "ci_low", "ci_high"))]
    assert sorted(names) == sorted(expected)
    for name, estimate in expected.items():
        assert shown[name] == pytest.approx(estimate.value), name
        assert shown[f"{name}_stderr"] == pytest.approx(estimate.stderr), name
        assert shown[f"{name}_ci_low"] == pytest.approx(estimate.low), name
        assert shown[f"{name}_ci_high"] == pytest.approx(estimate.high), name


def replies_of(opened: Run) -> dict[str, str]:
    """A reply a record: most explain, some are long, untagged, empty, refused or cut off while thinking."""
    odd = {3: "It is untagged.", 7: "", 11: REFUSAL, 13: "<think>", 17: f"<explanation>{'ha ' * 300}</explanation>"}
    return {
        record.id: odd.get(i, f"<explanation>It is about {record.fields['caption']}</explanation>")
        for i, record in enumerate(opened.records)
    }


def expected_of(
    opened: Run, replies: Mapping[str, str], rule: Callable[[str], bool | None]
) -> tuple[list[Outcome], dict[str, Estimate]]:
    """What the pure functions make of these replies and verdicts."""
    outcomes = []
    for record in opened.records:
        outcome = opened.outcome(record, replies[record.id])
        outcomes.append(graded(opened, outcome, [rule(point.text) for point in record.points]))
    return outcomes, opened.metrics(outcomes)


def thirds(point: str) -> bool:
    return len(point) % 3 != 0


def own_task(*samples: Sample, **how: Any) -> Task:
    return Task(dataset=list(samples), scorer=element_coverage(**how))


def bears(identity: str = "s", *target: str, **metadata: Any) -> Sample:
    return Sample(id=identity, input="Why bears?", target=list(target) or "A bear.", metadata=metadata or None)
