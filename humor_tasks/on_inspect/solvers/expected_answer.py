"""`estimate=expected` of Humicroedit: a rating by the probabilities of the digits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inspect_ai.model import Logprob, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.benchmarks.humicroedit.rating import LABELS
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.scorers.rating import expected_rating


@solver
def expected_answer(labels: Sequence[str] = LABELS) -> Solver:
    """Generates, then answers with the expected value under the probabilities of the digits.

    The digits' probabilities are those at the token behind the reply's last "Rating:", or at its first
    token where that is a digit; elsewhere digits mean something else, and the reply is unparsed. The
    raw reply, and how much probability the digits had, stay in the sample's metadata.

    Args:
        labels: The digits of the scale.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        content = state.output.choices[0].logprobs if state.output.choices else None
        if content is None:
            raise CannotRun(f"{state.model} gives no log-probabilities: use estimate=text.")
        place = _digit(content.content, labels)
        if place and not place.top_logprobs:
            raise CannotRun(f"{state.model} gives only its own token's log-probability: use estimate=text.")
        seen = {top.token: top.logprob for top in (place.top_logprobs or [])} if place else {}
        found = expected_rating(seen, labels)
        state.metadata |= {"said": state.output.completion, "digit_probability": found.mass}
        reply = "no digit where the rating belongs" if found.value is None else f"Rating: {found.value!r}"
        usage = state.output.usage
        state.output = ModelOutput.from_content(state.output.model, reply, stop_reason=state.output.stop_reason)
        state.output.usage = usage
        return state

    return solve


def _digit(tokens: Sequence[Logprob], labels: Sequence[str] = LABELS) -> Logprob | None:
    """The token that rates, see `expected_answer`."""
    said, start = "", 0
    for i, token in enumerate(tokens):
        said = (said + token.token)[-15:]  # all that the pattern can span
        if re.search(r"rating\W{0,4}:\W{0,4}\Z", said, re.IGNORECASE):
            start = i + 1
    for token in tokens[start:]:
        if expected_rating({token.token: 0.0}, labels).value is not None:
            return token
        if re.search(r"\w", token.token):
            return None
    return None
