"""Inspect tasks of Narad et al. 2025, arXiv 2507.21476. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["humorbench", "humorbench_autograder"]


@task
def humorbench(
    dataset: str = "ReubenNarad/Humor-Bench",
    subset: str = "all",
    one_explanation_per: Literal["row", "caption"] = "row",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    structured: bool = False,
    grader_prompts: str | None = None,
    judge_first: Literal["none", "commit"] = "none",
    temperature: float | str | None = 0.0,
    seed: int | str | None = 1234,
    cache: bool = True,
    retries: int = 0,
    shard: str | None = None,
) -> Task:
    """HumorBench: does an explanation of a caption contain the element that makes it funny (Narad et al. 2025, arXiv
    2507.21476)?

    Give the grader with `--model-role grader=openai/gpt-4o`; several models form a panel.

    Args:
        dataset: The public corpus (downloaded once, pinned), a CSV file, a folder with it, or `sample`.
        subset: Rows to evaluate: `all`, `hard`, `wordplay`, `cultural_reference`, `toxic_or_shocking`, `visual_link`,
            `subverted_trope`, `multi_step`, or a file of keys.
        one_explanation_per: One explanation per `row`, as published, or per `caption`, graded against all its elements
            (version 1-A-caption).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: A reply without an explanation covers no element (`wrong`) or is left out (`exclude`).
        structured: Request a JSON verdict through the provider's structured output.
        grader_prompts: Prompt set of the graders: A (the default) to E, or a folder of template files. `humor-tasks
            grade` also takes `all` of them, for replies that exist (docs/wordings.md).
        judge_first: What a judge writes before it sees what it judges: nothing (`none`), or its own view of the joke
            (`commit`), in one more request.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("humorbench", locals())


@task
def humorbench_autograder(
    dataset: str | list[str] = "ReubenNarad/Humor-Bench",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    prompts: str | None = None,
    structured: bool = False,
    judge_first: Literal["none", "commit"] = "none",
    temperature: float | str | None = 0.0,
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Evaluation of HumorBench's autograder: does a judge model grade as people do (Narad et al. 2025, arXiv
    2507.21476)?

    The model under test is the judge; its prompt and settings are those of a grader in `element_coverage`.

    Args:
        dataset: The public rubrics (downloaded once, pinned), a rubric CSV or several separated by commas, or `sample`.
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        structured: Request a JSON verdict through the provider's structured output.
        judge_first: What a judge writes before it sees what it judges: nothing (`none`), or its own view of the joke
            (`commit`), in one more request.
        temperature: Temperature of the judge; `none`: the provider's default.
        seed: Seed of the judge.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("humorbench_autograder", locals())
