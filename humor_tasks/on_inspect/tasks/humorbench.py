"""HumorBench and the exam of its autograder as Inspect tasks."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig

from humor_tasks.benchmarks.humorbench.corpus import PUBLIC
from humor_tasks.on_inspect.judging.coverage import element_coverage, explanation_form
from humor_tasks.on_inspect.judging.graders import Asking, check_grader_bound, require_grader
from humor_tasks.on_inspect.scorers import judge_agreement
from humor_tasks.on_inspect.tasks.building import build


@task
def humorbench(
    dataset: str = PUBLIC,
    subset: str = "all",
    one_explanation_per: str = "row",
    prompts: str | None = None,
    on_unparsed: str = "wrong",
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
        one_explanation_per: `row` (as published) or `caption` (cheaper; another version).
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: A reply without an explanation covers nothing (`wrong`) or is left out (`exclude`).
        structured: Ask graders for a JSON verdict by the provider's structured output.
        temperature: Of graders whose own configuration sets none; `none` leaves it to the provider.
        seed: The same.
        cache: Keep every verdict in Inspect's model cache and never pay for it twice.
        retries: How often an unreadable verdict is asked for again, each time with the next seed.
    """
    check_grader_bound()
    parameters = {"dataset": dataset or PUBLIC, "subset": subset, "one_explanation_per": one_explanation_per}
    how = Asking(structured, temperature, seed, cache, retries)  # type: ignore[arg-type]
    coverage = element_coverage(None, how.structured, how.temperature, how.seed, None, cache, retries)
    scorers = [coverage, explanation_form()]
    built = build("humorbench", parameters | {"prompts": prompts, "on_unparsed": on_unparsed}, scorers)
    built.setup = require_grader()
    return built


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
        dataset: The public rubric files (fetched once, pinned), rubric CSV files, or `sample`.
        prompts: Folder whose template files replace packaged ones of the same name.
        structured: Ask for a JSON verdict by the provider's structured output.
        temperature: Of the judge; `none` leaves it to the provider.
        seed: Of the judge.
    """
    how = Asking(structured, temperature, seed)  # type: ignore[arg-type]
    parameters = {"dataset": dataset or PUBLIC, "prompts": prompts, "structured": structured, "seed": seed}
    built = build("humorbench_autograder", parameters | {"temperature": how.temperature}, [judge_agreement()])
    built.config = built.config.merge(how.config(GenerateConfig()))
    return built
