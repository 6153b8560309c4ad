"""Models that call tools, which no task of this package gives: the turn ends, and the reply has no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval, score
from inspect_ai.agent import as_solver, react
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageAssistant, ModelOutput
from inspect_ai.solver import generate
from inspect_ai.tool import ToolCall
from standins.judging import says
from standins.logs import metrics

from humor_tasks import tasks
from humor_tasks.logs import read_run
from humor_tasks.on_inspect import chain_of_task, describe_first, expected_answer, multiple_choice
from humor_tasks.on_inspect.tool_calls import MOST_MESSAGES
from humor_tasks.results.grade import grading_task, read_written
from humor_tasks.testing import ScriptedModel
from humor_tasks.testing.judges import verdict_reply

BESIDE = {"matching": "Answer: A", "humicroedit_rating": "Rating: 2", "humorbench": "<explanation>A.</explanation>"}


def calling(text: str = "", function: str = "assistant", **arguments: Any) -> ModelOutput:
    call = ToolCall(id="1", function=function, arguments=arguments)
    return ModelOutput.from_message(ChatMessageAssistant(content=text, tool_calls=[call]), "tool_calls")


def log_of(name: str, model: ScriptedModel, folder: Path, solver: Any = None, **given: Any) -> EvalLog:
    how: dict[str, Any] = {"display": "log", "log_dir": str(folder), "limit": 1}
    how |= {name: given.pop(name) for name in ("score",) if name in given}
    how |= {"solver": solver} if solver else {}
    roles = {"grader": says("judge", verdict_reply(True)).model, "describer": says("d", "A bear.").model}
    (log,) = eval(getattr(tasks, name)(dataset="sample", **given), model=model.model, model_roles=roles, **how)
    assert log.status == "success", log.error
    return log


def told(log: EvalLog) -> Any:
    ((result,),) = [(sample.scores or {}).values() for sample in log.samples or []]
    return result


@pytest.mark.parametrize(
    ("name", "solver", "given"),
    [
        ("matching", None, {}),
        ("humicroedit_rating", None, {"estimate": "expected"}),
        ("humorbench", None, {}),
        ("mock_matching", chain_of_task(), {"scene": "cartoon"}),
        ("matching", describe_first(cache=False), {"setting": "pixels"}),
        ("humicroedit_rating", expected_answer(), {}),
    ],
)
def test_the_first_call_ends_the_turn(name: str, solver: Any, given: dict[str, Any], tmp_path: Path) -> None:
    model = ScriptedModel("calls", calling(BESIDE.get(name, "Answer: A")))
    log = log_of(name, model, tmp_path, solver, **given)
    assert len(model.asked) == 1
    assert metrics(log)["unparsed"] == 1
    result = told(log)
    assert result.reason == "invalid_response_format"
    assert result.explanation == "The reply ends with a call of a tool (assistant)."


def test_scoring_the_log_again_says_the_same(tmp_path: Path) -> None:
    log = log_of("matching", ScriptedModel("calls", calling("Answer: A")), tmp_path)
    again = score(log, multiple_choice(), action="overwrite", display="log")
    assert metrics(again) == pytest.approx(metrics(log), nan_ok=True)
    assert told(again).explanation == told(log).explanation


@pytest.mark.parametrize("scored", [True, False])
def test_what_stands_beside_a_call_is_not_judged_later(scored: bool, tmp_path: Path) -> None:
    log = log_of("humorbench", ScriptedModel("calls", calling(BESIDE["humorbench"])), tmp_path, score=scored)
    (sample,) = read_run(Path(log.location)).samples
    assert sample.reply == ""
    judge = says("judge", verdict_reply(True))
    task = grading_task(read_written(Path(log.location), "humorbench"), "humorbench", "log", cache=False)
    (graded,) = eval(task, model="none/none", model_roles={"grader": judge.model}, display="log")
    assert (metrics(graded)["unparsed"], judge.asked) == (1, [])


def test_a_solver_of_the_user_that_goes_on_meets_a_bound(tmp_path: Path) -> None:
    model = ScriptedModel("calls", calling("Answer: A"))
    log = log_of("matching", model, tmp_path, generate())
    assert len(model.asked) <= MOST_MESSAGES / 2
    assert metrics(log)["unparsed"] == 1
    assert (log.samples or [])[0].limit


@pytest.mark.parametrize("kept", [True, False])
def test_an_agents_call_of_its_own_tool_is_an_answer(kept: bool, tmp_path: Path) -> None:
    from inspect_ai.agent import AgentSubmit

    agent = react(submit=AgentSubmit(keep_in_messages=kept))
    log = log_of(
        "matching", ScriptedModel("submits", calling("", "submit", answer="Answer: A")), tmp_path, as_solver(agent)
    )
    assert metrics(log)["unparsed"] == 0
    (sample,) = read_run(Path(log.location)).samples
    assert "Answer: A" in str(sample.reply)


def test_a_verdict_beside_a_call_is_none(tmp_path: Path) -> None:
    model = says("m", BESIDE["humorbench"])
    judge = ScriptedModel("judge", calling(verdict_reply(True)))
    task = tasks.humorbench("sample", cache=False)
    (log,) = eval(task, model=model.model, model_roles={"grader": judge.model}, display="log", limit=1)
    assert metrics(log)["missing_verdicts"] == 1
