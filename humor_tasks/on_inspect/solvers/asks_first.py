"""The first request of a prompt that has one (`Prompt.first`): what a judge writes before it sees what it judges."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

import anyio
from inspect_ai.model import ChatMessageAssistant, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.contract.judging.questions import Verdict
from humor_tasks.logs.record import task_metadata
from humor_tasks.on_inspect.judging.graders import known, read_view
from humor_tasks.on_inspect.messages import split_first


def asks_first() -> Solver:
    """A setup step that sends the first request and puts its reply between the turns of the prompt.

    Samples of an epoch with the same first request share its reply. A sample without a reply that can be used ends with
    an empty reply, so that the question is never asked without it. This is a setup step, because a solver that the user
    names takes the place of the task's own.
    """
    replies: dict[tuple[str, ...], Verdict] = {}
    locks: defaultdict[tuple[str, ...], anyio.Lock] = defaultdict(anyio.Lock)

    @solver(name="asks_first")
    def ask() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            first, rest = split_first(state.messages)
            model = get_model()
            key = (str(model), str(state.epoch), *(message.text for message in first))
            async with locks[key]:
                if key not in replies:
                    thinking = task_metadata(state.metadata).options.get("thinking")
                    replies[key] = read_view(str(model), known(await model.generate(first), thinking))
            view = replies[key]
            if view.word is None:
                stopped: Literal["content_filter", "stop"] = "content_filter" if view.status == "refused" else "stop"
                state.output = ModelOutput.from_content(str(model), "", stop_reason=stopped)
                state.completed = True
            else:
                state.messages = [*first, ChatMessageAssistant(content=view.word), *rest]
            return state

        return solve

    return ask()
