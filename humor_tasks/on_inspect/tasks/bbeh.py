"""Inspect tasks of Kazemi et al., ACL 2025, arXiv 2502.19187. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks import build

__all__ = ["bbeh_nycc"]


@task
def bbeh_nycc(
    dataset: str = "google-deepmind/bbeh",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """BBEH, nycc: which of ten captions for a described cartoon won (Kazemi et al., ACL 2025, arXiv 2502.19187)?

    Args:
        dataset: The public questions (downloaded once, pinned), a file task.json, a folder with it, or `sample`.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        seed: Seed of random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("bbeh_nycc", locals())
