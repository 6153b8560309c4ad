"""`estimate=expected` of Humicroedit: the expected rating under the probabilities of the digits."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.on_inspect.logprobs import top_logprobs
from humor_tasks.scorers.rating import expected_rating


@solver
def expected_answer(labels: Sequence[str] = ("0", "1", "2", "3")) -> Solver:
    """Generates, then answers with the expected value under the probabilities of the digits.

    The probabilities are those at the token after the last "Rating:" of the reply, otherwise at its first token, if
    that token is a digit. Other replies are unparsed. The sample's metadata has the original reply (`said`) and the
    total probability of the digits (`digit_probability`).

    Args:
        labels: The digits of the scale.
    """

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
