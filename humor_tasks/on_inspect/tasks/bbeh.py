"""Inspect tasks of Kazemi et al., ACL 2025, arXiv 2502.19187. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["bbeh_nycc"]


@task
def bbeh_nycc(
    dataset: str = "google-deepmind/bbeh",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """BBEH, nycc: which of ten captions for a described cartoon won (Kazemi et al., ACL 2025, arXiv 2502.19187)?

    Args:
        dataset: The public questions (downloaded once, pinned), a file task.json, a folder with it, or `sample`.
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("bbeh_nycc", locals())
