"""Inspect tasks of Hossain et al., SemEval-2020 Task 7, arXiv 2008.00304. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["humicroedit_pairwise", "humicroedit_rating"]


@task
def humicroedit_rating(
    dataset: str = "semeval-2020-task-7",
    split: Literal["train", "train_funlines", "dev", "test"] = "test",
    setting: Literal["edited_only", "original_and_edit"] = "edited_only",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    shots: int = 0,
    scale: str = "0 = not funny, 1 = slightly funny, 2 = moderately funny, 3 = funny",
    estimate: Literal["text", "expected"] = "text",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Humicroedit, subtask 1: how funny is an edited headline, from 0 to 3 (Hossain et al., SemEval-2020 Task 7, arXiv
    2008.00304, subtask 1)?

    Args:
        dataset: The organisers' files (downloaded once, pinned), a folder with task-1/ and task-2/, or `sample`.
        split: Split to evaluate; `train_funlines` is FunLines, additional training rows.
        setting: `edited_only` shows the edited headline; `original_and_edit` also shows the original.
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        shots: Number of worked examples in the prompt, each of a different headline of the train split.
        scale: The meanings of 0, 1, 2 and 3 in the prompt.
        estimate: `text` reads the number in the reply; `expected` is the mean under the model's probabilities of the
            digits.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: An unreadable rating counts as the worst possible rating (`wrong`) or is left out (`exclude`).
        seed: Seed of the worked examples.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("humicroedit_rating", locals())


@task
def humicroedit_pairwise(
    dataset: str = "semeval-2020-task-7",
    split: Literal["train", "train_funlines", "dev", "test"] = "test",
    setting: Literal["edited_only", "original_and_edit"] = "edited_only",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    shots: int = 0,
    via: Literal["direct", "ratings"] = "direct",
    ties: Literal["drop", "keep"] = "drop",
    scale: str = "0 = not funny, 1 = slightly funny, 2 = moderately funny, 3 = funny",
    estimate: Literal["text", "expected"] = "text",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Humicroedit, subtask 2: which of two edits of a headline is funnier (Hossain et al., SemEval-2020 Task 7, arXiv
    2008.00304, subtask 2)?

    Args:
        dataset: The organisers' files (downloaded once, pinned), a folder with task-1/ and task-2/, or `sample`.
        split: Split to evaluate; `train_funlines` is FunLines, additional training rows.
        setting: `edited_only` shows the edited headline; `original_and_edit` also shows the original.
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        shots: Number of worked examples in the prompt, each of a different headline of the train split.
        via: `direct` asks for A or B; `ratings` rates each headline once and compares (version 2-A-ratings).
        ties: `drop` pairs with equal means, which have no answer, or `keep` them, unscored, for a submission.
        scale: With `via=ratings`: the meanings of 0, 1, 2 and 3 in the prompt.
        estimate: With `via=ratings`: `text` reads the number in the reply; `expected` is the mean under the model's
            probabilities of the digits.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`,
            only with `via=direct`).
        seed: Seed of worked examples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("humicroedit_pairwise", locals())
