"""Ratings of stories by graders."""

from __future__ import annotations

import dataclasses

from inspect_ai.model import ChatMessageUser, ContentText, Model
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.benchmarks.mock.generation import RATED, RATINGS, rated
from humor_tasks.benchmarks.rubric import Rubric
from humor_tasks.on_inspect.judging.graders import (
    Asking,
    Graded,
    prepared,
    put,
    resolve,
    rubric_of,
)
from humor_tasks.on_inspect.messages import media_of, turn_messages
from humor_tasks.on_inspect.outcomes import read_reply, run_scored_by, score_of
from humor_tasks.scorers.rated import panel_rating


def stories_scorer(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """See `humor_tasks.on_inspect.parts.story_ratings`."""
    how = prepared(structured, temperature, seed, cache, retries)

    async def score(state: TaskState, target: Target) -> Score:
        run = run_scored_by("story_ratings", state)
        ungraded = read_reply(run, state, target)
        rubrics = {name: rubric_of("generation", prompts, RATED[name]) for name in RATINGS}
        words: dict[str, list[Graded]] = {name: [] for name in RATINGS}
        if ungraded.answer is not None:
            judges = resolve(grader)
            asked = [_rate(judge, rubrics[n], state, ungraded.answer, how) for n in RATINGS for judge in judges]
            found = await collect(*asked)
            words = {n: found[i * len(judges) : (i + 1) * len(judges)] for i, n in enumerate(RATINGS)}
        ratings = {name: panel_rating([word.word for word in panel]) for name, panel in words.items() if panel}
        outcome = rated(run, ungraded, ratings, [word.status for panel in words.values() for word in panel])
        given = [outcome.values[name] for name in RATINGS if name in outcome.values]
        value = sum(given) / len(given) if len(given) == len(RATINGS) else "N"
        used = ",".join(dict.fromkeys(word.grader for panel in words.values() for word in panel))
        prints = ",".join(rubric.hash for rubric in rubrics.values())
        kept = {name: [dataclasses.asdict(word) for word in panel] for name, panel in words.items()}
        signature = f"graders:{used}|{how.shown()}|prompts:{prints}"
        return score_of(outcome, value, _explained(words), ratings=kept, signature=signature)

    return score


async def _rate(judge: Model, rubric: Rubric, state: TaskState, story: str, how: Asking) -> Graded:
    question = next(message for message in reversed(state.messages) if isinstance(message, ChatMessageUser))
    context = str(state.metadata.get("context") or question.text)
    asked = turn_messages(rubric.ask({"context": context, "story": story}, how.structured).turns)
    asked[-1].content = [*media_of(question, f"of sample {state.sample_id}"), ContentText(text=asked[-1].text)]
    return await put(judge, asked, rubric.judgement, how)


def _explained(words: dict[str, list[Graded]]) -> str:
    return "\n".join(
        f"{name.upper()}, {word.grader}, {word.word or 'no rating'}: {word.reasons}"
        for name, panel in words.items()
        for word in panel
    )
