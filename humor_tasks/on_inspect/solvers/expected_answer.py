"""`estimate=expected` of Humicroedit: the expected rating under the probabilities of the digits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inspect_ai.model import Logprob, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.benchmarks.humicroedit.rating import LABELS
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.scorers.rating import expected_rating


@solver
def expected_answer(labels: Sequence[str] = LABELS) -> Solver:
    """Generates, then answers with the expected value under the probabilities of the digits.

    The probabilities are those at the token after the last "Rating:" of the reply, otherwise at its first token, if
    that token is a digit. Other replies are unparsed. The sample's metadata has the original reply (`said`) and the
    total probability of the digits (`digit_probability`).

    Args:
        labels: The digits of the scale.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        content = state.output.choices[0].logprobs if state.output.choices else None
        if content is None:
            cannot_run(f"{state.model} returns no log-probabilities; use estimate=text.")
        place = _digit(content.content, labels)
        if place and not place.top_logprobs:
            cannot_run(f"{state.model} returns the log-probability of the generated token only; use estimate=text.")
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
    """The token with the rating; see `expected_answer`."""
    tail, start = "", 0
    for i, token in enumerate(tokens):
        tail = (tail + token.token)[-15:]  # the maximum length of a match
        if re.search(r"rating\W{0,4}:\W{0,4}\Z", tail, re.IGNORECASE):
            start = i + 1
    for token in tokens[start:]:
        if expected_rating({token.token: 0.0}, labels).value is not None:
            return token
        if re.search(r"\w", token.token):
            return None
    return None
