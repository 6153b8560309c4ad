"""Humicroedit's two subtasks as Inspect tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig, Logprob, ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.benchmarks.humicroedit.corpus import PUBLIC, SCALE
from humor_tasks.benchmarks.humicroedit.rating import LABELS
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.on_inspect.outcomes import benchmark_metrics, read_reply, run_of, score_of
from humor_tasks.on_inspect.scorers import multiple_choice
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.scorers.rating import expected_rating


@task
def humicroedit_rating(
    dataset: str = PUBLIC,
    split: str = "test",
    setting: str = "edited_only",
    shots: int = 0,
    scale: str = SCALE,
    estimate: str = "text",
    prompts: str | None = None,
    on_unparsed: str = "wrong",
    seed: int = 1234,
) -> Task:
    """Humicroedit, subtask 1: rate an edited headline from 0 to 3 (Hossain et al., SemEval-2020 Task 7).

    Args:
        dataset: The organisers' files (fetched once, pinned), a folder in their layout, or `sample`.
        split: `test`, `dev`, `train` or `train_funlines`.
        setting: `edited_only`, or `original_and_edit`.
        shots: Worked examples in the prompt, each of another headline.
        scale: What 0, 1, 2 and 3 mean, as the model is told.
        estimate: `text`, or `expected`: the mean under the model's probabilities of the digits.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: An unreadable rating counts as the far end of the scale (`wrong`) or is left out (`exclude`).
        seed: Seed of the shots.
    """
    parameters: dict[str, Any] = {"dataset": dataset or PUBLIC, "split": split, "setting": setting, "shots": shots}
    parameters |= {"scale": scale, "estimate": estimate, "prompts": prompts, "on_unparsed": on_unparsed, "seed": seed}
    return _rated(build("humicroedit_rating", parameters, [rating_error()]), estimate)


@task
def humicroedit_pairwise(
    dataset: str = PUBLIC,
    split: str = "test",
    setting: str = "edited_only",
    shots: int = 0,
    via: str = "direct",
    ties: str = "drop",
    scale: str = SCALE,
    estimate: str = "text",
    prompts: str | None = None,
    on_unparsed: str = "wrong",
    seed: int = 1234,
) -> Task:
    """Humicroedit, subtask 2: the funnier of two edits (Hossain et al., SemEval-2020 Task 7).

    Args:
        dataset: The organisers' files (fetched once, pinned), a folder in their layout, or `sample`.
        split: `test`, `dev`, `train` or `train_funlines`.
        setting: `edited_only`, or `original_and_edit`.
        shots: Worked examples in the prompt, each of another headline.
        via: `direct` asks for A or B, `ratings` rates every headline once and compares.
        ties: `drop` pairs of equal means, which have no answer, or `keep` them, unscored, for a submission.
        scale: With via=ratings: what 0, 1, 2 and 3 mean, as the model is told.
        estimate: With via=ratings: `text` or `expected`.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`, direct only).
        seed: Seed of shots and guesses.
    """
    parameters: dict[str, Any] = {"dataset": dataset or PUBLIC, "split": split, "setting": setting, "shots": shots}
    parameters |= {"via": via, "ties": ties, "scale": scale, "estimate": estimate, "prompts": prompts}
    parameters |= {"on_unparsed": on_unparsed, "seed": seed}
    how: list[Scorer] = [rating_error() if via == "ratings" else multiple_choice()]
    return _rated(build("humicroedit_pairwise", parameters, how), estimate)


def _rated(built: Task, estimate: str) -> Task:
    if estimate == "expected":
        built.solver = expected_answer()
        built.config = built.config.merge(GenerateConfig(logprobs=True, top_logprobs=20))
    return built


@scorer(metrics=[benchmark_metrics("humicroedit_rating")])
def rating_error() -> Scorer:
    """A rating read from the reply; its value is the rating, the metrics are those of the benchmark."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_of(state.metadata, "humicroedit_rating"), state, target)
        return score_of(outcome, "N" if outcome.answer is None else float(outcome.answer))

    return score


@solver
def expected_answer() -> Solver:
    """Generates, then answers with the expected value under the probabilities of the digits.

    The digits' probabilities are those at the token behind the reply's last "Rating:", or at its first
    token where that is a digit; elsewhere digits mean something else, and the reply is unparsed. The
    raw reply, and how much probability the digits had, stay in the sample's metadata.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        content = state.output.choices[0].logprobs if state.output.choices else None
        if content is None:
            raise CannotRun(f"{state.model} gives no log-probabilities: use estimate=text.")
        place = _digit(content.content)
        if place and not place.top_logprobs:
            raise CannotRun(f"{state.model} gives only its own token's log-probability: use estimate=text.")
        seen = {top.token: top.logprob for top in (place.top_logprobs or [])} if place else {}
        found = expected_rating(seen, LABELS)
        state.metadata |= {"said": state.output.completion, "digit_probability": found.mass}
        reply = "no digit where the rating belongs" if found.value is None else f"Rating: {found.value!r}"
        usage = state.output.usage
        state.output = ModelOutput.from_content(state.output.model, reply, stop_reason=state.output.stop_reason)
        state.output.usage = usage
        return state

    return solve


def _digit(tokens: Sequence[Logprob]) -> Logprob | None:
    """The token that rates, see `expected_answer`."""
    said, start = "", 0
    for i, token in enumerate(tokens):
        said = (said + token.token)[-15:]  # all that the pattern can span
        if re.search(r"rating\W{0,4}:\W{0,4}\Z", said, re.IGNORECASE):
            start = i + 1
    for token in tokens[start:]:
        if expected_rating({token.token: 0.0}, LABELS).value is not None:
            return token
        if re.search(r"\w", token.token):
            return None
    return None
