"""Humicroedit's two subtasks as Inspect tasks."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.benchmarks.humicroedit.corpus import PUBLIC, SCALE, Setting, Split
from humor_tasks.benchmarks.humicroedit.pairwise import Ties, Via
from humor_tasks.benchmarks.humicroedit.rating import Estimated
from humor_tasks.benchmarks.options import OnUnparsed
from humor_tasks.on_inspect.tasks.building import build

__all__ = ["humicroedit_pairwise", "humicroedit_rating"]


@task
def humicroedit_rating(
    dataset: str = PUBLIC,
    split: Split = "test",
    setting: Setting = "edited_only",
    shots: int = 0,
    scale: str = SCALE,
    estimate: Estimated = "text",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    seed: int = 1234,
) -> Task:
    """Humicroedit, subtask 1: rate an edited headline from 0 to 3 (Hossain et al., SemEval-2020 Task 7).

    Args:
        dataset: The organisers' files (fetched once, pinned), a folder with task-1/ and task-2/, or `sample`.
        split: Split to evaluate; `train_funlines` is FunLines, further training rows.
        setting: `original_and_edit` shows beside the edited headline what it was before.
        shots: Worked examples in the prompt, each of another headline of train.
        scale: What 0, 1, 2 and 3 mean, as the model is told.
        estimate: `text` reads the number; `expected` is the mean under the model's probabilities of the digits.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: An unreadable rating counts as the far end of the scale (`wrong`) or is left out (`exclude`).
        seed: Seed of the shots.
    """
    return build("humicroedit_rating", locals())


@task
def humicroedit_pairwise(
    dataset: str = PUBLIC,
    split: Split = "test",
    setting: Setting = "edited_only",
    shots: int = 0,
    via: Via = "direct",
    ties: Ties = "drop",
    scale: str = SCALE,
    estimate: Estimated = "text",
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    seed: int = 1234,
) -> Task:
    """Humicroedit, subtask 2: the funnier of two edits (Hossain et al., SemEval-2020 Task 7).

    Args:
        dataset: The organisers' files (fetched once, pinned), a folder with task-1/ and task-2/, or `sample`.
        split: Split to evaluate; `train_funlines` is FunLines, further training rows.
        setting: `original_and_edit` shows beside the edited headline what it was before.
        shots: Worked examples in the prompt, each of another headline of train.
        via: `direct` asks for A or B; `ratings` rates every headline once and compares (version 1-A-ratings).
        ties: `drop` pairs of equal means, which have no answer, or `keep` them, unscored, for a submission.
        scale: With `via=ratings`: what 0, 1, 2 and 3 mean, as the model is told.
        estimate: With `via=ratings`: the number in the reply, or the `expected` one under the digits' probabilities.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`, `direct` only).
        seed: Seed of shots and random guesses.
    """
    return build("humicroedit_pairwise", locals())
