"""MOCK's generation as an Inspect task: stories, rated by graders."""

from __future__ import annotations

import dataclasses
from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import ChatMessageUser, ContentText, Model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.benchmarks.mock.generation import RATINGS, rated
from humor_tasks.benchmarks.rubric import RATED, Rubric
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.on_inspect.judging.graders import (
    Asking,
    Graded,
    check_grader_bound,
    put,
    require_grader,
    resolve,
    rubric_of,
)
from humor_tasks.on_inspect.messages import media_of, turn_messages
from humor_tasks.on_inspect.outcomes import benchmark_metrics, read_reply, run_of, score_of
from humor_tasks.on_inspect.prices import register_prices
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.scorers.rated import panel_rating


@task
def mock_generation(
    dataset: str = "",
    revision: str | None = None,
    scene: str = "stills",
    images: int = 150,
    input: str = "media",
    frames: int = 8,
    sampling: str = "even",
    split: str = "test",
    prompts: str | None = None,
    on_unparsed: str = "wrong",
    structured: bool = False,
    temperature: float | str | None = 0.0,
    seed: int = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Task:
    """MOCK: a very short humorous or sarcastic story for a picture, rated from 1 to 5 (SMS, HSS).

    Name the grader: `--model-role grader=openai/gpt-4o`, or several for a panel. Two systems are compared by
    `humor_tasks/explanation_preference -T of=mock_generation -T system=LOG -T against=LOG`.

    Args:
        dataset: A folder that `humor-tasks build mock` wrote, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        scene: `cartoon`, `post`, `comedy`, `stills` (cartoon and post) or `all`.
        images: How many pictures of a scene, drawn by `seed`; 0 takes all.
        input: `media` (the picture, or the whole clip), `frames` of a clip as pictures, or `description`.
        frames: With input=frames: how many.
        sampling: With input=frames: `even`ly spaced, or `scene`: after the largest changes.
        split: `test`, `validation` or `train`.
        prompts: Folder whose `generation.txt` and `show.*.txt` replace packaged templates.
        on_unparsed: Without a story both ratings are 1 (`wrong`) or there are none (`exclude`).
        structured: Ask graders for a JSON rating by the provider's structured output.
        temperature: Of graders whose own configuration sets none; `none` leaves it to the provider.
        seed: Of the pictures drawn, and of graders.
        cache: Keep every rating in Inspect's model cache and never pay for it twice.
        retries: How often an unreadable rating is asked for again, each time with the next seed.
    """
    check_grader_bound()
    how = Asking(structured, temperature, seed, cache, retries)  # type: ignore[arg-type]
    parameters: dict[str, Any] = {"dataset": dataset, "revision": revision, "scene": scene, "images": images}
    parameters |= {"input": input, "frames": frames, "sampling": sampling, "split": split, "prompts": prompts}
    parameters |= {"on_unparsed": on_unparsed, "seed": seed}
    how_asked = (how.structured, how.temperature, how.seed)
    built = build("mock_generation", parameters, [story_ratings(None, *how_asked, None, cache, retries)])
    built.setup = [require_grader(), *(built.setup if isinstance(built.setup, list) else [])]
    return built


@scorer(metrics=[benchmark_metrics("mock_generation")])
def story_ratings(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """Ratings from 1 to 5 of how well a story matches what is shown (SMS) and of its humour or sarcasm (HSS).

    For `mock_generation`, and for any task whose reply is a story: graders are shown the sample's metadata `context`,
    else the question's text, with its pictures. Of a panel, the mean where more than half of all graders gave a
    rating. The score is the mean of both ratings, N where one is missing.

    Args:
        grader: Model or models that rate, whatever is bound to the model role `grader`.
        structured: Ask for a JSON rating by the provider's structured output.
        temperature: Of graders whose own configuration sets none; none leaves it to the provider.
        seed: The same.
        prompts: Folder whose `sms.txt`, `hss.txt` and `verdict.*.txt` replace the packaged templates.
        cache: Keep every rating in Inspect's model cache and never pay for it twice.
        retries: How often an unreadable rating is asked for again, each time with the next seed.
    """
    how = Asking(structured, temperature, seed, cache, retries)
    register_prices()

    async def score(state: TaskState, target: Target) -> Score:
        run = run_of(state.metadata, "mock_generation")
        if run.benchmark.name != "mock_generation":
            raise CannotRun(f"sample {state.sample_id} is of humor_tasks/{run.benchmark.name}: no story.")
        told = read_reply(run, state, target)
        rubrics = {name: rubric_of("generation", prompts, RATED[name]) for name in RATINGS}
        words: dict[str, list[Graded]] = {name: [] for name in RATINGS}
        if told.answer is not None:
            judges = resolve(grader)
            asked = [_rate(judge, rubrics[n], state, told.answer, how) for n in RATINGS for judge in judges]
            found = await collect(*asked)
            words = {n: found[i * len(judges) : (i + 1) * len(judges)] for i, n in enumerate(RATINGS)}
        ratings = {name: panel_rating([word.word for word in panel]) for name, panel in words.items() if panel}
        outcome = rated(run, told, ratings, [word.status for panel in words.values() for word in panel])
        given = [outcome.values[name] for name in RATINGS if name in outcome.values]
        value = sum(given) / len(given) if len(given) == len(RATINGS) else "N"
        used = ",".join(dict.fromkeys(word.grader for panel in words.values() for word in panel))
        prints = ",".join(rubric.hash for rubric in rubrics.values())
        kept = {name: [dataclasses.asdict(word) for word in panel] for name, panel in words.items()}
        signature = f"graders:{used}|{how.shown()}|prompts:{prints}"
        return score_of(outcome, value, _told(words), ratings=kept, signature=signature)

    return score


async def _rate(judge: Model, rubric: Rubric, state: TaskState, story: str, how: Asking) -> Graded:
    question = next(message for message in reversed(state.messages) if isinstance(message, ChatMessageUser))
    context = str(state.metadata.get("context") or question.text)
    asked = turn_messages(rubric.ask({"context": context, "story": story}, how.structured).turns)
    asked[-1].content = [*media_of(question), ContentText(text=asked[-1].text)]
    return await put(judge, asked, rubric.judgement, how)


def _told(words: dict[str, list[Graded]]) -> str:
    return "\n".join(
        f"{name.upper()}, {word.grader}, {word.word or 'no rating'}: {word.reasons}"
        for name, panel in words.items()
        for word in panel
    )
