"""The YAML files of lm-eval's tasks and groups, from `Benchmark.lm_eval`."""

from __future__ import annotations

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.variants import Group, Variant

FOLDER = "humor_tasks/on_lm_eval/tasks"
SUITES = {
    "text": (
        Group("humor", "The suite `text`, letters by log-likelihood. A group that prints its members, without a mean."),
        Group("humor_gen", "The suite `text`, by generated replies. A group that prints its members, without a mean."),
    )
}
"""Suite -> its groups: of the main tasks, and of those that generate."""


def files() -> dict[str, str]:
    """Path in the repository -> text: one file per task and one per group."""
    made: dict[str, str] = {}
    members: dict[Group, list[str]] = {}
    for benchmark in BENCHMARKS.values():
        for variant in benchmark.lm_eval:
            made[f"{FOLDER}/{variant.name}.yaml"] = task(benchmark, variant)
            if variant.group:
                members.setdefault(variant.group, []).append(variant.name)
        for suite, groups in SUITES.items():
            if suite in benchmark.suites:
                for each, end in zip(groups, ("", "_gen"), strict=True):
                    members.setdefault(each, []).append(_of_suite(benchmark, end))
    return made | {f"{FOLDER}/{each.name}.yaml": group(each, names) for each, names in members.items()}


def _of_suite(benchmark: Benchmark, end: str) -> str:
    """A benchmark's main task, or with `_gen` the one that generates; the main one where it generates itself."""
    main = benchmark.lm_eval[0].name
    return main + end if any(variant.name == main + end for variant in benchmark.lm_eval) else main


def task(benchmark: Benchmark, variant: Variant) -> str:
    """The file of one task."""
    lines = [f"# {variant.about}"] if variant.about else []
    lines += [f"task: {variant.name}", "class: !function humor_tasks.on_lm_eval.task.BenchmarkTask"]
    lines += [f"benchmark: {benchmark.name}", *(f"{name}: {value}" for name, value in variant.fixed.items())]
    lines += [f"output_type: {variant.output_type}"]
    if variant.metadata:
        lines += ["metadata:", *(f"  {name}: {value}" for name, value in variant.metadata.items())]
    return "\n".join(lines) + "\n"


def group(each: Group, names: list[str]) -> str:
    """The file of one group."""
    return "\n".join([f"# {each.about}", f"group: {each.name}", "task:", *(f"  - {name}" for name in names)]) + "\n"
