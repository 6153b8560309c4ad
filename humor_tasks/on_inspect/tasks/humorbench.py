"""HumorBench and the exam of its autograder as Inspect tasks."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig

from humor_tasks.benchmarks.humorbench.corpus import PUBLIC
from humor_tasks.benchmarks.humorbench.coverage import Per
from humor_tasks.on_inspect.judging.coverage import element_coverage, explanation_form
from humor_tasks.on_inspect.judging.graders import Asking
from humor_tasks.on_inspect.scorers import judge_agreement
from humor_tasks.on_inspect.tasks.building import build

__all__ = ["humorbench", "humorbench_autograder"]


@task
def humorbench(
    dataset: str = PUBLIC,
    subset: str = "all",
    one_explanation_per: Per = "row",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    structured: bool = False,
    temperature: float | str | None = 0.0,
    seed: int | str | None = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Task:
    """HumorBench: coverage of what makes a caption funny (Narad et al. 2025, arXiv 2507.21476).

    Name the grader: `--model-role grader=openai/gpt-4o`, or several for a panel.

    Args:
        dataset: The public corpus (fetched once, pinned), a CSV file, a folder with it, or `sample`.
        subset: `all`, `hard`, `wordplay`, `cultural_reference`, `toxic_or_shocking`, or a file of keys.
        one_explanation_per: `row`, as published, or `caption`: one, graded against all of its elements (version
            1-A-caption).
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: A reply without an explanation covers nothing (`wrong`) or is left out (`exclude`).
        structured: Ask graders for a JSON verdict by the provider's structured output.
        temperature: Temperature of graders whose own configuration sets none; `none` leaves it to the provider.
        seed: Seed of graders whose own configuration sets none; `none` leaves it to the provider.
        cache: Keep every verdict in Inspect's model cache and never pay for it twice.
        retries: How often an unreadable verdict is asked for again, each time with the next seed.
    """
    return build("humorbench", locals(), graded_by=lambda how: [element_coverage(**how), explanation_form()])


@task
def humorbench_autograder(
    dataset: str | list[str] = PUBLIC,
    prompts: str | None = None,
    structured: bool = False,
    temperature: float | str | None = 0.0,
    seed: int = 1234,
) -> Task:
    """HumorBench: exam of a judge against human labels (Narad et al. 2025, arXiv 2507.21476).

    The model under test is the judge, asked exactly as `element_coverage` asks a grader.

    Args:
        dataset: The public rubrics (fetched once, pinned), a rubric CSV or several joined by commas, or `sample`.
        prompts: Folder whose template files replace packaged ones of the same name.
        structured: Ask for a JSON verdict by the provider's structured output.
        temperature: Temperature of the judge; `none` leaves it to the provider.
        seed: Seed of the judge.
    """
    built = build("humorbench_autograder", locals(), [judge_agreement()])
    how = Asking(structured, temperature, seed)  # type: ignore[arg-type]  # `none`
    built.config = built.config.merge(how.config(GenerateConfig()))
    return built
