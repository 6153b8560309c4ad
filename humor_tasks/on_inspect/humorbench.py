"""HumorBench and the exam of its autograder as Inspect tasks."""

from __future__ import annotations

from inspect_ai import Task, task

from humor_tasks.benchmarks._humorbench import PUBLIC
from humor_tasks.on_inspect.coverage import element_coverage, explanation_form
from humor_tasks.on_inspect.graders import Asking, require_grader
from humor_tasks.on_inspect.scorers import judge_agreement
from humor_tasks.on_inspect.tasks import build


@task
def humorbench(
    dataset: str = PUBLIC,
    subset: str = "all",
    one_explanation_per: str = "row",
    prompts: str | None = None,
    on_unparsed: str = "wrong",
    structured: bool = False,
    cache: bool = True,
) -> Task:
    """HumorBench: coverage of what makes a caption funny (Narad et al. 2025, arXiv 2507.21476).

    Name the grader: `--model-role grader=openai/gpt-4o`, or several for a panel.

    Args:
        dataset: The public corpus (fetched once, pinned), a CSV file, a folder with it, or `sample`.
        subset: `all`, `hard`, `wordplay`, `cultural_reference`, `toxic_or_shocking`, or a file of keys.
        one_explanation_per: `row` (as published) or `caption` (cheaper; another version).
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: A reply without an explanation covers nothing (`wrong`) or is left out (`exclude`).
        structured: Ask graders for a JSON verdict by the provider's structured output.
        cache: Keep every verdict in Inspect's model cache and never pay for it twice.
    """
    parameters = {"dataset": dataset or PUBLIC, "subset": subset, "one_explanation_per": one_explanation_per}
    scorers = [element_coverage(structured=structured, cache=cache), explanation_form()]
    built = build("humorbench", parameters | {"prompts": prompts, "on_unparsed": on_unparsed}, scorers)
    built.setup = require_grader()
    return built


@task
def humorbench_autograder(
    dataset: str | list[str] = PUBLIC,
    prompts: str | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
) -> Task:
    """HumorBench: exam of a judge against human labels (Narad et al. 2025, arXiv 2507.21476).

    The model under test is the judge, asked exactly as `element_coverage` asks a grader.

    Args:
        dataset: The public rubric files (fetched once, pinned), rubric CSV files, or `sample`.
        prompts: Folder whose template files replace packaged ones of the same name.
        structured: Ask for a JSON verdict by the provider's structured output.
        temperature: Of the judge; none leaves it to the model.
        seed: Of the judge.
    """
    parameters = {"dataset": dataset or PUBLIC, "prompts": prompts, "structured": structured}
    built = build("humorbench_autograder", parameters, [judge_agreement()])
    built.config = built.config.merge(Asking(structured, temperature, seed).config())
    return built
