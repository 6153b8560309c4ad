"""The steps of a task that ask nothing: what stops a run before its first call, and what leaves the sample as it is."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Solver, generate

from humor_tasks.on_inspect import left_to_judges, require_grader
from humor_tasks.on_inspect.checks import check_reuse
from humor_tasks.testing import ScriptedModel


def run(setup: Solver, solver: Solver, model: Model, **more: Any) -> Any:
    task = Task(dataset=[Sample("A joke", id="1")], setup=setup, solver=solver)
    (log,) = eval(task, model=model, display="log", fail_on_error=True, **more)
    return log


def test_a_run_without_grader_stops_before_the_model_is_asked() -> None:
    scripted = ScriptedModel("m", "A")
    log = run(require_grader(), generate(), scripted.model)
    assert (log.status, scripted.asked) == ("error", [])
    assert "grader" in log.error.message
    log = run(require_grader(), generate(), scripted.model, model_roles={"grader": "mockllm/model"})
    assert (log.status, len(scripted.asked)) == ("success", 1)


def test_a_cache_that_takes_models_for_one_another_stops_the_run() -> None:
    seeded = get_model("baseline/random", seed=1, memoize=False)
    log = run(check_reuse("asked"), left_to_judges(), seeded, cache=True)
    assert "--cache: leave it out for model baseline/random" in log.error.message
    assert run(check_reuse("asked"), left_to_judges(), seeded).status == "success"
    assert run(check_reuse("asked"), left_to_judges(), get_model("mockllm/model"), cache=True).status == "success"


def test_what_is_left_to_judges_is_not_asked() -> None:
    scripted = ScriptedModel("m", "A")
    log = run(left_to_judges(), left_to_judges(), scripted.model)
    assert (log.status, scripted.asked, log.samples[0].output.completion) == ("success", [], "")
