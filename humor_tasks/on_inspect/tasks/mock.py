"""MOCK's sub-tasks as Inspect tasks."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.benchmarks.mock.corpus import Input, Sampling, Scene
from humor_tasks.benchmarks.options import OnUnparsed, Split
from humor_tasks.on_inspect.judging.stories import story_ratings
from humor_tasks.on_inspect.tasks.building import build

__all__ = ["mock_detecting", "mock_explaining", "mock_generation", "mock_matching"]


@task
def mock_detecting(
    dataset: str = "",
    revision: str | int | None = None,
    scene: Scene = "all",
    input: Input = "media",
    frames: int = 8,
    sampling: Sampling = "even",
    chain_of_task: bool = False,
    split: Split = "test",
    replicates: int = 1,
    shots: int = 0,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    seed: int = 1234,
) -> Task:
    """MOCK: is it humorous or sarcastic (huMor-sarcasm cOmprehension benChmarK)?

    Args:
        dataset: A folder that `humor-tasks build mock` wrote, its id on a hub, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        scene: Which scenes; `stills` are cartoon and post, the scenes without video.
        input: Shows the picture or whole clip (`media`), `frames` of a clip as pictures, or words (`description`).
        frames: With `input=frames`: how many.
        sampling: With `input=frames`: `even`ly spaced ones, or those after the largest changes of `scene`.
        chain_of_task: First show a worked sample of each other sub-task (Chain-of-Task), of the same scene's train
            split.
        split: Split to evaluate.
        replicates: How often every item is asked; published figures are means of 5.
        shots: Worked examples in the prompt, of the same scene's train split, each of another picture or clip.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of shots, worked samples and random guesses.
    """
    return build("mock_detecting", locals())


@task
def mock_matching(
    dataset: str = "",
    revision: str | int | None = None,
    scene: Scene = "all",
    input: Input = "media",
    frames: int = 8,
    sampling: Sampling = "even",
    chain_of_task: bool = False,
    split: Split = "test",
    replicates: int = 1,
    shots: int = 0,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    seed: int = 1234,
) -> Task:
    """MOCK: which caption or utterance belongs here (huMor-sarcasm cOmprehension benChmarK)?

    Args:
        dataset: A folder that `humor-tasks build mock` wrote, its id on a hub, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        scene: Which scenes; `stills` are cartoon and post, the scenes without video.
        input: Shows the picture or whole clip (`media`), `frames` of a clip as pictures, or words (`description`).
        frames: With `input=frames`: how many.
        sampling: With `input=frames`: `even`ly spaced ones, or those after the largest changes of `scene`.
        chain_of_task: First show a worked sample of each other sub-task (Chain-of-Task), of the same scene's train
            split.
        split: Split to evaluate.
        replicates: How often every item is asked; published figures are means of 5.
        shots: Worked examples in the prompt, of the same scene's train split, each of another picture or clip.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of shots, worked samples and random guesses.
    """
    return build("mock_matching", locals())


@task
def mock_explaining(
    dataset: str = "",
    revision: str | int | None = None,
    scene: Scene = "all",
    input: Input = "media",
    frames: int = 8,
    sampling: Sampling = "even",
    chain_of_task: bool = False,
    split: Split = "test",
    replicates: int = 1,
    shots: int = 0,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    seed: int = 1234,
) -> Task:
    """MOCK: why is it humorous or sarcastic (huMor-sarcasm cOmprehension benChmarK)?

    Args:
        dataset: A folder that `humor-tasks build mock` wrote, its id on a hub, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        scene: Which scenes; `stills` are cartoon and post, the scenes without video.
        input: Shows the picture or whole clip (`media`), `frames` of a clip as pictures, or words (`description`).
        frames: With `input=frames`: how many.
        sampling: With `input=frames`: `even`ly spaced ones, or those after the largest changes of `scene`.
        chain_of_task: First show a worked sample of each other sub-task (Chain-of-Task), of the same scene's train
            split.
        split: Split to evaluate.
        replicates: How often every item is asked; published figures are means of 5.
        shots: Worked examples in the prompt, of the same scene's train split, each of another picture or clip.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of shots, worked samples and random guesses.
    """
    return build("mock_explaining", locals())


@task
def mock_generation(
    dataset: str = "",
    revision: str | int | None = None,
    scene: Scene = "stills",
    images: int = 150,
    input: Input = "media",
    frames: int = 8,
    sampling: Sampling = "even",
    split: Split = "test",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
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
        dataset: A folder that `humor-tasks build mock` wrote, its id on a hub, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        scene: Which scenes; `stills` are cartoon and post, the scenes without video.
        images: How many pictures of a scene, drawn by `seed`; 0 takes all.
        input: Shows the picture or whole clip (`media`), `frames` of a clip as pictures, or words (`description`).
        frames: With `input=frames`: how many.
        sampling: With `input=frames`: `even`ly spaced ones, or those after the largest changes of `scene`.
        split: Split to evaluate.
        prompts: Folder whose `generation.txt` and `show.*.txt` replace the packaged templates.
        on_unparsed: Without a story both ratings are the lowest (`wrong`) or there are none (`exclude`).
        structured: Ask graders for a JSON verdict by the provider's structured output.
        temperature: Temperature of graders whose own configuration sets none; `none` leaves it to the provider.
        seed: Seed of the pictures drawn, and of graders.
        cache: Keep every verdict in Inspect's model cache and never pay for it twice.
        retries: How often an unreadable verdict is asked for again, each time with the next seed.
    """
    return build("mock_generation", locals(), graded_by=lambda how: [story_ratings(**how)])
