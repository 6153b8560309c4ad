"""The New Yorker Caption Contest as Inspect tasks."""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai import Task, task

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.on_inspect.tasks.building import build


def nycc_task(name: str) -> Callable[..., Task]:
    """The Inspect task of one caption contest benchmark."""

    def define(
        dataset: str = HUB,
        revision: str | None = None,
        split: str = "test",
        fold: int | str = 0,
        setting: str = "description",
        shots: int = 0,
        cot: bool | None = None,
        prompts: str | None = None,
        on_unparsed: str = "wrong",
        extraction: str = "strict",
        seed: int = 1234,
    ) -> Task:
        parameters = {"dataset": dataset or HUB, "revision": revision, "split": split, "fold": fold, "setting": setting}
        parameters |= {"shots": shots, "cot": cot, "prompts": prompts, "on_unparsed": on_unparsed}
        return build(name, parameters | {"extraction": extraction, "seed": seed})

    define.__name__ = define.__qualname__ = name
    define.__doc__ = f"""{BENCHMARKS[name].title} ({BENCHMARKS[name].paper}).

    Args:
        dataset: Hub id of the corpus, a local dataset folder, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        split: `test`, `validation` or `train`.
        fold: Cross-validation fold 0..4, or `all`: mean of the five folds, as published.
        setting: `description`, `pixels` or `caption_only`.
        shots: Worked examples in the prompt, each from another train contest.
        cot: Reason before answering (default: yes without shots, no with shots).
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: `strict`, `released_chat` or `released_leaderboard`.
        seed: Seed of shots and random guesses.
    """
    return task(define)


matching = nycc_task("matching")
ranking = nycc_task("ranking")
explanation = nycc_task("explanation")
