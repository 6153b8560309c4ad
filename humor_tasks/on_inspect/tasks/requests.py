"""Inspect tasks of Castro et al., SemEval-2026 Task 1. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["humor_writing"]


@task
def humor_writing(
    dataset: str = "",
    images: str | None = None,
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    count: int = 1,
    prompts: str | None = None,
    shard: str | None = None,
) -> Task:
    """Humor writing: what does a model write for the requests in a file (Castro et al., SemEval-2026 Task 1, abstract)?

    Args:
        dataset: File of requests: .jsonl of {id, text, picture, system}, .csv or .tsv with these columns or with those
            of MWAHAHA and Humor Transfer Bench (docs/requests.md); or `sample` (packaged, invented).
        images: Folder of the pictures, in the place of the folder of the file.
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        count: Number of texts to write for each request.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("humor_writing", locals())
