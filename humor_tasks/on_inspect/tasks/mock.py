"""MOCK's sub-tasks as Inspect tasks."""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai import Task, task

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.on_inspect.tasks.building import build


def mock_task(name: str) -> Callable[..., Task]:
    """The Inspect task of one sub-task."""

    def define(
        dataset: str = "",
        revision: str | None = None,
        scene: str = "all",
        input: str = "media",
        frames: int = 8,
        sampling: str = "even",
        chain_of_task: bool = False,
        split: str = "test",
        replicates: int = 1,
        shots: int = 0,
        prompts: str | None = None,
        on_unparsed: str = "wrong",
        seed: int = 1234,
    ) -> Task:
        parameters = {"dataset": dataset, "revision": revision, "scene": scene, "input": input, "frames": frames}
        parameters |= {"sampling": sampling, "split": split, "shots": shots, "prompts": prompts}
        parameters |= {"chain_of_task": chain_of_task, "on_unparsed": on_unparsed, "seed": seed}
        built = build(name, parameters)
        if isinstance(replicates, bool) or not isinstance(replicates, int) or replicates < 1:
            raise CannotRun(f"humor_tasks/{name}: replicates must be a whole number of at least 1.")
        built.epochs = replicates if replicates > 1 else None  # else --epochs decides; metrics are over all replies
        return built

    define.__name__ = define.__qualname__ = name
    define.__doc__ = f"""{BENCHMARKS[name].title} ({BENCHMARKS[name].paper}).

    Args:
        dataset: A folder that `humor-tasks build mock` wrote, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        scene: `cartoon`, `post`, `comedy`, `stills` (cartoon and post) or `all`.
        input: `media` (the picture, or the whole clip), `frames` of a clip as pictures, or `description`.
        frames: With input=frames: how many.
        sampling: With input=frames: `even`ly spaced, or `scene`: after the largest changes.
        chain_of_task: Show worked samples of the other two sub-tasks first (Chain-of-Task), of the same scene's train.
        split: `test`, `validation` or `train`.
        replicates: How often every item is asked; published figures are means of 5.
        shots: Worked examples in the prompt, of the same scene's train split, each of another picture or clip.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of shots, worked samples and random guesses.
    """
    return task(define)


mock_detecting = mock_task("mock_detecting")
mock_matching = mock_task("mock_matching")
mock_explaining = mock_task("mock_explaining")
