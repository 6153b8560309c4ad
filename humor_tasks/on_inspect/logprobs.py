"""Log-probabilities at the token that holds an answer, and Humicroedit's expected rating (`estimate=expected`)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from inspect_ai.model import Logprob, ModelOutput, TopLogprob
from inspect_ai.solver import Generate, Solver, TaskState

from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.tool_calls import answer, tool_called
from humor_tasks.scorers.answer import read_answer
from humor_tasks.scorers.given_markers import with_known_markers
from humor_tasks.scorers.own_turn import own_turn
from humor_tasks.scorers.rating import expected_rating

LIKELIHOODS: dict[str, Any] = {"logprobs": True, "top_logprobs": 20}
"""Generation settings that ask for log-probabilities, of as many tokens as hosted models return at most."""
_NO_LETTER = re.compile(r"[\W_ĠĊ]+")  # in some tokenizers, Ġ is a space and Ċ a line break


def letter_logprobs(
    output: ModelOutput, letters: Sequence[str], parameter: str = "", thinking: str | None = None
) -> dict[str, float]:
    """The natural log-probability of each letter, where the reply answers with a letter.

    The token is the one after the last "Answer:" of the reply, otherwise its first one, if it holds the letter that
    `read_answer` reads. The probabilities of the tokens for a letter ("A", " A", "(A") are added. A letter that is not
    among the likeliest tokens is left out, and so are all letters of a reply without such a token.

    parameter: the setting that needs them, such as `tau=fit`. thinking: given markers, as in `Options.thinking`. Raises
    CannotRun, with the setting in the message, for a reply of a model that returns no log-probabilities; without
    `parameter` there are no letters then.
    """
    if not output.completion.strip():
        return {}
    answer = read_answer(with_known_markers(output.completion, thinking), "".join(letters)).letter
    remedy = f"{parameter} needs those of the letters" if parameter else ""
    tokens: dict[str, list[float]] = {}
    for top in top_logprobs(output, "answer", lambda token: _letter(token) == answer, remedy):
        if math.isfinite(top.logprob):
            tokens.setdefault(_letter(top.token), []).append(top.logprob)
    return {letter: _log_sum_exp(tokens[letter]) for letter in letters if letter in tokens}


def _letter(token: str) -> str:
    return _NO_LETTER.sub("", token)


def _log_sum_exp(logprobs: Sequence[float]) -> float:
    top = max(logprobs)
    return top + math.log(math.fsum(math.exp(x - top) for x in logprobs))


def top_logprobs(
    output: ModelOutput, word: str, fits: Callable[[str], bool], remedy: str, model: str = ""
) -> Sequence[TopLogprob]:
    """The likeliest tokens at the place of the answer (`answer_token`); none where there is no such place.

    Raises CannotRun, with the `remedy`, where the model returns no log-probabilities, or that of the generated token
    only. Without a remedy there are no tokens then. model: its name in messages; by default the output's.
    """
    logprobs = output.choices[0].logprobs if output.choices else None
    place = answer_token(_of_own_turn(logprobs.content, output.completion), word, fits) if logprobs else None
    if remedy and logprobs is None:
        cannot_run(f"{model or output.model} returns no log-probabilities; {remedy}.")
    if remedy and place and not place.top_logprobs:
        cannot_run(f"{model or output.model} returns the log-probability of the generated token only; {remedy}.")
    return (place.top_logprobs or ()) if place else ()


def _of_own_turn(tokens: Sequence[Logprob], reply: str) -> Sequence[Logprob]:
    """The tokens without those of turns that the model made up behind its own; see `own_turn`."""
    own = own_turn(reply)
    if not own.turn:
        return tokens
    kept, made_up = len(tokens), len(reply) - own.end
    while kept and made_up > 0:
        kept -= 1
        made_up -= len(tokens[kept].token)
    return tokens[:kept]


def answer_token(tokens: Sequence[Logprob], word: str, fits: Callable[[str], bool]) -> Logprob | None:
    """The token after the last "`word`:" of a reply, otherwise its first token, if it `fits`.

    Tokens without a letter or digit, such as "**", are passed over.
    """
    tail, start = "", 0
    for i, token in enumerate(tokens):
        tail = (tail + token.token)[-len(word) - 9 :]  # the maximum length of a match
        if re.search(rf"{word}\W{{0,4}}:\W{{0,4}}\Z", tail, re.IGNORECASE):
            start = i + 1
    for token in tokens[start:]:
        if fits(token.token):
            return token
        if re.search(r"\w", token.token):
            return None
    return None


def expected_answer_solver(labels: Sequence[str]) -> Solver:
    """See `humor_tasks.on_inspect.solver_parts.expected_answer`."""

    def is_digit(token: str) -> bool:
        return expected_rating({token: 0.0}, labels).value is not None

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await answer(state, generate)
        if tool_called(state.output):
            return state
        tops = top_logprobs(state.output, "rating", is_digit, "use estimate=text", str(state.model))
        rating = expected_rating({top.token: top.logprob for top in tops}, labels)
        state.metadata |= {"said": state.output.completion, "digit_probability": rating.mass}
        reply = "no digit where the rating belongs" if rating.value is None else f"Rating: {rating.value!r}"
        usage = state.output.usage
        state.output = ModelOutput.from_content(state.output.model, reply, stop_reason=state.output.stop_reason)
        state.output.usage = usage
        return state

    return solve
