"""`estimate=expected` of Humicroedit: the expected rating under the probabilities of the digits."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState

from humor_tasks.on_inspect.logprobs import top_logprobs
from humor_tasks.scorers.rating import expected_rating


def expected_answer_solver(labels: Sequence[str]) -> Solver:
    """See `humor_tasks.on_inspect.parts.expected_answer`."""

    def is_digit(token: str) -> bool:
        return expected_rating({token: 0.0}, labels).value is not None

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        tops = top_logprobs(state.output, "rating", is_digit, "use estimate=text", str(state.model))
        found = expected_rating({top.token: top.logprob for top in tops}, labels)
        state.metadata |= {"said": state.output.completion, "digit_probability": found.mass}
        reply = "no digit where the rating belongs" if found.value is None else f"Rating: {found.value!r}"
        usage = state.output.usage
        state.output = ModelOutput.from_content(state.output.model, reply, stop_reason=state.output.stop_reason)
        state.output.usage = usage
        return state

    return solve
