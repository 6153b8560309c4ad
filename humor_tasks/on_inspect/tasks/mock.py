"""Inspect tasks of MOCK, huMor-sarcasm cOmprehension benChmarK. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["mock_detecting", "mock_explaining", "mock_generation", "mock_matching"]


@task
def mock_detecting(
    dataset: str = "",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    scene: Literal["all", "stills", "cartoon", "post", "comedy"] = "all",
    input: Literal["media", "description", "frames"] = "media",
    frames: int = 8,
    sampling: Literal["even", "scene"] = "even",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    chain_of_task: bool = False,
    replicates: int = 1,
    shots: int = 0,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """MOCK, detecting: is the caption or the last utterance humorous or sarcastic (MOCK, huMor-sarcasm cOmprehension
    benChmarK)?

    Args:
        dataset: A folder written by `humor-tasks build mock`, its hub id, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        scene: Scenes to evaluate; `stills` are cartoon and post, the scenes without video.
        input: Show the picture or whole clip (`media`), `frames` of a clip as pictures, or a text (`description`).
        frames: With `input=frames`: the number of frames.
        sampling: With `input=frames`: `even`ly spaced frames, or the frames after the largest changes (`scene`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        chain_of_task: Begin the prompt with a worked sample of each other sub-task (Chain-of-Task), from the same
            scene's train split.
        replicates: Number of replies per item; published figures are means over 5.
        shots: Number of worked examples in the prompt, from the same scene's train split, each with a different picture
            or clip.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of worked examples, worked samples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("mock_detecting", locals())


@task
def mock_matching(
    dataset: str = "",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    scene: Literal["all", "stills", "cartoon", "post", "comedy"] = "all",
    input: Literal["media", "description", "frames"] = "media",
    frames: int = 8,
    sampling: Literal["even", "scene"] = "even",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    chain_of_task: bool = False,
    replicates: int = 1,
    shots: int = 0,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """MOCK, matching: which of four captions or last utterances belongs to what is shown (MOCK, huMor-sarcasm
    cOmprehension benChmarK)?

    Args:
        dataset: A folder written by `humor-tasks build mock`, its hub id, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        scene: Scenes to evaluate; `stills` are cartoon and post, the scenes without video.
        input: Show the picture or whole clip (`media`), `frames` of a clip as pictures, or a text (`description`).
        frames: With `input=frames`: the number of frames.
        sampling: With `input=frames`: `even`ly spaced frames, or the frames after the largest changes (`scene`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        chain_of_task: Begin the prompt with a worked sample of each other sub-task (Chain-of-Task), from the same
            scene's train split.
        replicates: Number of replies per item; published figures are means over 5.
        shots: Number of worked examples in the prompt, from the same scene's train split, each with a different picture
            or clip.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of worked examples, worked samples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("mock_matching", locals())


@task
def mock_explaining(
    dataset: str = "",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    scene: Literal["all", "stills", "cartoon", "post", "comedy"] = "all",
    input: Literal["media", "description", "frames"] = "media",
    frames: int = 8,
    sampling: Literal["even", "scene"] = "even",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    chain_of_task: bool = False,
    replicates: int = 1,
    shots: int = 0,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """MOCK, explaining: why is the caption or the last utterance humorous or sarcastic (MOCK, huMor-sarcasm
    cOmprehension benChmarK)?

    Args:
        dataset: A folder written by `humor-tasks build mock`, its hub id, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        scene: Scenes to evaluate; `stills` are cartoon and post, the scenes without video.
        input: Show the picture or whole clip (`media`), `frames` of a clip as pictures, or a text (`description`).
        frames: With `input=frames`: the number of frames.
        sampling: With `input=frames`: `even`ly spaced frames, or the frames after the largest changes (`scene`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        chain_of_task: Begin the prompt with a worked sample of each other sub-task (Chain-of-Task), from the same
            scene's train split.
        replicates: Number of replies per item; published figures are means over 5.
        shots: Number of worked examples in the prompt, from the same scene's train split, each with a different picture
            or clip.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of worked examples, worked samples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("mock_explaining", locals())


@task
def mock_generation(
    dataset: str = "",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    scene: Literal["all", "stills", "cartoon", "post", "comedy"] = "stills",
    images: int = 150,
    input: Literal["media", "description", "frames"] = "media",
    frames: int = 8,
    sampling: Literal["even", "scene"] = "even",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    structured: bool = False,
    grader_prompts: str | None = None,
    judge_first: Literal["none", "commit"] = "none",
    temperature: float | str | None = 0.0,
    seed: int = 1234,
    cache: bool = True,
    retries: int = 0,
    shard: str | None = None,
) -> Task:
    """MOCK, generation: can a model write a very short humorous or sarcastic story for a picture (MOCK, huMor-sarcasm
    cOmprehension benChmarK)?

    Give the grader with `--model-role grader=openai/gpt-4o`; several models form a panel. To compare two systems, use
    `humor_tasks/explanation_preference -T of=mock_generation -T system=LOG -T against=LOG`.

    Args:
        dataset: A folder written by `humor-tasks build mock`, its hub id, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        scene: Scenes to evaluate; `stills` are cartoon and post, the scenes without video.
        images: Number of pictures per scene, drawn by `seed`; 0 takes all.
        input: Show the picture or whole clip (`media`), `frames` of a clip as pictures, or a text (`description`).
        frames: With `input=frames`: the number of frames.
        sampling: With `input=frames`: `even`ly spaced frames, or the frames after the largest changes (`scene`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder whose `generation.txt` and
            `show.*.txt` replace those of set A (docs/wordings.md).
        on_unparsed: A reply without a story gets the lowest ratings (`wrong`) or is left out (`exclude`).
        structured: Request a JSON verdict through the provider's structured output.
        grader_prompts: Prompt set of the graders: A (the default) to E, or a folder of template files. `humor-tasks
            grade` also takes `all` of them, for replies that exist (docs/wordings.md).
        judge_first: What a judge writes before it sees what it judges: nothing (`none`), or its own view of the joke
            (`commit`), in one more request.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of the sample of pictures and of the graders.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("mock_generation", locals())
